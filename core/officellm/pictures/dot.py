"""A diagram in Graphviz's DOT."""

from __future__ import annotations

from collections.abc import Mapping

from officellm.pictures.diagram import Arrow, Box, Diagram
from officellm.pictures.words import short

_SHAPES: Mapping[str, str] = {
    "agent": "shape=box",
    "manager": "shape=hexagon",
    "function": "shape=ellipse",
    "workflow": "shape=component",
    "entry": "shape=circle",
}
_STYLES: Mapping[str, str] = {
    "after": "style=solid",
    "condition": "style=solid",
    "call": "style=solid",
    "transfer": "style=dashed",
    "back": "style=dotted, constraint=false",
    "route": "style=bold",
}
_COLOURS: Mapping[str, str] = {
    "completed": "#d8f3dc",
    "failed": "#ffd6d6",
    "skipped": "#eeeeee",
    "cancelled": "#fff3cd",
    "running": "#d6e6ff",
}


def dot(diagram: Diagram) -> str:
    """The graph; `dot -Tsvg` and its like draw it. Ids are our own; long texts are cut."""
    ids = {box.id: f"n{number}" for number, box in enumerate(diagram.boxes)}
    lines = [
        "digraph officellm {",
        f"  graph [label={_quoted(diagram.title)}, labelloc=t, compound=true];",
        '  node [fontname="Helvetica"];',
    ]
    depth = 1
    for place, box in diagram.walk():
        if place == "close":
            depth -= 1
            lines.append(f"{_indent(depth)}}}")
            continue
        indent = _indent(depth)
        about = _about(box)
        if place == "leaf":
            lines.append(f"{indent}{ids[box.id]} [{', '.join([*about, _SHAPES[box.kind]])}];")
        else:
            lines.append(f"{indent}subgraph cluster_{ids[box.id]} {{ graph [{', '.join(about)}];")
            depth += 1
    ends = _Ends(diagram)
    lines += [f"  {ends.written(arrow, ids)}" for arrow in diagram.arrows]
    return "\n".join([*lines, "}"]) + "\n"


class _Ends:
    """Graphviz joins leaves only: an arrow to a frame is one to a leaf in it, cut off at the frame."""

    def __init__(self, diagram: Diagram) -> None:
        self._first: dict[str, str] = {}
        self._last: dict[str, str] = {}
        opened: list[str] = []
        latest = ""
        for place, box in diagram.walk():
            if place == "open":
                opened.append(box.id)
            elif place == "close":
                self._last[box.id] = latest
            else:
                latest = box.id
                self._first.update(dict.fromkeys(opened, latest))
                opened.clear()

    def written(self, arrow: Arrow, ids: Mapping[str, str]) -> str:
        source = self._last.get(arrow.source, arrow.source)
        target = self._first.get(arrow.target, arrow.target)
        about = [_STYLES[arrow.kind]]
        if arrow.label:
            about.append(f"label={_quoted(arrow.label)}")
        if arrow.both:
            about.append("dir=both")
        if source != arrow.source and arrow.source != arrow.target:
            about.append(f"ltail=cluster_{ids[arrow.source]}")
        if target != arrow.target and arrow.source != arrow.target:
            about.append(f"lhead=cluster_{ids[arrow.target]}")
        return f"{ids[source]} -> {ids[target]} [{', '.join(about)}];"


def _indent(depth: int) -> str:
    return "  " * min(depth, 20)


def _about(box: Box) -> list[str]:
    label = "\\n".join(_inner(line) for line in (*box.lines, *box.notes))
    colour = _COLOURS.get(box.state)
    return [f'label="{label}"', *(["style=filled", f'fillcolor="{colour}"'] if colour else [])]


def _quoted(text: str) -> str:
    return f'"{_inner(text)}"'


def _inner(text: str) -> str:
    """In quotes. Graphviz also reads backslashes, and entities as HTML has them."""
    return short(text).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
