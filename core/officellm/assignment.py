"""What one run of an agent is given: the prompt, the tools, the limits, the deadline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from officellm.limits import Limits
from officellm.messages import Message
from officellm.outputs import OutputType
from officellm.toolset import Toolset


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What one agent run is to do. `scope` is its logical key: the same on every replay."""

    prompt: str
    scope: str
    depth: int = 1
    parent: str = ""
    history: Sequence[Message] = ()
    toolset: Toolset
    limits: Limits
    output: OutputType | None = None
    deadline: float | None = None
