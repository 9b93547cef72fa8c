"""A diagram as Mermaid: a flowchart that pages and editors draw. Any text is safe in it."""

from __future__ import annotations

from collections.abc import Mapping

from officellm.pictures.diagram import Box, Diagram

_SHAPES: Mapping[str, tuple[str, str]] = {
    "agent": ("[", "]"),
    "manager": ("{{", "}}"),
    "function": ("([", "])"),
    "workflow": ("[[", "]]"),
}
_ARROWS: Mapping[str, str] = {"after": "-->", "call": "-->", "transfer": "-.->", "back": "-.->", "route": "==>"}
_COLOURS: Mapping[str, str] = {
    "completed": "fill:#d8f3dc,stroke:#2d6a4f,color:#081c15",
    "failed": "fill:#ffd6d6,stroke:#9b2226,color:#370617",
    "skipped": "fill:#eeeeee,stroke:#888888,color:#444444",
    "cancelled": "fill:#fff3cd,stroke:#b58900,color:#4d3b00",
    "running": "fill:#d6e6ff,stroke:#1d4e89,color:#0b2545",
}
LONGEST = 80
_ENTITIES = {ord(char): f"#{ord(char)};" for char in "\"'<>&#;[]{}()|`\\"}


def mermaid(diagram: Diagram) -> str:
    """The flowchart. Ids are our own; texts are cut at 80 characters."""
    ids = {box.id: f"n{number}" for number, box in enumerate(diagram.boxes)}
    lines = ["flowchart TD"]
    lines += [f"    {_box(box, ids[box.id])}" for box in diagram.boxes if not box.group]
    for number, group in enumerate(diagram.groups()):
        lines.append(f'    subgraph g{number}["{_text(group)}"]')
        lines += [f"        {_box(box, ids[box.id])}" for box in diagram.boxes if box.group == group]
        lines.append("    end")
    for arrow in diagram.arrows:
        label = f'|"{_text(arrow.label)}"|' if arrow.label else ""
        lines.append(f"    {ids[arrow.source]} {_ARROWS[arrow.kind]}{label} {ids[arrow.target]}")
    for state, colours in _COLOURS.items():
        those = [ids[box.id] for box in diagram.boxes if box.state == state]
        if those:
            lines.append(f"    classDef {state} {colours}")
            lines.append(f"    class {','.join(those)} {state}")
    return "\n".join(lines) + "\n"


def _box(box: Box, id: str) -> str:
    left, right = _SHAPES[box.kind]
    return f'{id}{left}"{"<br>".join(_text(line) for line in box.lines)}"{right}'


def _text(text: str) -> str:
    """One line, with whatever Mermaid or HTML would read as its own written as an entity."""
    flat = " ".join(text.split())
    flat = flat if len(flat) <= LONGEST else f"{flat[: LONGEST - 1]}…"
    return "".join(char for char in flat if char.isprintable()).translate(_ENTITIES)
