"""Diagrams of any shape, with texts that are out to break a format."""

from hypothesis import strategies as st

from officellm.pictures.diagram import Arrow, Box, Diagram

BOX_KINDS = ("agent", "manager", "function", "workflow", "entry")
ARROW_KINDS = ("after", "condition", "call", "transfer", "back", "route")
STATES = ("", "completed", "failed", "skipped", "cancelled", "running", "unheard of")
HOSTILE = (
    "end",
    'a "quoted" name',
    "]] --> n0",
    "<script>alert(1)</script>",
    "</svg>",
    "&amp; &#34; #quot; #35;",
    "%%{init: {'theme': 'dark'}}%%",
    "`code` **bold** _soft_",
    "1. first",
    "- item",
    "style a:(b)",
    "classDef x fill:#fff;",
    "https://example.com www.example.com a@b.co",
    "fa:fa-car $$x^2$$",
    "ﬂ°34¶ß ﬂ°°34¶ß",
    "back\\slash \\n \\N",
    "two\nlines\r\nand\ttab",
    "\x00\x1b[31m\u202e\ud800",
    "日本語 Ünï 🙂",
    "x" * 500,
    "|",
    " ",
)
texts = st.sampled_from(HOSTILE) | st.text(max_size=30)


@st.composite
def diagrams(draw, kinds=ARROW_KINDS, nested=True):
    """Up to 25 boxes, some in frames, with arrows between those of one frame: circles too, unless all are `after`."""
    count = draw(st.integers(0, 25))
    inside = [
        str(draw(st.sampled_from(range(number)))) if nested and number and draw(st.integers(0, 3)) == 0 else ""
        for number in range(count)
    ]
    boxes = [
        Box(
            id=str(number),
            lines=[draw(texts), *draw(st.lists(texts, max_size=2))],
            kind=draw(st.sampled_from(BOX_KINDS)),
            notes=draw(st.lists(texts, max_size=2)),
            state=draw(st.sampled_from(STATES)),
            inside=inside[number],
        )
        for number in range(count)
    ]
    arrows = []
    for _ in range(draw(st.integers(0, 2 * count))):
        source, target = draw(st.sampled_from(range(count))), draw(st.sampled_from(range(count)))
        kind = draw(st.sampled_from(kinds))
        if kinds == ("after",):
            source, target = sorted((source, target))
        if inside[source] == inside[target] and not (source == target and kinds == ("after",)):
            arrows.append(Arrow(str(source), str(target), kind, draw(st.just("") | texts), draw(st.booleans())))
    return Diagram(draw(texts), boxes, arrows)
