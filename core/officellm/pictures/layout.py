"""Gives every box of a diagram a place of its own, and every arrow its way. Frames are laid out from the inside out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from officellm.pictures.columns import place
from officellm.pictures.diagram import Arrow, Diagram
from officellm.pictures.layers import Layers, Link, layered
from officellm.pictures.measure import PAD_X, PAD_Y, Words, label_of, words_of
from officellm.pictures.ways import Placed, Way, trace, widths_of_labels

MARGIN, GAP_Y, FRAME = 16.0, 44.0, 14.0
#: Room beside a box for an arrow back, without its label.
LANE = 24.0


@dataclass(slots=True)
class Layout:
    """Everything in its place; frames come before what stands in them."""

    boxes: list[Placed] = field(default_factory=list)
    ways: list[Way] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0


def layout(diagram: Diagram) -> Layout:
    """Quick for thousands of boxes: linear in boxes and arrows, but for the sorting of each layer."""
    contents = diagram.contents()
    arrows: dict[str, list[Arrow]] = {frame: [] for frame in contents}
    inside = {box.id: box.inside for box in diagram.boxes}
    for arrow in diagram.arrows:
        arrows[inside[arrow.source]].append(arrow)
    placed: dict[str, Placed] = {}
    ways: dict[str, list[Way]] = {}
    order = list(diagram.walk())
    for step, box in order:
        if step == "open":
            continue
        words = words_of(box)
        one = Placed(box, words, max(words.width + 2 * PAD_X, 64.0), words.height + 2 * PAD_Y)
        if step == "close":
            one.is_frame = True
            inner = [placed[other.id] for other in contents[box.id]]
            width, height, ways[box.id] = _arranged(inner, arrows[box.id])
            one.width, one.height = max(one.width, width + 2 * FRAME), one.height + height + FRAME
            _shift(inner, ways[box.id], (one.width - width) / 2, words.height + 2 * PAD_Y)
        placed[box.id] = one
    outer = [placed[box.id] for box in contents[""]]
    width, height, ways[""] = _arranged(outer, arrows[""])
    _shift(outer, ways[""], MARGIN, MARGIN)
    made = Layout(ways=ways[""], width=width + 2 * MARGIN, height=height + 2 * MARGIN)
    for step, box in order:
        if step == "close":
            continue
        made.boxes.append(placed[box.id])
        if step == "open":
            frame = placed[box.id]
            _shift([placed[other.id] for other in contents[box.id]], ways[box.id], frame.x, frame.y)
            made.ways += ways[box.id]
    return made


def _shift(boxes: Sequence[Placed], ways: Sequence[Way], x: float, y: float) -> None:
    for one in boxes:
        one.x, one.y = one.x + x, one.y + y
    for way in ways:
        way.points = [(at_x + x, at_y + y) for at_x, at_y in way.points]
        way.label_at = (way.label_at[0] + x, way.label_at[1] + y)


def _arranged(boxes: Sequence[Placed], arrows: Sequence[Arrow]) -> tuple[float, float, list[Way]]:
    """Place the boxes of one frame from (0, 0) on; the room that they take, and the ways of the arrows."""
    numbers = {one.box.id: number for number, one in enumerate(boxes)}
    ways = [Way(arrow, label_of(arrow.label)) for arrow in arrows]
    links = [
        Link(numbers[way.arrow.source], numbers[way.arrow.target], way.arrow.kind == "back", _lane(way.label))
        for way in ways
    ]
    # The labels of arrows stand side by side above the box where they end.
    for number, needed in widths_of_labels(links, ways).items():
        boxes[number].width = max(boxes[number].width, needed)
    layers = layered([one.width for one in boxes], links)
    width = place(layers.layers)
    rows = _rows(boxes, layers, links, ways)
    for one, slot in zip(boxes, layers.boxes, strict=True):
        one.x = slot.x - one.width / 2
    trace(boxes, layers, links, ways, rows)
    return width, rows[-1][1] if rows else 0.0, ways


def _lane(label: Words) -> float:
    return LANE + label.width if label.lines else LANE


def _rows(
    boxes: Sequence[Placed], layers: Layers, links: Sequence[Link], ways: Sequence[Way]
) -> list[tuple[float, float]]:
    """Set the y of each box, in the middle of its layer; the upper and lower edge of each layer."""
    tallest = [0.0] * len(layers.layers)
    labels = [0.0] * len(layers.layers)
    for one, slot in zip(boxes, layers.boxes, strict=True):
        tallest[slot.rank] = max(tallest[slot.rank], one.height)
    for link, way, down in zip(links, ways, layers.downward, strict=True):
        source, target = layers.boxes[link.source].rank, layers.boxes[link.target].rank
        if down:
            labels[target] = max(labels[target], way.label.height)
        elif source <= target:
            tallest[source] = max(tallest[source], way.label.height)
    rows: list[tuple[float, float]] = []
    for high, label in zip(tallest, labels, strict=True):
        top = rows[-1][1] + GAP_Y + label if rows else 0.0
        rows.append((top, top + high))
    for one, slot in zip(boxes, layers.boxes, strict=True):
        top, bottom = rows[slot.rank]
        one.y = (top + bottom - one.height) / 2
    return rows
