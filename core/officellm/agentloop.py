"""The one agent loop: ask the model, answer its calls, until it answers without calls or something stops it.

Managers, workers, transfers, plan steps and workflow nodes all run here. It never raises for run-time trouble.
"""

from __future__ import annotations

import asyncio
import logging

from officellm import events as ev
from officellm.assignment import Assignment
from officellm.calls import Caller, RunWorker
from officellm.errors import ConfigError, LimitReached, ProviderError
from officellm.history import window
from officellm.messages import Assistant, Message, Reply, Request, System, User
from officellm.outputs import OutputError
from officellm.protocols import Spend
from officellm.results import AgentResult, StopReason
from officellm.run import Run, Tally
from officellm.setup import Setup
from officellm.text import said_by
from officellm.transcript import legal, unique_calls

log = logging.getLogger("officellm")

NUDGE = "Your reply was empty. Answer now, or call a tool."
CLOSE = "You must stop here. Answer now with what you have; say what is missing."
#: Limits after which one closing request can still be made: no budget of the run is spent.
_CLOSABLE = (
    StopReason.MAX_TURNS,
    StopReason.TOOL_CALL_BUDGET,
    StopReason.LOOP_DETECTED,
    StopReason.INVALID_CALLS,
)


class _Stopped(Exception):  # noqa: N818 - an outcome, not a mistake
    """Ends the turns with a reason."""

    def __init__(self, reason: StopReason, error: str, *, error_type: str = "", ends_run: bool = False) -> None:
        self.reason = reason
        self.error = error
        self.error_type = error_type or str(reason)
        self.ends_run = ends_run


