"""Places the boxes of a diagram in layers, so that arrows lead down: ranks, few crossings, no overlaps."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from officellm.pictures.diagram import Arrow, Box, Diagram

LINE, CHAR, PAD = 17.0, 7.3, 12.0
GAP_X, GAP_Y = 28.0, 56.0
#: Characters of a line before it is wrapped, and lines of a box.
WRAP, MOST_LINES = 28, 6
#: Sweeps that bring neighbours together; more change little.
_SWEEPS = 4


@dataclass(slots=True)
class Placed:
    """A box with its wrapped lines, its upper left corner and its size, in pixels."""

    box: Box
    lines: Sequence[str]
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0

    @property
    def middle(self) -> float:
        """Where arrows begin and end."""
        return self.x + self.width / 2


@dataclass(slots=True)
class Layout:
    """Placed boxes, and for each arrow the points that it passes on its way down."""

    boxes: dict[str, Placed]
    ways: list[tuple[Arrow, list[tuple[float, float]]]] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0


def layout(diagram: Diagram) -> Layout:
    """Every box in a place of its own. Linear in boxes and arrows, but for the sorting of each layer."""
    placed = {box.id: _sized(box) for box in diagram.boxes}
    forward = [arrow for arrow in diagram.arrows if arrow.kind != "back" and arrow.source != arrow.target]
    ranks = _ranks(placed, forward)
    layers, chains = _layers(placed, forward, ranks)
    _order(layers)
    _place(layers, placed)
    made = Layout(placed)
    made.width = max((one.x + one.width for one in placed.values()), default=0.0) + PAD
    made.height = max((one.y + one.height for one in placed.values()), default=0.0) + PAD
    passing = {id: spot for layer in layers for id, spot in layer.spots.items()}
    for arrow in diagram.arrows:
        between = [passing[id] for id in chains.get((arrow.source, arrow.target), ())[1:-1]]
        made.ways.append((arrow, between))
    return made


def _sized(box: Box) -> Placed:
    lines = [part for line in box.lines for part in wrapped(line)][:MOST_LINES]
    width = max((len(line) for line in lines), default=1) * CHAR + 2 * PAD
    return Placed(box, lines, max(width, 60.0), len(lines) * LINE + PAD)


def wrapped(text: str) -> list[str]:
    """A text in lines that fit a box."""
    lines = [""]
    for word in "".join(char if char.isprintable() else " " for char in text).split():
        while len(word) > WRAP:
            lines += [word[:WRAP], ""]
            word = word[WRAP:]
        if len(lines[-1]) + len(word) + 1 > WRAP and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return [line for line in lines if line] or [" "]


def _ranks(boxes: Iterable[str], arrows: Sequence[Arrow]) -> dict[str, int]:
    """The longest way to each box; what circles is cut where it is met last."""
    children: dict[str, list[str]] = defaultdict(list)
    open_: dict[str, int] = dict.fromkeys(boxes, 0)
    for arrow in arrows:
        children[arrow.source].append(arrow.target)
        open_[arrow.target] += 1
    ranks = dict.fromkeys(open_, 0)
    left = dict.fromkeys(open_)
    ready = deque(id for id, count in open_.items() if not count)
    while left:
        if not ready:
            ready.append(next(iter(left)))
        id = ready.popleft()
        if id not in left:
            continue
        del left[id]
        for child in children[id]:
            if child in left:
                ranks[child] = max(ranks[child], ranks[id] + 1)
                open_[child] -= 1
                if open_[child] == 0:
                    ready.append(child)
    return ranks


@dataclass(slots=True)
class _Layer:
    """The ids of one layer in order: boxes, and points that long arrows pass."""

    order: list[str] = field(default_factory=list)
    above: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    below: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    spots: dict[str, tuple[float, float]] = field(default_factory=dict)


def _layers(
    placed: Mapping[str, Placed], arrows: Sequence[Arrow], ranks: Mapping[str, int]
) -> tuple[list[_Layer], dict[tuple[str, str], list[str]]]:
    layers = [_Layer() for _ in range(max(ranks.values(), default=0) + 1)]
    for id in placed:
        layers[ranks[id]].order.append(id)
    chains: dict[tuple[str, str], list[str]] = {}
    for arrow in arrows:
        first, last = ranks[arrow.source], ranks[arrow.target]
        if last <= first or (arrow.source, arrow.target) in chains:
            continue
        chain = [arrow.source]
        for rank in range(first + 1, last):
            point = f"\0{len(chains)}:{rank}"
            layers[rank].order.append(point)
            chain.append(point)
        chain.append(arrow.target)
        chains[arrow.source, arrow.target] = chain
        for offset, (upper, lower) in enumerate(pairwise(chain)):
            layers[first + offset].below[upper].append(lower)
            layers[first + offset + 1].above[lower].append(upper)
    return layers, chains


def _order(layers: Sequence[_Layer]) -> None:
    """Sort each layer by where its neighbours are, down and up again."""
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        pairs = list(pairwise(layers))
        for upper, lower in pairs if down else reversed(pairs):
            fixed, moved = (upper, lower) if down else (lower, upper)
            at = {id: place for place, id in enumerate(fixed.order)}
            near = moved.above if down else moved.below
            now = {id: place for place, id in enumerate(moved.order)}

            def middle(
                id: str, near: Mapping[str, list[str]] = near, at: Mapping[str, int] = at, now: Mapping[str, int] = now
            ) -> float:
                those = near.get(id)
                return sum(at[one] for one in those) / len(those) if those else float(now[id])

            moved.order.sort(key=middle)


def _place(layers: Sequence[_Layer], placed: Mapping[str, Placed]) -> None:
    """Boxes of a layer beside each other, the layers below each other and centred."""
    widths = []
    for layer in layers:
        widths.append(sum(placed[id].width if id in placed else 0.0 for id in layer.order) + GAP_X * len(layer.order))
    widest = max(widths, default=0.0)
    y = PAD
    for layer, width in zip(layers, widths, strict=True):
        tallest = max((placed[id].height for id in layer.order if id in placed), default=0.0)
        x = PAD + (widest - width) / 2
        for id in layer.order:
            one = placed.get(id)
            if one is None:
                layer.spots[id] = (x, y + tallest / 2)
            else:
                one.x, one.y = x, y + (tallest - one.height) / 2
                x += one.width
            x += GAP_X
        y += tallest + GAP_Y
