"""`draw`: a picture of whatever can be drawn, in the format that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from officellm.errors import ConfigError, nearest
from officellm.pictures.diagram import Diagram
from officellm.pictures.dot import dot
from officellm.pictures.mermaid import mermaid
from officellm.pictures.sources import diagram_of
from officellm.pictures.svg import svg

FORMATS: Mapping[str, Callable[[Diagram], str]] = {"mermaid": mermaid, "dot": dot, "svg": svg}


def draw(thing: Any, format: Literal["mermaid", "dot", "svg"] = "mermaid") -> str:
    """A workflow, an office, a result, or the JSON form of a result or a plan, as text of that format.

    Raises `ConfigError` for what cannot be drawn.
    """
    write = FORMATS.get(format)
    if write is None:
        raise ConfigError(f"unknown format {format!r}.{nearest(format, FORMATS)}")
    return write(diagram_of(thing))
