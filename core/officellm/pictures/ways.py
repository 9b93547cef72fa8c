"""The ways of arrows between placed boxes: where each begins and ends, what it passes, where its label stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from officellm.pictures.diagram import Arrow, Box
from officellm.pictures.layers import Layers, Link
from officellm.pictures.measure import Words

Point = tuple[float, float]

#: Between two arrows, or two labels, that end at one box; between a label and the tip below it.
PORT, LABEL_GAP, TIP = 16.0, 10.0, 11.0


@dataclass(slots=True)
class Placed:
    """A box with its text, its upper left corner and its size, in pixels; `is_frame`: others stand in it."""

    box: Box
    words: Words
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0
    is_frame: bool = False


@dataclass(slots=True)
class Way:
    """An arrow, its label, and the points from its begin to its tip.

    One that leads down is straight through each pair of points, which have one x, and bends between the pairs. One that
    leads `back` goes out at the right of a box and in at the right of another. `label_at` is the middle of the lower
    edge of the label; its left edge where the way leads back.
    """

    arrow: Arrow
    label: Words
    points: list[Point] = field(default_factory=list)
    label_at: Point = (0.0, 0.0)
    back: bool = False


def widths_of_labels(links: Sequence[Link], ways: Sequence[Way]) -> dict[int, float]:
    """For each box where arrows with labels end: how wide it must be, for the labels to stand side by side."""
    needed: dict[int, float] = {}
    labelled = {link.target for link, way in zip(links, ways, strict=True) if way.label.lines and not link.is_back}
    for link, way in zip(links, ways, strict=True):
        if link.target in labelled and not link.is_back:
            needed[link.target] = needed.get(link.target, 0.0) + _room(way)
    return needed


def trace(
    boxes: Sequence[Placed],
    layers: Layers,
    links: Sequence[Link],
    ways: Sequence[Way],
    rows: Sequence[tuple[float, float]],
) -> None:
    """Set the points and the label of each way; `rows` are the upper and lower edges of the layers."""
    begins = _ports(boxes, layers, links, ways, ends=False)
    ends = _ports(boxes, layers, links, ways, ends=True)
    for number, (link, way) in enumerate(zip(links, ways, strict=True)):
        source, target = boxes[link.source], boxes[link.target]
        if not layers.downward[number]:
            _trace_back(
                way, source, target, [(slot.x - slot.width / 2, slot.rank) for slot in layers.ways[number]], rows
            )
            continue
        begin, end = begins[number], ends[number]
        way.points = [(begin, source.y + source.height), (begin, rows[layers.boxes[link.source].rank][1])]
        for slot in layers.ways[number]:
            top, bottom = rows[slot.rank]
            way.points += [(slot.x, top), (slot.x, bottom)]
        way.points += [(end, rows[layers.boxes[link.target].rank][0]), (end, target.y)]
        way.label_at = (end, target.y - TIP)


def _trace_back(
    way: Way,
    source: Placed,
    target: Placed,
    lane: Sequence[tuple[float, int]],
    rows: Sequence[tuple[float, float]],
) -> None:
    """Out at the right of the source, up beside everything, and in at the right of the target."""
    way.back = True
    # What leaves a box upwards does so above what comes in from below: the two never cross.
    begin, end = (0.65, 0.35) if source is target else (0.35, 0.65)
    y, to_y = source.y + source.height * begin, target.y + target.height * end
    if not lane:
        lane = [(max(source.x + source.width, target.x + target.width), 0)]
    at = [(x + 12.0, rank) for x, rank in lane]
    way.points = [(source.x + source.width, y), (at[0][0], y)]
    for x, rank in at[1:-1]:
        top, bottom = rows[rank]
        way.points += [(x, bottom), (x, top)]
    way.points += [(at[-1][0], to_y), (target.x + target.width, to_y)]
    # Above the box where it begins, where nothing stands; beside it, where it leads up no layer.
    middle = source.y - 22.0 if target.y + target.height < source.y else source.y + source.height / 2
    way.label_at = (at[0][0] + 7.0, middle + way.label.height / 2)


def _room(way: Way) -> float:
    return max(way.label.width + LABEL_GAP, PORT)


def _ports(
    boxes: Sequence[Placed], layers: Layers, links: Sequence[Link], ways: Sequence[Way], *, ends: bool
) -> Mapping[int, float]:
    """The x where each arrow that leads down meets its box, in the order in which they come from the left."""
    at: dict[int, list[int]] = {}
    for number, link in enumerate(links):
        if layers.downward[number]:
            at.setdefault(link.target if ends else link.source, []).append(number)
    found: dict[int, float] = {}
    for box, numbers in at.items():

        def other(number: int) -> float:
            points, link = layers.ways[number], links[number]
            if points:
                return points[-1 if ends else 0].x
            return layers.boxes[link.source if ends else link.target].x

        numbers.sort(key=other)
        rooms = [_room(ways[number]) if ends else PORT for number in numbers]
        width = boxes[box].width
        scale = min(1.0, (width - 8.0) / sum(rooms)) if not any(ways[number].label.lines for number in numbers) else 1.0
        x = boxes[box].x + (width - sum(rooms) * scale) / 2
        for number, room in zip(numbers, rooms, strict=True):
            found[number] = x + room * scale / 2
            x += room * scale
    return found
