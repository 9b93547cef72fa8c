"""Asks the small functions of a node: `when`, `until`, `input` and `each`. Plain ones, on the run's own loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import TypeVar

from officellm.workflows.nodes import NodeContext

T = TypeVar("T")


def asked(what: str, function: Callable[[NodeContext], T], context: NodeContext) -> T:
    """What the function says. Raises an `Exception` whatever it raises, and for an answer that must be awaited."""
    try:
        value = function(context)
    except (asyncio.CancelledError, SystemExit, GeneratorExit) as error:
        # Raised as they are, they would look like the end of the run, or of the program.
        raise RuntimeError(f"{what} raised {type(error).__name__}") from error
    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()
        raise TypeError(f"{what} must be a plain function, not an async one")
    return value
