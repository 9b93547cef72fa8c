"""What one run is asked to do: the task, and all that the caller said about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from officellm.limits import Limits
    from officellm.messages import Message
    from officellm.outputs import OutputType
    from officellm.tasks import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a run is asked to do."""

    task: Task
    agent: str | None
    router: Any
    orchestrator: Any
    limits: Limits
    output: OutputType | None
    history: Sequence[Message]
    deps: Any
    prompt: str | None = None
