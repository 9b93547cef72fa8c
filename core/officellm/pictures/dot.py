"""A diagram in Graphviz's DOT."""

from __future__ import annotations

from collections.abc import Mapping

from officellm.pictures.diagram import Box, Diagram

_SHAPES: Mapping[str, str] = {"agent": "box", "manager": "hexagon", "function": "ellipse", "workflow": "component"}
_STYLES: Mapping[str, str] = {
    "after": "solid",
    "call": "solid",
    "transfer": "dashed",
    "back": "dotted",
    "route": "bold",
}
_COLOURS: Mapping[str, str] = {
    "completed": "#d8f3dc",
    "failed": "#ffd6d6",
    "skipped": "#eeeeee",
    "cancelled": "#fff3cd",
    "running": "#d6e6ff",
}


def dot(diagram: Diagram) -> str:
    """The graph; `dot -Tsvg` and its like draw it."""
    ids = {box.id: f"n{number}" for number, box in enumerate(diagram.boxes)}
    lines = ["digraph officellm {", f"  label={_quoted(diagram.title)};", '  node [fontname="Helvetica"];']
    lines += [f"  {_box(box, ids[box.id])}" for box in diagram.boxes if not box.group]
    for number, group in enumerate(diagram.groups()):
        lines.append(f"  subgraph cluster_{number} {{ label={_quoted(group)};")
        lines += [f"    {_box(box, ids[box.id])}" for box in diagram.boxes if box.group == group]
        lines.append("  }")
    for arrow in diagram.arrows:
        about = f"style={_STYLES[arrow.kind]}"
        if arrow.label:
            about += f", label={_quoted(arrow.label)}"
        if arrow.kind == "back":
            about += ", constraint=false"
        lines.append(f"  {ids[arrow.source]} -> {ids[arrow.target]} [{about}];")
    return "\n".join([*lines, "}"]) + "\n"


def _box(box: Box, id: str) -> str:
    label = "\\n".join(_inner(line) for line in box.lines)
    colour = f', style=filled, fillcolor="{_COLOURS[box.state]}"' if box.state in _COLOURS else ""
    return f'{id} [label="{label}", shape={_SHAPES[box.kind]}{colour}];'


def _quoted(text: str) -> str:
    return f'"{_inner(text)}"'


def _inner(text: str) -> str:
    flat = "".join(char for char in " ".join(text.split()) if char.isprintable())
    return flat.replace("\\", "\\\\").replace('"', '\\"')
