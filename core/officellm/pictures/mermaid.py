"""A diagram as Mermaid: a flowchart that pages and editors draw. Any text is safe in it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from officellm.pictures.diagram import Box, Diagram
from officellm.pictures.words import short

#: More arrows than this Mermaid refuses to draw, and no picture can allow more.
MOST_ARROWS = 500
_SHAPES: Mapping[str, tuple[str, str]] = {
    "agent": ("[", "]"),
    "manager": ("{{", "}}"),
    "function": ("([", "])"),
    "workflow": ("[[", "]]"),
    "entry": ("((", "))"),
}
_ARROWS: Mapping[str, str] = {
    "after": "-->",
    "condition": "-->",
    "call": "-->",
    "transfer": "-.->",
    "back": "-.->",
    "route": "==>",
}
_COLOURS: Mapping[str, str] = {
    "completed": "fill:#d8f3dc,stroke:#2d6a4f,color:#081c15",
    "failed": "fill:#ffd6d6,stroke:#9b2226,color:#370617",
    "skipped": "fill:#eeeeee,stroke:#888888,color:#444444",
    "cancelled": "fill:#fff3cd,stroke:#b58900,color:#4d3b00",
    "running": "fill:#d6e6ff,stroke:#1d4e89,color:#0b2545",
}
# Left as they are: letters, digits, blanks, and signs where they can be read in one way only. Mermaid, the Markdown and
# the HTML in its labels, its icons (`fa:fa-x`) and links would take the rest for their own.
_PLAIN = re.compile(
    r"[^\W_]|[ ,?!]|[^\x00-\x7f\u200b]"
    r"|(?<=\d)\.(?=\d)|(?<=[^\W\d_])\.(?= |$)|:(?= )|(?<=[^\W_])[-_](?=[^\W_])|(?<!\$)\$(?=\d)"
)
# Read as a line break, a formula, an icon and an entity also where they are written as entities: a sign without width
# stands between.
_APART = re.compile(r"\\(?=n)|\$(?=\$)|:(?=fa-)|ﬂ(?=°)|¶(?=ß)")


def mermaid(diagram: Diagram) -> str:
    """The flowchart. Ids are our own; long texts are cut."""
    ids = {box.id: f"n{number}" for number, box in enumerate(diagram.boxes)}
    lines = ["flowchart TD"]
    depth = 1
    for place, box in diagram.walk():
        if place == "close":
            depth -= 1
            lines.append(f"{_indent(depth)}end")
            continue
        indent = _indent(depth)
        if place == "leaf":
            left, right = _SHAPES[box.kind]
            lines.append(f'{indent}{ids[box.id]}{left}"{_label(box)}"{right}')
        else:
            # Mermaid keeps room for one line of a frame's title.
            title = _text(", ".join((*box.lines, *box.notes))) or "?"
            lines += [f'{indent}subgraph {ids[box.id]}["{title}"]', f"{indent}    direction TB"]
            depth += 1
    for arrow in diagram.arrows:
        text = _text(arrow.label)
        label = f'|"{text}"|' if text else ""
        line = f"{'<' if arrow.both else ''}{_ARROWS[arrow.kind]}"
        lines.append(f"    {ids[arrow.source]} {line}{label} {ids[arrow.target]}")
    for state, colours in _COLOURS.items():
        those = [ids[box.id] for box in diagram.boxes if box.state == state]
        if those:
            lines.append(f"    classDef {state} {colours}")
            lines.append(f"    class {','.join(those)} {state}")
    return "\n".join(lines) + "\n"


def _indent(depth: int) -> str:
    return "    " * min(depth, 20)


def _label(box: Box) -> str:
    return "<br>".join(filter(None, map(_text, (*box.lines, *box.notes)))) or "?"


def _text(text: str) -> str:
    """One line, with whatever Mermaid, Markdown or HTML would read as its own written as an entity."""
    flat = _APART.sub("\\g<0>\u200b", short(text))
    plain = {found.start() for found in _PLAIN.finditer(flat)}
    return "".join(char if at in plain else f"#{ord(char)};" for at, char in enumerate(flat))
