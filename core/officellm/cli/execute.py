"""Runs jobs for `run` and `call`: progress on stderr, results on stdout, Ctrl-C, the exit code."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Literal

from officellm.cli import INTERRUPTED, say_error
from officellm.cli.output import Outlet
from officellm.cli.show import NoView, View, choose_view
from officellm.errors import ConfigError
from officellm.execution import Execution
from officellm.office import Office
from officellm.order import Order
from officellm.results import Result, StopReason

Mode = Literal["plain", "json", "events"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run to do. `index` is its place in a batch, None for a run by itself."""

    office: Office
    order: Order
    index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How to show what happens. `stream` shows text as it is written; `warnings` are said once a run has its id."""

    mode: Mode = "plain"
    stream: bool = False
    quiet: bool = False
    jobs: int = 1
    warnings: Sequence[str] = ()


def execute(jobs: Sequence[Job], manner: Manner, outlet: Outlet) -> int:
    """Run all jobs and return the exit code: of the one run, or the worst of a batch. Raises `ConfigError`.

    The first SIGINT or SIGTERM cancels what runs, the second ends the process.
    """
    session = _Session(jobs, manner, outlet)
    try:
        return asyncio.run(session.go())
    except asyncio.CancelledError:  # before any run began
        say_error("cancelled")
        return INTERRUPTED


@dataclass(frozen=True, slots=True)
class _Ended:
    job: Job
    result: Result
    wrong: ConfigError | None

    @property
    def code(self) -> int:
        return self.wrong.exit_code if self.wrong is not None else self.result.stop_reason.exit_code


@dataclass(slots=True)
class _Session:
    jobs: Sequence[Job]
    manner: Manner
    outlet: Outlet
    stopping: bool = False
    #: The exit code of each run that ended; a batch may be long, so its results are not kept.
    codes: list[int] = field(default_factory=list)
    alone: _Ended | None = None
    tasks: list[asyncio.Task[Any]] = field(default_factory=list)

    async def go(self) -> int:
        self.outlet.on_closed = self._stop
        offices = list({id(job.office): job.office for job in self.jobs}.values())
        # Results that come while a live view is drawn on the same terminal would tear it.
        live = not (self.outlet.is_terminal and (self._is_batch or self.manner.mode == "events"))
        view = choose_view(quiet=self.manner.quiet, live=live, text=self.manner.stream)
        for warning in [*self.manner.warnings, *_set_aside(offices)]:
            view.warn(warning)
        with contextlib.closing(view), self._signals(view), _logging_to(view):
            await self._run_all(offices, view)
        if self.alone is not None:
            self._report(self.alone)
        return self._code()

    @property
    def _is_batch(self) -> bool:
        return any(job.index is not None for job in self.jobs)

    async def _run_all(self, offices: Sequence[Office], view: View) -> None:
        self.tasks += filter(None, [asyncio.current_task()])
        async with contextlib.AsyncExitStack() as stack:
            for office in offices:
                await stack.enter_async_context(office)
                await office.ready()
            waiting = iter(self.jobs)
            async with asyncio.TaskGroup() as group:
                count = min(self.manner.jobs, len(self.jobs))
                self.tasks = [group.create_task(self._work(waiting, view)) for _ in range(count)]

    async def _work(self, waiting: Iterator[Job], view: View) -> None:
        for job in waiting:
            if self.stopping:
                return
            ended = await self._run(job, view)
            self.codes.append(ended.code)
            if self._is_batch:
                self._report(ended)
            else:
                self.alone = ended

    async def _run(self, job: Job, view: View) -> _Ended:
        execution = Execution(job.office, job.order)
        view.begin(execution.run_id, job.index)
        execution.listen(view.hear, text=view.wants_text or self.manner.stream)
        if self.manner.mode == "events":
            execution.listen(lambda event: self.outlet.json({**_head(job), **event.to_dict()}), text=True)
        wrong: ConfigError | None = None
        try:
            await execution.go()
        except asyncio.CancelledError:
            self.stopping = True
        except ConfigError as error:
            wrong = error
        return _Ended(job, execution.result or _unstarted(execution.run_id, wrong), wrong)

    def _report(self, ended: _Ended) -> None:
        """The result on stdout, and what went wrong on stderr. Raises the `ConfigError` of a run by itself."""
        job, result, wrong = ended.job, ended.result, ended.wrong
        if job.index is not None or self.manner.mode != "plain":
            kind = {"type": "result"} if self.manner.mode == "events" else {}
            self.outlet.json({**kind, **_head(job), **result.to_dict()})
        elif result.content:
            self.outlet.text(result.content)
        if wrong is not None and job.index is None:
            raise wrong
        if not result.success:
            which = f"task {job.index}: " if job.index is not None else ""
            reason = "" if wrong is not None else f"{result.stop_reason}: "
            say_error(f"{which}{reason}{result.error}")

    def _code(self) -> int:
        left = len(self.jobs) - len(self.codes)
        if self.outlet.problem is not None:
            if not isinstance(self.outlet.problem, BrokenPipeError):
                say_error(f"cannot write to stdout: {self.outlet.problem.strerror}")
            return 1
        if left:
            say_error(f"{left} of {len(self.jobs)} tasks were not started")
            return INTERRUPTED
        return max(self.codes)

    def _stop(self) -> None:
        self.stopping = True
        for task in self.tasks:
            task.cancel()

    @contextlib.contextmanager
    def _signals(self, view: View) -> Iterator[None]:
        loop = asyncio.get_running_loop()

        # Not the loop's own signal handlers: they would not run while something blocks the loop.
        def on_signal(number: int, frame: FrameType | None) -> None:
            if self.stopping:
                view.abandon()
                os._exit(INTERRUPTED)
            self.stopping = True
            loop.call_soon_threadsafe(self._stop)

        # A shell that starts us in the background ignores SIGINT for us; so it stays.
        mine = [one for one in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(one) is not signal.SIG_IGN]
        before = {one: signal.signal(one, on_signal) for one in mine}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


def _head(job: Job) -> dict[str, Any]:
    return {} if job.index is None else {"index": job.index}


def _unstarted(run_id: str, wrong: ConfigError | None) -> Result:
    """The result of a run that was stopped before it began."""
    if wrong is None:
        return Result(run_id=run_id, stop_reason=StopReason.CANCELLED, error="the run was cancelled")
    return Result(run_id=run_id, stop_reason=StopReason.FAILED, error=str(wrong), error_type=type(wrong).__name__)


def _set_aside(offices: Sequence[Office]) -> list[str]:
    reasons = [reason for office in offices for reason in office.host.set_aside.values()]
    return [f"extension set aside: {reason}" for reason in dict.fromkeys(reasons)]


class _ToView(logging.Handler):
    def __init__(self, view: View) -> None:
        super().__init__(logging.WARNING)
        self._view = view

    def emit(self, record: logging.LogRecord) -> None:
        # What is an event too has its line from there.
        if isinstance(self._view, NoView) or not getattr(record, "told", False):
            self._view.warn(self.format(record))


@contextlib.contextmanager
def _logging_to(view: View) -> Iterator[None]:
    logger, handler = logging.getLogger("officellm"), _ToView(view)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
