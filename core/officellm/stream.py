"""A run being watched: its events as an async iterator, bounded, and cancelled when the block is left."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from officellm.events import CallDeltaEvent, Event, ReasoningDeltaEvent, TextDeltaEvent
from officellm.execution import Execution
from officellm.results import Result, StopReason

if TYPE_CHECKING:
    from types import TracebackType

#: Events kept for a consumer that is slow. Beyond it deltas are dropped first; a run never waits for its watchers.
MAX_WAITING = 10_000
_DELTAS = (TextDeltaEvent, ReasoningDeltaEvent, CallDeltaEvent)


class RunStream:
    """`async with office.stream(task) as run:` then `async for event in run:`; afterwards `run.result`."""

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._waiting: deque[Event] = deque()
        self._more = asyncio.Event()
        self._task: asyncio.Task[Result] | None = None

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._execution.run_id

    @property
    def result(self) -> Result:
        """The result, once the run has ended. Raises `RuntimeError` before."""
        result = self._execution.result
        if result is None and self._task is not None and self._task.cancelled():
            said = "the run was cancelled before it began"
            return Result(run_id=self.run_id, stop_reason=StopReason.CANCELLED, error=said, error_type="Cancelled")
        if result is None:
            raise RuntimeError("the run has not ended")
        return result

    async def __aenter__(self) -> RunStream:
        self._execution.listen(self._hear, text=True)
        self._task = asyncio.create_task(self._execution.go(), name=f"officellm-run-{self.run_id}")
        self._task.add_done_callback(lambda _: self._more.set())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait([self._task])
        failed = None if self._task.cancelled() else self._task.exception()
        if failed is not None and error is None:
            raise failed

    def _hear(self, event: Event) -> None:
        if len(self._waiting) >= MAX_WAITING:
            self._execution.events_dropped += 1
            if isinstance(event, _DELTAS):
                return
            oldest = next((place for place, one in enumerate(self._waiting) if isinstance(one, _DELTAS)), 0)
            del self._waiting[oldest]
        self._waiting.append(event)
        self._more.set()

    async def __aiter__(self) -> AsyncIterator[Event]:
        assert self._task is not None
        while True:
            while self._waiting:
                yield self._waiting.popleft()
            if self._task.done():
                if not self._task.cancelled() and self._task.exception() is not None:
                    await self._task
                return
            self._more.clear()
            await self._more.wait()
