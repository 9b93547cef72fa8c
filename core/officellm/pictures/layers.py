"""Puts the boxes of one frame into layers, arrows leading down: ranks by the longest way, then few crossings."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

#: Times that each layer is sorted by where its neighbours are; more change little.
_SWEEPS = 8
#: Points that long arrows pass are made for so many times the boxes and arrows; longer arrows then go straight.
_POINTS = 4
#: Pixels that boxes without arrows take before the next row of them begins.
_ROW = 1100.0


@dataclass(slots=True)
class Slot:
    """What takes a place in a layer: a box, or a point that a long arrow passes. `x` is its middle."""

    rank: int
    width: float
    is_box: bool = False
    #: The box beside which an arrow back begins or ends.
    beside: Slot | None = None
    index: int = 0
    x: float = 0.0
    above: list[Slot] = field(default_factory=list)
    below: list[Slot] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Link:
    """An arrow by the numbers of its boxes; `lane` is the room that it needs where it leads up or back."""

    source: int
    target: int
    is_back: bool = False
    lane: float = 0.0


@dataclass(slots=True)
class Layers:
    """Layers of slots in order; `boxes` by number; for each arrow the points that it passes, from its source on."""

    layers: list[list[Slot]]
    boxes: list[Slot]
    ways: list[list[Slot]]
    #: For each arrow, whether it leads down.
    downward: list[bool]


def layered(widths: Sequence[float], links: Sequence[Link]) -> Layers:
    """Linear in boxes and arrows, but for the sorting of each layer."""
    ranks = _ranks(len(widths), links)
    _fold_alone(ranks, widths, links)
    boxes = [Slot(rank, width, is_box=True) for rank, width in zip(ranks, widths, strict=True)]
    layers: list[list[Slot]] = [[] for _ in range(max(ranks, default=0) + 1)]
    for box in boxes:
        layers[box.rank].append(box)
    made = Layers(layers, boxes, [[] for _ in links], [_leads_down(one, ranks) for one in links])
    _add_points(made, links)
    _order(layers)
    return made


def _leads_down(link: Link, ranks: Sequence[int]) -> bool:
    return not link.is_back and ranks[link.source] < ranks[link.target]


def _ranks(count: int, links: Sequence[Link]) -> list[int]:
    """The longest way to each box; a circle is cut where its first box is met."""
    children: list[list[int]] = [[] for _ in range(count)]
    waits = [0] * count
    for link in links:
        if not link.is_back and link.source != link.target:
            children[link.source].append(link.target)
            waits[link.target] += 1
    ranks, done = [0] * count, [False] * count
    ready = deque(number for number in range(count) if not waits[number])
    first = 0
    for _ in range(count):
        if not ready:
            while done[first]:
                first += 1
            ready.append(first)
        number = ready.popleft()
        done[number] = True
        for child in children[number]:
            if not done[child]:
                ranks[child] = max(ranks[child], ranks[number] + 1)
                waits[child] -= 1
                if not waits[child]:
                    ready.append(child)
    return ranks


def _fold_alone(ranks: list[int], widths: Sequence[float], links: Sequence[Link]) -> None:
    """Boxes without arrows stand in rows below the others."""
    joined = {number for link in links for number in (link.source, link.target)}
    rank = max((ranks[number] for number in joined), default=-1) + 1
    used = 0.0
    for number, width in enumerate(widths):
        if number not in joined:
            if used and used + width > _ROW:
                rank, used = rank + 1, 0.0
            ranks[number] = rank
            used += width


def _add_points(made: Layers, links: Sequence[Link]) -> None:
    """The points of long arrows, the shortest first, as far as they are worth it; and what is next to what."""
    left = _POINTS * (len(made.boxes) + len(links)) + 400
    spans = [abs(made.boxes[one.source].rank - made.boxes[one.target].rank) for one in links]
    for number in sorted(range(len(links)), key=lambda number: spans[number]):
        link = links[number]
        source, target = made.boxes[link.source], made.boxes[link.target]
        if made.downward[number]:
            ranks = range(source.rank + 1, target.rank)
        elif source.rank < target.rank:
            ranks = range(source.rank, target.rank + 1)
        else:
            ranks = range(source.rank, target.rank - 1, -1)
        if len(ranks) > left:
            continue
        left -= len(ranks)
        points = [Slot(rank, 0.0 if made.downward[number] else link.lane) for rank in ranks]
        for point in points:
            made.layers[point.rank].append(point)
        made.ways[number] = points
        if not made.downward[number]:
            points[0].beside, points[-1].beside = source, target
        way = [source, *points, target] if made.downward[number] else sorted(points, key=lambda point: point.rank)
        for upper, lower in pairwise(way):
            upper.below.append(lower)
            lower.above.append(upper)


def _order(layers: Sequence[list[Slot]]) -> None:
    """Sort each layer by where its neighbours are, down and up again."""
    for layer in layers:
        _number(layer)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for layer in layers[1:] if down else reversed(layers[:-1]):
            # `x` is a place between 0 and 1 here, so that layers of different lengths can be compared.
            wanted = {id(slot): _wanted(slot, down) for slot in layer}
            layer.sort(key=lambda slot: (wanted[id(slot.beside or slot)], (slot.beside or slot).index, not slot.is_box))
            _number(layer)


def _wanted(slot: Slot, down: bool) -> float:
    near = slot.above if down else slot.below
    return sum(other.x for other in near) / len(near) if near else slot.x


def _number(layer: Sequence[Slot]) -> None:
    for index, slot in enumerate(layer):
        slot.index = index
        slot.x = (index + 0.5) / len(layer)
