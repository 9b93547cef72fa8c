"""Mermaid, DOT and SVG are well-formed whatever stands in a diagram, and say what stands in it."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings

from officellm.pictures.diagram import Arrow, Box, Diagram
from officellm.pictures.dot import dot
from officellm.pictures.mermaid import mermaid
from officellm.pictures.svg import svg
from officellm.pictures.words import short

from .anything import HOSTILE, diagrams

# ------------------------------------------------------------------------------------------------ Mermaid

_LABEL = r'"(?P<label>[^"<>{}\[\]|`\\&%;]*(?:(?:<br>|#\d+;)[^"<>{}\[\]|`\\&%;]*)*)"'
MERMAID_LINES = {
    "head": re.compile(r"flowchart TD"),
    "node": re.compile(rf"\s+(?P<id>n\d+)(?P<shape>\[|\{{\{{|\(\[|\[\[|\(\(){_LABEL}(?P<end>\]|\}}\}}|\]\)|\]\]|\)\))"),
    "frame": re.compile(rf"\s+subgraph (?P<id>n\d+)\[{_LABEL}\]"),
    "direction": re.compile(r"\s+direction TB"),
    "end": re.compile(r"\s+end"),
    "arrow": re.compile(rf"\s+(?P<source>n\d+) <?(?:-->|-\.->|==>)(?:\|{_LABEL}\|)? (?P<target>n\d+)"),
    "colours": re.compile(r"\s+classDef \w+ fill:#\w{6},stroke:#\w{6},color:#\w{6}"),
    "class": re.compile(r"\s+class n\d+(?:,n\d+)* \w+"),
}
CLOSING = {"[": "]", "{{": "}}", "([": "])", "[[": "]]", "((": "))"}


def parsed(text):
    """Each line with what it is. Fails for one that is nothing."""
    found = []
    for line in text.rstrip("\n").split("\n"):
        matches = [(name, match) for name, rule in MERMAID_LINES.items() if (match := rule.fullmatch(line))]
        assert len(matches) == 1, line
        found += matches
    return found


def shown(label):
    """What Mermaid shows for a label."""
    label = re.sub(r"#(\d+);", lambda found: chr(int(found[1])), label)
    return label.replace("\u200b", "")


@settings(deadline=None, max_examples=80)
@given(diagrams())
def test_mermaid_is_a_flowchart_line_by_line(diagram):
    lines = parsed(mermaid(diagram))
    assert lines[0][0] == "head"
    ids = [match["id"] for name, match in lines if name in ("node", "frame")]
    assert len(ids) == len(set(ids)) == len(diagram.boxes)
    names = [name for name, _ in lines]
    assert names.count("frame") == names.count("end")
    for name, match in lines:
        if name == "node":
            assert CLOSING[match["shape"]] == match["end"]
        if name == "arrow":
            assert {match["source"], match["target"]} <= set(ids)
    assert names.count("arrow") == len(diagram.arrows)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_mermaid_shows_any_text_as_it_is(text):
    diagram = Diagram(
        text, [Box(id=text, lines=[text, "x"]), Box(id="2", lines=["y"])], [Arrow(text, "2", "after", text)]
    )
    lines = parsed(mermaid(diagram))
    (label,) = [match["label"] for name, match in lines if name == "node" and match["id"] == "n0"]
    (on_arrow,) = [match["label"] for name, match in lines if name == "arrow"]
    wanted = short(text)
    assert shown(label) == (f"{wanted}<br>x" if wanted else "x")
    assert shown(on_arrow or "") == wanted


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("style x: (a)", r"style.*:\S*#.*;"),
        ("classDef x:(a)", r"classDef.*:\S*#.*;"),
        ("%%{init}%%", "%%"),
        ("`md`", "`"),
        ("fa:fa-car", "fa:fa-"),
        ("1. a", r"\d\. "),
        ("**a** _b_", r"[*]|_b_"),
        ("https://a.b www.a.b", "://|www\\."),
    ],
    ids=lambda value: value,
)
def test_mermaid_never_gets_what_it_would_read_as_its_own(text, never):
    picture = mermaid(Diagram("", [Box(id="1", lines=[text])]))
    assert not re.search(never, picture)


@pytest.mark.parametrize("text", ["back\\n", "$$x$$", "fa:fa-car", "ﬂ°lt¶ß", "ﬂ°°34¶ß"])
def test_what_mermaid_reads_also_from_entities_is_taken_apart(text):
    (label,) = [
        match["label"] for name, match in parsed(mermaid(Diagram("", [Box(id="1", lines=[text])]))) if name == "node"
    ]
    decoded = re.sub(r"#(\d+);", lambda found: chr(int(found[1])), label)
    assert not re.search(r"\\n|\$\$|:fa-|ﬂ°|¶ß", decoded)
    assert decoded.replace("\u200b", "") == text


def test_plain_texts_stay_readable_in_mermaid():
    text = "research-agent_2, 1,234 tokens, $0.0123 in 1.5 s: ready?"
    assert f'n0["{text}"]' in mermaid(Diagram("", [Box(id="1", lines=[text])]))


# ------------------------------------------------------------------------------------------------ DOT

TOKEN = re.compile(r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<word>[A-Za-z_]\w*)|(?P<sign>->|[{}\[\];=,]))')


def tokens(text):
    """The tokens of a DOT text. Fails where there is something that is none."""
    at, found = 0, []
    while text[at:].strip():
        match = TOKEN.match(text, at)
        assert match, text[at : at + 40]
        found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return found


@settings(deadline=None, max_examples=80)
@given(diagrams())
def test_dot_is_made_of_its_tokens_and_every_bracket_is_closed(diagram):
    found = tokens(dot(diagram))
    opened = []
    for kind, text in found:
        if kind == "sign" and text in "{[":
            opened.append(text)
        elif kind == "sign" and text in "}]":
            assert opened.pop() == {"}": "{", "]": "["}[text]
    assert opened == []
    assert [text for _, text in found].count("->") == len(diagram.arrows)
    assert all("\n" not in text for _, text in found)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_dot_keeps_any_text(text):
    found = tokens(dot(Diagram(text, [Box(id="1", lines=[text])])))
    at = next(number for number, (_, word) in enumerate(found) if word == "n0")
    label = found[at + 4][1][1:-1]
    assert label.replace('\\"', '"').replace("\\\\", "\\").replace("&amp;", "&") == short(text)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@settings(deadline=None, max_examples=20)
@given(diagrams())
def test_graphviz_reads_it(diagram):
    done = subprocess.run(["dot", "-Tcanon"], input=dot(diagram), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ------------------------------------------------------------------------------------------------ SVG

SVG = "{http://www.w3.org/2000/svg}"


def boxes_of(root):
    """Each `rect` of a box as x, y, right, lower edge, in the coordinates of the picture."""
    (group,) = [one for one in root.findall(f"{SVG}g") if "transform" in one.attrib]
    dx, dy = map(float, re.findall(r"[-\d.]+", group.get("transform")))
    for one in group.iter(f"{SVG}rect"):
        x, y, width, height = (float(one.get(key)) for key in ("x", "y", "width", "height"))
        yield one.get("class").split(), (x + dx, y + dy, x + dx + width, y + dy + height)


@settings(deadline=None, max_examples=80)
@given(diagrams())
def test_svg_is_xml_with_every_box_inside_and_none_over_another(diagram):
    root = ET.fromstring(svg(diagram))
    assert root.tag == f"{SVG}svg"
    _, _, width, height = map(float, root.get("viewBox").split())
    found = list(boxes_of(root))
    assert len(found) == len(diagram.boxes)
    for _, (left, top, right, bottom) in found:
        assert left >= 0
        assert top >= 0
        assert right <= width + 0.5
        assert bottom <= height + 0.5
    leaves = [place for style, place in found if "frame" not in style]
    for number, one in enumerate(leaves):
        for other in leaves[number + 1 :]:
            across = min(one[2], other[2]) - max(one[0], other[0])
            down = min(one[3], other[3]) - max(one[1], other[1])
            assert across < 0.2 or down < 0.2


@settings(deadline=None, max_examples=60)
@given(diagrams())
def test_svg_holds_no_script_and_nothing_from_outside(diagram):
    root = ET.fromstring(svg(diagram))
    known = {"svg", "title", "style", "rect", "g", "path", "text"}
    for one in root.iter():
        assert one.tag.removeprefix(SVG) in known
        assert not [name for name in one.attrib if name.startswith("on") or "href" in name]
    assert "url(" not in root.find(f"{SVG}style").text
    assert "@import" not in root.find(f"{SVG}style").text


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_svg_has_the_whole_text_of_a_box_as_its_title(text):
    root = ET.fromstring(svg(Diagram("a picture", [Box(id="1", lines=[text])])))
    titles = [" ".join(one.text.split()) for one in root.iter(f"{SVG}title") if one.text]
    assert titles[0] == "a picture"
    wanted = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    assert titles[1:] == [wanted]


def test_svg_is_for_light_and_dark_pages_and_marks_states():
    picture = svg(Diagram("", [Box(id="1", lines=["a"], state="failed")]))
    style = ET.fromstring(picture).find(f"{SVG}style").text
    assert "prefers-color-scheme:dark" in style
    assert style.count(".failed{") == 2
    assert 'class="box agent failed"' in picture


def test_svg_explains_arrows_that_say_nothing_themselves():
    boxes = [Box(id=name, lines=[name]) for name in "abc"]
    labelled = svg(Diagram("", boxes, [Arrow("a", "b", "transfer", "why"), Arrow("a", "c")]))
    assert "may hand over to" not in labelled
    assert "may hand over to" in svg(Diagram("", boxes, [Arrow("a", "b", "transfer")]))


def test_every_state_and_kind_is_drawn_its_own_way():
    kinds = ("agent", "manager", "function", "workflow", "entry")
    boxes = [Box(id=kind, lines=["x"], kind=kind) for kind in kinds]
    shapes = re.findall(r"n\d([\[({]+)", mermaid(Diagram("", boxes)))
    assert len(set(shapes)) == len(kinds)
    assert len(set(re.findall(r"shape=(\w+)", dot(Diagram("", boxes))))) == len(kinds)
