"""One call on its way to its answer, and what the calls of a reply come to. Nothing is run here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from officellm import events as ev
from officellm.messages import ToolCall, ToolResult

if TYPE_CHECKING:
    from officellm.errors import FatalToolError, LimitReached
    from officellm.protocols import Spend
    from officellm.results import TransferRequest
    from officellm.toolset import Entry

#: The answer to a call that was not reached.
NOT_RUN = "Not run: the run was ended by another call."
#: The answer to a call that was begun and did not come to its end.
INTERRUPTED = "Interrupted: this call was begun and did not finish; its effect is unknown."


@dataclass(slots=True)
class Job:
    """A call with all that is known of it."""

    call: ToolCall
    spend: Spend
    entry: Entry | None
    #: The scope of the agent run that this call starts, if it calls a worker: a logical key, the same on every replay.
    scope: str
    arguments: dict[str, Any] = field(default_factory=dict)
    reservation: list[object] | None = None
    answer: str | None = None
    is_error: bool = False
    begun: bool = False
    #: Whether its result was told to the run's watchers.
    told: bool = False

    def note(self, warning: str | None) -> None:
        """Add a limit policy's warning to the answer."""
        if warning and self.answer is not None:
            self.answer = f"{self.answer}\n\n[note: {warning}]"

    def close(self) -> None:
        """Give a call that has no answer the one that is true of it."""
        if self.answer is None:
            self.answer, self.is_error = INTERRUPTED if self.begun else NOT_RUN, True

    def result(self) -> ToolResult:
        """The answer as the history has it."""
        return ToolResult(self.call.id, self.call.name, self.answer or "", self.is_error)

    def tell_call(self, events: ev.EventStream) -> None:
        """Tell the run's watchers that it is called."""
        if events:
            events.emit(
                ev.ToolCallEvent,
                agent=self.spend.agent,
                span=self.spend.scope,
                id=self.call.id,
                name=self.call.name,
                kind=self.entry.kind if self.entry is not None else "tool",
                arguments=self.call.arguments,
            )

    def tell_result(self, events: ev.EventStream, seconds: float = 0.0) -> None:
        """Tell the run's watchers how it was answered."""
        self.told = True
        if events:
            events.emit(
                ev.ToolResultEvent,
                agent=self.spend.agent,
                span=self.spend.scope,
                id=self.call.id,
                name=self.call.name,
                content=self.answer or "",
                is_error=self.is_error,
                seconds=seconds,
            )


@dataclass(slots=True)
class Answers:
    """What came of a reply's calls, besides their results."""

    transfer: TransferRequest | None = None
    limit: LimitReached | None = None
    fatal: FatalToolError | None = None


def batches(jobs: Sequence[Job]) -> list[list[Job]]:
    """Calls in order, a `sequential` one alone, the others together."""
    made: list[list[Job]] = []
    alone = True
    for job in jobs:
        sequential = job.entry is not None and job.entry.sequential
        if sequential or alone:
            made.append([job])
        else:
            made[-1].append(job)
        alone = sequential
    return made
