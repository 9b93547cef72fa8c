"""Who shipped a plugin: package, version, where it lives. Only this module imports importlib_metadata."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import importlib_metadata


@dataclass(frozen=True, slots=True)
class Offer:
    """One entry point, read from metadata; nothing was imported."""

    group: str
    name: str
    module: str
    package: str
    version: str
    editable: bool = False

    @property
    def qualified(self) -> str:
        """The form that chooses among packages offering one name."""
        return f"{self.name}@{self.package}"


def offers(group: str | None = None) -> list[Offer]:
    """Every officellm entry point that is installed, read fresh, sorted by group, name and package."""
    found: dict[tuple[str, str, str], Offer] = {}
    for distribution in importlib_metadata.distributions():
        for offer in _offers_in(distribution, group):
            # The first on the path wins, as it does for imports.
            found.setdefault((offer.group, offer.name, offer.package), offer)
    return [found[key] for key in sorted(found)]


def _offers_in(distribution: Any, group: str | None) -> list[Offer]:
    try:
        points = [
            point
            for point in distribution.entry_points
            if point.group.startswith("officellm.") and group in (None, point.group)
        ]
    except (ValueError, TypeError, OSError):
        return []  # damaged metadata of one package must not hide the others
    if not points:
        return []
    package, version = normalized(_field(distribution, "Name")), _field(distribution, "Version")
    editable = _editable(distribution)
    return [Offer(point.group, point.name, point.value, package, version, editable) for point in points]


def offers_of(group: str, name: str) -> list[Offer]:
    """Who offers this name; more than one is a conflict."""
    return [offer for offer in offers(group) if offer.name == name]


def normalized(package: str) -> str:
    """A package's name in its canonical form."""
    return re.sub(r"[-_.]+", "-", package).lower()


def _field(distribution: Any, name: str) -> str:
    """A field of the metadata, which an interrupted installation may have left without it."""
    try:
        return distribution.metadata[name] or "unknown"
    except (KeyError, FileNotFoundError):
        return "unknown"


def _editable(distribution: Any) -> bool:
    text = distribution.read_text("direct_url.json")
    if not text:
        return False
    try:
        return bool(json.loads(text).get("dir_info", {}).get("editable"))
    except (ValueError, AttributeError):
        return False
