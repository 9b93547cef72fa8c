"""What every picture is made of: boxes, boxes that stand in boxes, and arrows between them. No format here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

BoxKind = Literal["agent", "manager", "function", "workflow", "entry"]
ArrowKind = Literal["after", "condition", "back", "call", "transfer", "route"]
#: Where a box stands in a walk: it is a leaf, its contents begin, they have ended.
Place = Literal["leaf", "open", "close"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One thing in a picture; its id is never empty.

    The first of `lines` is its name; `notes` are said in small, such as a time or a cost. `state` is that of a node.
    `inside` is the id of the box that it stands in: one that others stand in is drawn as a frame around them.
    """

    id: str
    lines: Sequence[str]
    kind: BoxKind = "agent"
    notes: Sequence[str] = ()
    state: str = ""
    inside: str = ""


@dataclass(frozen=True, slots=True)
class Arrow:
    """What leads from one box to another that stands in the same frame; `both`: and back again."""

    source: str
    target: str
    kind: ArrowKind = "after"
    label: str = ""
    both: bool = False


@dataclass(slots=True)
class Diagram:
    """Boxes in order, and arrows whose ends are boxes."""

    title: str
    boxes: list[Box] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)

    def contents(self) -> Mapping[str, Sequence[Box]]:
        """The boxes in each frame; those that stand in none are under the empty text."""
        inside: dict[str, list[Box]] = {"": []}
        for box in self.boxes:
            inside.setdefault(box.inside, []).append(box)
        return inside

    def walk(self) -> Iterator[tuple[Place, Box]]:
        """Every box in order, a frame before and after what stands in it, however deep."""
        contents = self.contents()
        pending: list[tuple[Place, Box]] = [("open", box) for box in reversed(contents[""])]
        while pending:
            place, box = pending.pop()
            inner = contents.get(box.id)
            if place == "close" or inner is None:
                yield ("leaf" if inner is None else place), box
                continue
            yield "open", box
            pending.append(("close", box))
            pending += [("open", one) for one in reversed(inner)]
