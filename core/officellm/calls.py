"""Answers the calls of one reply: checks all, reserves all, runs them at once; exactly one result each, in order."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from officellm import events as ev
from officellm.apart import apart
from officellm.codec import canonical
from officellm.errors import FatalToolError, LimitReached, ToolError, nearest
from officellm.jobs import Answers, Job, batches
from officellm.messages import Message, ToolCall, Usage
from officellm.protocols import CallInfo, Spend, Spent
from officellm.results import AgentResult, TransferRequest
from officellm.signatures import ArgumentsError
from officellm.text import said_by, to_text
from officellm.tools import Context

if TYPE_CHECKING:
    from officellm.agents import Agent
    from officellm.limits import Limits
    from officellm.run import Run, Tally
    from officellm.toolset import Entry, Toolset

#: Runs a worker: `(name, checked arguments, scope)`.
RunWorker = Callable[[str, dict[str, Any], str], Awaitable[AgentResult]]

log = logging.getLogger("officellm")


class Caller:
    """Answers the calls of one agent run."""

    __slots__ = ("_agent", "_depth", "_limits", "_own", "_run", "_run_worker", "_scope", "_tally", "_toolset")

    def __init__(
        self,
        run: Run,
        tally: Tally,
        agent: Agent,
        toolset: Toolset,
        limits: Limits,
        own: Limits | None,
        scope: str,
        depth: int,
        run_worker: RunWorker,
    ) -> None:
        self._run = run
        self._tally = tally
        self._agent = agent
        self._toolset = toolset
        self._limits = limits
        self._own = own
        self._scope = scope
        self._depth = depth
        self._run_worker = run_worker

    async def answer(self, calls: Sequence[ToolCall], turn: int, history: list[Message], *, cut: bool) -> Answers:
        """Answer every call in `history`, in call order, also when this is cancelled. Raises only cancellation.

        `cut` says that the reply ended at its token limit, and with it the last call.
        """
        last = len(calls) - 1
        jobs = [self._prepare(call, turn, index, cut and index == last) for index, call in enumerate(calls)]
        limit = self._reserve(jobs)
        ready = [job for job in jobs if job.answer is None and job.reservation is not None]
        fatal: FatalToolError | None = None
        transfer: TransferRequest | None = None
        try:
            fatal = await self._execute(ready)
            transfer = None if limit or fatal else self._transfer(jobs)
        finally:
            for job in jobs:
                self._close(job)
            history.extend(job.result() for job in jobs)
        return Answers(transfer, limit, fatal)

    def _close(self, job: Job) -> None:
        """Whatever happened to the others: each call has an answer, is settled, and was told of."""
        job.close()
        if job.reservation is not None:
            self._settle(job, ran=job.begun)
        if not job.told:
            if not job.begun:
                job.tell_call(self._run.events)
            job.tell_result(self._run.events)

    def _prepare(self, call: ToolCall, turn: int, index: int, cut: bool) -> Job:
        """Everything that can be said of a call without running it."""
        arguments = call.arguments if call.arguments is not None else call.raw
        spend = Spend(
            kind="tool_call",
            scope=self._scope,
            agent=self._agent.name,
            depth=self._depth,
            turn=turn,
            call=f"{call.name}:{canonical(arguments)}",
            tool=call.name,
            limits=self._own,
        )
        job = Job(call, spend, self._toolset.get(call.name), f"{self._scope}/{turn}.{index}:{call.name}")
        problem = self._problem(job, cut)
        if problem is not None:
            spend.problem = problem
            job.answer, job.is_error = f"Error: {problem}", True
        return job

    def _problem(self, job: Job, cut: bool) -> str | None:
        call, entry = job.call, job.entry
        if entry is None:
            return f"there is no tool or worker named {call.name!r}.{nearest(call.name, self._toolset.names())}"
        if cut and not call.arguments:
            # No arguments at all may be a call of which nothing had been written yet.
            why = call.problem or "it has no arguments"
            return f"the call of {call.name!r} was cut off by the token limit: {why}. Send it again, shorter."
        if call.arguments is None:
            return f"{call.name!r} was not run: {call.problem}"
        try:
            job.arguments = entry.validate(call.arguments)
        except ArgumentsError as error:
            return f"the arguments of {call.name!r} do not fit: {error}"
        if self._run.judged:
            from pydantic_core import to_jsonable_python

            info = CallInfo(entry.kind, call.id, call.name, to_jsonable_python(job.arguments, fallback=str))
            verdict = self._run.host.judge(info, self._agent, self._run.info)
            if verdict.ruling == "refuse":
                return f"{call.name!r} was refused: {verdict.reason or 'not allowed'}"
        return None

    def _reserve(self, jobs: Sequence[Job]) -> LimitReached | None:
        """Reserve for all calls before any starts: a limit that is checked later is not a limit."""
        limit: LimitReached | None = None
        for job in jobs:
            if limit is not None:
                job.answer, job.is_error = f"Not run: {limit}", True
                continue
            if job.entry is not None and job.entry.kind == "transfer" and job.answer is None:
                continue
            try:
                reservation = self._run.policies.reserve(job.spend)
            except LimitReached as reached:
                limit = reached
                job.answer, job.is_error = job.answer or f"Not run: {reached}", True
                continue
            if job.answer is None:
                job.reservation = reservation
            else:
                job.note(self._run.policies.settle(reservation, job.spend, Spent(result=job.answer)))
        return limit

    async def _execute(self, jobs: Sequence[Job]) -> FatalToolError | None:
        try:
            if len(jobs) == 1:
                await self._run_job(jobs[0])
                return None
            for batch in batches(jobs):
                await self._run_batch(batch)
        except FatalToolError as fatal:
            return fatal
        return None

    async def _run_batch(self, jobs: Sequence[Job]) -> None:
        gate = asyncio.Semaphore(self._limits.max_parallel_calls or len(jobs) or 1)

        async def gated(job: Job) -> None:
            async with gate:
                await self._run_job(job)

        fatal: list[BaseException] = []
        try:
            async with asyncio.TaskGroup() as group:
                for job in jobs:
                    group.create_task(gated(job))
        except* FatalToolError as errors:
            fatal.extend(errors.exceptions)
        if fatal:  # raised outside: whatever an `except*` raises is wrapped in a group again
            raise fatal[0]

    async def _run_job(self, job: Job) -> None:
        """Run one call and keep its answer. Raises `FatalToolError` and cancellation only."""
        assert job.entry is not None
        started = self._run.clock.monotonic()
        job.begun = True
        job.tell_call(self._run.events)
        try:
            if job.entry.kind == "worker":
                job.answer, job.is_error = await self._work(job)
            else:
                job.answer, job.is_error = await self._use(job, job.entry)
        except FatalToolError as fatal:
            job.answer, job.is_error = f"Error: {said_by(fatal)}", True
            raise
        finally:
            if job.answer is not None:
                self._settle(job, ran=True)
                job.tell_result(self._run.events, self._run.clock.monotonic() - started)

    def _settle(self, job: Job, *, ran: bool) -> None:
        assert job.reservation is not None
        usage = Usage(tool_calls=1) if ran else Usage()
        reservation, job.reservation = job.reservation, None
        warning = self._run.policies.settle(reservation, job.spend, Spent(usage=usage, result=job.answer or ""))
        if ran:
            self._tally.add(usage)
            job.note(warning)

    async def _work(self, job: Job) -> tuple[str, bool]:
        """Run a worker; a failure is a result that says how it ended and keeps what there is."""
        result = await self._run_worker(job.call.name, job.arguments, job.scope)
        if result.success:
            return to_text(result.content, 200_000), False
        self._run.failures.append(result)
        if result.ends_run:
            raise FatalToolError(result.error or f"worker {job.call.name!r} failed")
        text = f"Error: worker {job.call.name!r} did not finish ({result.stop_reason}): {result.error}"
        if result.content:
            text += f"\nPartial answer:\n{result.content}"
        return text, True

    async def _use(self, job: Job, entry: Entry) -> tuple[str, bool]:
        """Run a tool. Whatever it raises, but cancellation of this run, becomes an error that the model can read."""
        cancels = _cancels()
        answer = await self._tried(job, entry, cancels)
        if _cancels() > cancels:
            # A tool that caught the cancel keeps its answer; it cannot keep the run.
            job.answer, job.is_error = answer
            raise asyncio.CancelledError
        return answer

    async def _tried(self, job: Job, entry: Entry, cancels: int) -> tuple[str, bool]:
        name = job.call.name
        seconds = entry.timeout if entry.timeout is not None else self._limits.tool_timeout
        try:
            async with asyncio.timeout(seconds) as timer:
                value = await self._invoke(job, entry)
            return to_text(value, entry.max_chars), False
        except (FatalToolError, GeneratorExit):
            raise
        except ToolError as error:
            return said_by(error) or "Error", True
        except TimeoutError as error:
            if timer.expired():
                return f"Error: tool {name!r} did not answer within {seconds:g} s", True
            return _failure(name, error), True
        except asyncio.CancelledError as error:
            if _cancels() > cancels:
                raise
            return _failure(name, error), True
        except BaseException as error:  # noqa: BLE001 - SystemExit and KeyboardInterrupt of a tool are its own failure
            return _failure(name, error), True

    async def _invoke(self, job: Job, entry: Entry) -> Any:
        if entry.tool is not None:
            context = self._context(job) if entry.tool.wants_context else None
            return await entry.tool.run(job.arguments, context)
        assert entry.catalog is not None
        name = entry.original or job.call.name
        return await apart(entry.catalog.call(name, job.arguments, self._context(job)))

    def _context(self, job: Job) -> Context:
        run, agent, scope = self._run, self._agent.name, self._scope

        def say(message: str) -> None:
            run.events.emit(ev.WarningEvent, agent=agent, span=scope, message=message)

        named = f"{run.id}|{scope}|{job.spend.turn}|{job.call.id}|{job.spend.call}"
        key = hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return Context(run.id, agent, job.call.id, key, run.deadline, run.task, run.deps, say)

    def _transfer(self, jobs: Sequence[Job]) -> TransferRequest | None:
        """The first valid transfer of the reply wins; the others are answered too."""
        chosen: TransferRequest | None = None
        for job in jobs:
            if job.answer is not None or job.entry is None or job.entry.kind != "transfer":
                continue
            if chosen is None:
                found = job.arguments
                chosen = TransferRequest(found["agent"], found.get("reason", ""), found.get("query", ""))
                job.answer = f"The conversation is handed over to {chosen.target}."
            else:
                job.answer, job.is_error = f"Not taken: the conversation goes to {chosen.target}.", True
        return chosen


def _cancels() -> int:
    """How often this task was cancelled, the cancels of timers that have ended not counted."""
    task = asyncio.current_task()
    return task.cancelling() if task is not None else 0


def _failure(name: str, error: BaseException) -> str:
    # The model reads one line; the traceback is for the developer.
    log.debug("tool %r failed", name, exc_info=error)
    text = said_by(error)
    return f"Error: tool {name!r} failed: {type(error).__name__}{': ' + text if text else ''}"
