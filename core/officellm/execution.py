"""One run from task to outcome: scopes, routing, orchestration, the result. It never calls a failure a success."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from officellm import events as ev
from officellm.asking import Asking
from officellm.desk import OfficeDesk
from officellm.errors import (
    ConfigError,
    LimitReached,
    OfficeError,
    ProviderError,
)
from officellm.kinds import Kind
from officellm.limits import Limits
from officellm.order import Order
from officellm.outputs import OutputError
from officellm.protocols import LimitPolicy, Orchestrator, RunInfo
from officellm.results import AgentResult, Result, StopReason
from officellm.routing import Routing, driver_of
from officellm.run import Policies, Run
from officellm.text import said_by

if TYPE_CHECKING:
    from officellm.office import Office
    from officellm.roster import Setups
    from officellm.tasks import Task

log = logging.getLogger("officellm")

#: Limit policies of every run; they are always required.
ALWAYS = ("purse", "loops")


class Execution:
    """One run of an office."""

    def __init__(self, office: Office, order: Order) -> None:
        self._office = office
        self._order = order
        self.run_id = uuid.uuid4().hex[:16]
        self.events = ev.EventStream(self.run_id, office.clock.wall, self._dropped)
        self.limits = Limits.merge(order.limits, office.limits)
        #: The result, also of a run that was cancelled.
        self.result: Result | None = None
        self.events_dropped = 0
        if office.host.observed:
            self.events.listen(office.host.observe)

    def listen(self, listener: ev.Listener, *, text: bool = False) -> None:
        """Hear the run's events."""
        self.events.listen(listener, text=text)

    def _dropped(self, listener: ev.Listener, error: Exception) -> None:
        log.error("a listener failed and was dropped: %r", listener, exc_info=error)

    async def go(self) -> Result:
        """The outcome. Raises `ConfigError` before anything was sent, and cancellation (`self.result` is set then)."""
        office, order = self._office, self._order
        setups = await office.ready()
        run = self._start(order.task)
        name, orchestrator = self._orchestrator()
        # Every event comes while the scopes are open: an exporter that drains when its scope closes misses none.
        async with AsyncExitStack() as stack:
            try:
                await self._enter_scopes(stack, run)
                self.events.emit(ev.RunStart, title=order.task.title, priority=order.task.priority, orchestrator=name)
                ended = await self._work(run, setups, orchestrator)
            except asyncio.CancelledError:
                self._end(run, _outcome(run, StopReason.CANCELLED, "the run was cancelled", "Cancelled"))
                raise
            except ConfigError as error:
                self._end(run, _outcome(run, StopReason.FAILED, str(error), type(error).__name__))
                raise
            self._end(run, ended)
        assert self.result is not None
        return self.result

    def _start(self, task: Task) -> Run:
        office = self._office
        names = [*ALWAYS, *(name for name in office.policies if name not in ALWAYS)]
        policies = [self._policy(name, office.policies.get(name, {})) for name in names]
        return Run(
            info=RunInfo(self.run_id, task, self._order.agent, task.metadata),
            host=office.host,
            events=self.events,
            policies=Policies(policies, task.priority),
            limits=self.limits,
            clock=office.clock,
            deps=self._order.deps,
        )

    def _policy(self, name: str, values: Mapping[str, Any]) -> LimitPolicy:
        """A policy whose settings are `Limits` gets the run's; any other gets its block of the team file."""
        host = self._office.host
        settings: Any = self.limits
        if host.settings_model(Kind.LIMIT, name) is not Limits:
            settings = host.settings(Kind.LIMIT, name, values)
        elif values:
            raise ConfigError(f"limit policy {name!r} follows the limits; it takes no settings of its own")
        return host.limit_policy(name, settings, self._office.clock)

    def _orchestrator(self) -> tuple[str, Orchestrator]:
        office, order = self._office, self._order
        chosen = order.orchestrator if order.orchestrator is not None else office.orchestrator
        if chosen is None:
            chosen = office.host.choose_driver(Kind.ORCHESTRATOR, order.task)
        if chosen is None:
            named = order.agent is not None or order.router is not None or office.router is not None
            chosen = "handoff" if named or office.entry is None else "manager"
        if isinstance(chosen, Orchestrator):
            return type(chosen).__name__, chosen
        name, values = driver_of(chosen, "orchestrator", office.orchestrator)
        settings = office.host.settings(Kind.ORCHESTRATOR, name, values)
        return name, office.host.orchestrator(name, settings)

    async def _enter_scopes(self, stack: AsyncExitStack, run: Run) -> None:
        """Each scope in its own guard: one that fails is reported, and never replaces the run's own error."""
        for scope in self._office.host.run_scopes(run.info):

            async def leave(*error: Any, scope: Any = scope) -> bool:
                try:
                    await scope.__aexit__(*error)
                except Exception:
                    log.exception("a run scope failed to close")
                return False

            try:
                await scope.__aenter__()
            except Exception:
                log.exception("a run scope failed to open")
            else:
                stack.push_async_exit(leave)

    async def _work(self, run: Run, setups: Setups, orchestrator: Orchestrator) -> AgentResult:
        """Route and orchestrate. Raises `ConfigError` and cancellation; whatever else goes wrong is an outcome."""
        try:
            asking = Asking(self._office, run, setups)
            entry = await self._entry(run, orchestrator, asking)
            ended = await orchestrator.work(self._order.task, self._desk(run, setups, asking, entry))
        except asyncio.CancelledError:
            raise
        except ConfigError as error:
            if not run.usage.requests:
                raise
            # Something was sent and paid for: that is an outcome with a result, no wrong argument.
            return _outcome(run, StopReason.FAILED, str(error), type(error).__name__)
        except LimitReached as limit:
            return _outcome(run, StopReason(limit.stop_reason), str(limit), "LimitReached")
        except ProviderError as error:
            return _outcome(run, StopReason.of_fault(error.fault), str(error), "ProviderError")
        except OfficeError as error:
            return _outcome(run, StopReason.FAILED, str(error), type(error).__name__)
        except Exception as error:
            log.exception("run %s failed", self.run_id)
            return _outcome(run, StopReason.FAILED, f"{type(error).__name__}: {said_by(error)}", type(error).__name__)
        if not isinstance(ended, AgentResult):
            what = f"the orchestrator returned a {type(ended).__name__} and no AgentResult"
            return _outcome(run, StopReason.FAILED, what, "PluginBrokenError")
        return self._typed(ended)

    def _typed(self, ended: AgentResult) -> AgentResult:
        """A success must have the output that was asked for, also where no agent answered last."""
        wanted = self._order.output
        if wanted is None or not ended.success or ended.output is not None:
            return ended
        try:
            return replace(ended, output=wanted.read(ended.content))
        except OutputError as error:
            return replace(ended, stop_reason=StopReason.FAILED, error=str(error), error_type="OutputError")

    async def _entry(self, run: Run, orchestrator: Orchestrator, asking: Asking) -> str:
        """The entry agent, found within the run's time; empty where nobody has to start. Raises `LimitReached`."""
        if not getattr(orchestrator, "needs_entry", True):
            return ""
        most = self.limits.max_seconds
        try:
            async with asyncio.timeout(most) as timer:
                return await Routing(self._office, self._order, asking).entry(run)
        except TimeoutError:
            if most is None or not timer.expired():
                raise
            late = "the run's time was used up before an agent was chosen"
            raise LimitReached("max_seconds", most, most, StopReason.TIMEOUT, detail=late) from None

    def _desk(self, run: Run, setups: Setups, asking: Asking, entry: str) -> OfficeDesk:
        order = self._order
        desk = OfficeDesk(
            run,
            self._office.roster,
            setups,
            asking,
            entry,
            limits=order.limits,
            output=order.output,
            history=order.history,
            prompt=order.prompt,
        )
        desk.require([entry] if entry else [])
        return desk

    def _end(self, run: Run, ended: AgentResult) -> None:
        usage = run.usage
        seconds = run.clock.monotonic() - run.started
        self.events.emit(
            ev.RunEnd,
            agent=ended.agent,
            stop_reason=str(ended.stop_reason),
            usage=usage,
            error=ended.error,
            seconds=seconds,
            by_agent=dict(run.by_agent),
        )
        self.result = Result(
            run_id=self.run_id,
            stop_reason=ended.stop_reason,
            content=ended.content,
            output=ended.output,
            error=ended.error,
            error_type=ended.error_type,
            fault=ended.fault,
            usage=usage,
            by_agent=dict(run.by_agent),
            agent=ended.agent or None,
            chain=tuple(run.chain),
            failures=tuple(run.failures),
            messages=ended.messages,
            nodes=dict(run.nodes),
            events_dropped=self.events_dropped,
            seconds=seconds,
        )


def _outcome(run: Run, reason: StopReason, error: str, error_type: str) -> AgentResult:
    """A run that did not end with an agent's result; what the last agent had is kept."""
    last = run.latest
    ended = AgentResult(agent="", stop_reason=reason) if last is None else replace(last, stop_reason=reason)
    ended.error, ended.error_type, ended.fault, ended.output, ended.transfer = error, error_type, None, None, None
    return ended