class AgentRun:
    """One agent working on one assignment."""

    def __init__(self, run: Run, setup: Setup, work: Assignment, run_worker: RunWorker) -> None:
        self._run = run
        self._setup = setup
        self._work = work
        self._limits = work.limits
        own = setup.agent.limits
        self._own = own if own.model_fields_set else None
        self._tally = Tally(run, setup.name)
        self._caller = Caller(
            run, self._tally, setup.agent, work.toolset, work.limits, self._own, work.scope, work.depth, run_worker
        )
        instructions = setup.instructions()
        first: list[Message] = [System(instructions)] if instructions else []
        earlier = [message for message in work.history if not isinstance(message, System)]
        self._task = User(work.prompt)
        self._history: list[Message] = list(legal([*first, *earlier, self._task]))
        self._settings = dict(setup.agent.settings)
        if work.limits.max_tokens_per_call is not None:
            self._settings.setdefault("max_tokens", work.limits.max_tokens_per_call)
        self._turn = 0
        self._text = ""
        self._nudged = False
        self._repaired = False
        self._stopped: _Stopped | None = None

    async def go(self) -> AgentResult:
        """Work to the end. Raises cancellation only; what there is then stands in `run.latest`."""
        run, name = self._run, self._setup.name
        if run.events:
            run.events.emit(
                ev.AgentStart,
                agent=name,
                span=self._work.scope,
                parent=self._work.parent,
                depth=self._work.depth,
                model=self._setup.model,
            )
        try:
            result = await self._guarded()
        except asyncio.CancelledError:
            self._close_up(self._ended(_Stopped(StopReason.CANCELLED, "the run was cancelled", error_type="Cancelled")))
            raise
        return self._close_up(result)

    def _close_up(self, result: AgentResult) -> AgentResult:
        run, name = self._run, self._setup.name
        result.turns = self._turn
        result.usage = self._tally.usage
        result.messages = tuple(legal(self._history))
        if self._work.depth == 1:
            run.latest = result
        if run.events:
            run.events.emit(
                ev.AgentEnd,
                agent=name,
                span=self._work.scope,
                parent=self._work.parent,
                stop_reason=str(result.stop_reason),
                turns=self._turn,
                usage=result.usage,
                error=result.error,
            )
        return result

    async def _guarded(self) -> AgentResult:
        deadline = self._work.deadline
        left = None if deadline is None else deadline - self._run.clock.monotonic()
        try:
            async with asyncio.timeout(left):
                return await self._worked()
        except TimeoutError:  # of the timer alone: `_worked` raises none
            return self._ended(self._stopped or self._late())

    async def _worked(self) -> AgentResult:
        """The turns, and what stopped them as a result."""
        try:
            return await self._turns()
        except _Stopped as stopped:
            return self._ended(stopped)
        except LimitReached as limit:
            return await self._limited(limit)
        except ProviderError as error:
            self._text = error.partial if error.partial.strip() else self._text
            ended = self._ended(_Stopped(StopReason.of_fault(error.fault), str(error), error_type="ProviderError"))
            ended.fault = error.fault
            return ended
        except Exception as error:
            if isinstance(error, ConfigError) and not self._run.usage.requests:
                raise  # nothing was sent: the user's mistake, told at once
            log.exception("agent %s failed", self._setup.name)
            name = type(error).__name__
            return self._ended(_Stopped(StopReason.FAILED, f"{name}: {said_by(error)}", error_type=name))

    def _late(self) -> _Stopped:
        return _Stopped(StopReason.TIMEOUT, f"agent {self._setup.name!r} ran out of time")

    async def _turns(self) -> AgentResult:
        most = self._setup.max_turns(self._limits)
        while True:
            if most is not None and self._turn >= most:
                raise LimitReached("max_turns", self._turn, most, StopReason.MAX_TURNS, agent=self._setup.name)
            # A timer alone cannot end turns that never wait, nor does it know the run's clock.
            if self._work.deadline is not None and self._run.clock.monotonic() >= self._work.deadline:
                raise self._late()
            self._turn += 1
            reply = await self._ask("auto")
            message = unique_calls(reply.message, self._history)
            if message.text.strip():
                self._text = message.text
            self._history.append(message)
            if reply.stop == "refused":
                raise _Stopped(
                    StopReason.REFUSED, f"the model refused: {reply.refusal or reply.raw_stop or 'no reason'}"
                )
            if message.calls:
                done = await self._answer(message, reply)
            else:
                done = self._finish(message, reply)
            if done is not None:
                return done

    async def _ask(self, tool_choice: str) -> Reply:
        work, setup, run = self._work, self._setup, self._run
        deadlines = [moment for moment in (work.deadline, run.deadline) if moment is not None]
        request = Request(
            model=setup.model,
            messages=window(self._history, setup.agent.context_window, self._task),
            tools=work.toolset.specs,
            tool_choice=tool_choice,
            output=work.output.schema if work.output is not None else None,
            settings=self._settings,
            deadline=min(deadlines, default=None),
        )
        if self._limits.provider_retries is not None:
            request.retries = self._limits.provider_retries
        spend = Spend(
            kind="request",
            scope=work.scope,
            agent=setup.name,
            depth=work.depth,
            turn=self._turn,
            tokens=self._settings.get("max_tokens") or 0,
            limits=self._own,
        )
        reply = await run.ask(setup.provider, request, spend, self._tally)
        if run.events:
            run.events.emit(
                ev.ModelReply,
                agent=setup.name,
                span=work.scope,
                parent=work.parent,
                turn=self._turn,
                text=reply.message.text,
                calls=len(reply.message.calls),
                stop=reply.stop,
                usage=reply.usage,
            )
        return reply

    async def _answer(self, message: Assistant, reply: Reply) -> AgentResult | None:
        cut = reply.stop == "length"
        answers = await self._caller.answer(message.calls, self._turn, self._history, cut=cut)
        if answers.fatal is not None:
            raise _Stopped(StopReason.FAILED, said_by(answers.fatal), error_type="FatalToolError", ends_run=True)
        if answers.limit is not None:
            if cut and answers.limit.stop_reason == StopReason.INVALID_CALLS:
                raise _Stopped(StopReason.TRUNCATED, f"calls were cut off by the token limit: {answers.limit}")
            raise answers.limit
        if answers.transfer is not None:
            result = self._result(StopReason.SUCCESS, self._text)
            result.transfer = answers.transfer
            return result
        return None

    def _finish(self, message: Assistant, reply: Reply) -> AgentResult | None:
        """What a reply without calls comes to; None to ask again."""
        if reply.stop == "length":
            raise _Stopped(StopReason.TRUNCATED, "the answer was cut off by the token limit")
        if reply.stop == "error":
            # The vendor could not read its own model's call, say: worth one more try.
            said = f"the model's reply ended in an error ({reply.raw_stop})"
            self._nudge(f"Your reply could not be read ({reply.raw_stop}). Answer again.", StopReason.FAILED, said)
            return None
        if reply.stop == "pause":
            return None
        if not message.text.strip():
            self._nudge(NUDGE, StopReason.EMPTY_REPLY, "the model answered with nothing, twice")
            return None
        self._nudged = False
        if self._work.output is None:
            return self._result(StopReason.SUCCESS, message.text)
        try:
            output = self._work.output.read(message.text)
        except OutputError as error:
            if self._repaired:
                raise _Stopped(StopReason.FAILED, str(error), error_type="OutputError") from None
            self._repaired = True
            self._history.append(User(f"That cannot be used: {error}. Answer again, with the JSON alone."))
            return None
        result = self._result(StopReason.SUCCESS, message.text)
        result.output = output
        return result

    def _nudge(self, words: str, reason: StopReason, said: str) -> None:
        """Ask again, once; the second time in a row ends the run."""
        if self._nudged:
            raise _Stopped(reason, said)
        self._nudged = True
        self._history.append(User(words))

    async def _limited(self, limit: LimitReached) -> AgentResult:
        run, agent = self._run, self._setup.agent
        if run.events:
            run.events.emit(
                ev.LimitEvent, agent=agent.name, span=self._work.scope, which=limit.which, message=str(limit)
            )
        stopped = self._stopped = _Stopped(StopReason(limit.stop_reason), str(limit), error_type="LimitReached")
        if agent.on_limit == "summarize" and stopped.reason in _CLOSABLE:
            await self._close()
        return self._ended(stopped)

    async def _close(self) -> None:
        """One request that may not call anything, for the best answer so far. Its failure changes nothing."""
        self._history.append(User(CLOSE))
        try:
            reply = await self._ask("none" if self._work.toolset.specs else "auto")
        except (LimitReached, ProviderError) as error:
            self._run.events.emit(ev.WarningEvent, agent=self._setup.name, message=f"no closing answer: {error}")
            return
        if reply.message.text.strip():
            self._text = reply.message.text
        self._history.append(Assistant(reply.message.text))

    def _ended(self, stopped: _Stopped) -> AgentResult:
        # What was shown of a reply that never came to its end is newer than the last whole one.
        partial = "".join(self._tally.partial)
        result = self._result(stopped.reason, partial if partial.strip() else self._text)
        result.error = stopped.error
        result.error_type = stopped.error_type
        result.ends_run = stopped.ends_run
        return result

    def _result(self, reason: StopReason, content: str) -> AgentResult:
        return AgentResult(agent=self._setup.name, stop_reason=reason, content=content)
