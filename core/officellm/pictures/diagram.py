"""What every picture is made of: boxes, arrows between them, and groups of boxes. No format here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

BoxKind = Literal["agent", "manager", "function", "workflow"]
ArrowKind = Literal["after", "call", "transfer", "back", "route"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One thing in a picture: the first of `lines` is its name, `state` that of a node, `group` what it is part of."""

    id: str
    lines: Sequence[str]
    kind: BoxKind = "agent"
    state: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class Arrow:
    """What leads from one box to another."""

    source: str
    target: str
    kind: ArrowKind = "after"
    label: str = ""


@dataclass(slots=True)
class Diagram:
    """Boxes in order, and arrows whose ends are boxes."""

    title: str
    boxes: list[Box] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)

    def groups(self) -> list[str]:
        """The groups that boxes are part of, in order."""
        return list(dict.fromkeys(box.group for box in self.boxes if box.group))
