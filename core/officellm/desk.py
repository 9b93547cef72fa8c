"""What an orchestrator works at: it runs agents and counts transfers, all within the run's limits."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from officellm import events as ev
from officellm.agentloop import AgentRun
from officellm.asking import Asking, missing_key
from officellm.assignment import Assignment
from officellm.errors import ConfigError, LimitReached
from officellm.limits import Limits
from officellm.messages import Message
from officellm.outputs import OutputType
from officellm.protocols import Spend, Spent
from officellm.results import AgentResult, Hop, StopReason
from officellm.roster import Roster, Setups
from officellm.tasks import Task
from officellm.tools import Tool
from officellm.toolset import worker_prompt
from officellm.worstcase import WorstCase, worst_case

if TYPE_CHECKING:
    from officellm.agents import Agent
    from officellm.run import Run
    from officellm.setup import Setup
    from officellm.workflows.nodes import NodeResult


class OfficeDesk:
    """The `Desk` of one run."""

    def __init__(
        self,
        run: Run,
        roster: Roster,
        setups: Setups,
        asking: Asking,
        entry: str,
        *,
        limits: Limits,
        output: OutputType | None,
        history: Sequence[Message],
        prompt: str | None = None,
    ) -> None:
        self.task = run.task
        self.entry = entry
        self.agents: Mapping[str, Agent] = roster.all()
        self.prompt = run.task.prompt() if prompt is None else prompt
        self.history = history
        self.deps = run.deps
        self.clock = run.clock
        self.deadline = run.deadline
        self.ask = asking.ask
        self._run = run
        self._roster = roster
        self._setups = setups
        self._limits = limits
        self._output = output
        self._calls = 0
        #: What the keys of an orchestrator inside another begin with.
        self._prefix = ""

    async def call(
        self,
        agent: str,
        prompt: str | None = None,
        *,
        key: str = "",
        history: Sequence[Message] = (),
        transfers: Sequence[str] = (),
        final: bool = False,
        output_type: Any = None,
        tools: Sequence[Tool] = (),
        max_seconds: float | None = None,
    ) -> AgentResult:
        """Run one agent to its end; see `Desk`."""
        setup = self._setups.get(agent)
        if not key:
            self._calls += 1
            history = [*self.history, *history] if self._calls == 1 else history
        output = self._output if final and self._output is not None else None
        if output is None and output_type is not None:
            output = output_type if isinstance(output_type, OutputType) else OutputType(output_type)
        work = Assignment(
            prompt=self.prompt if prompt is None else prompt,
            scope=f"{self._prefix}{key or self._calls}:{agent}",
            history=history,
            toolset=self._setups.with_extras(setup, transfers, tools),
            limits=self._of(setup),
            output=output,
            deadline=self._deadline(setup, max_seconds, top=True),
        )
        return await self._start(setup, work)

    @property
    def nodes(self) -> Mapping[str, NodeResult]:
        """The nodes of this desk's workflows so far."""
        return {node.id: node for name, node in self._run.nodes.items() if name == self._prefix + node.id}

    def require(self, agents: Iterable[str]) -> None:
        """Raises `ConfigError` for agents that are not there, or whose key or a worker's is not set."""
        wanted, missing = list(dict.fromkeys(agents)), dict[str, str]()
        for name in wanted:
            variable = missing_key(self._setups.get(name).provider)
            if variable is not None:
                missing[name] = variable
            wanted += [worker for worker in self._roster.workers(name) if worker not in wanted]
        if missing:
            said = (
                f"agent {name!r}: the environment variable {variable} is not set" for name, variable in missing.items()
            )
            raise ConfigError("; ".join(said))

    def worst_case(self, agents: Sequence[str], *, beside: int = 0) -> WorstCase:
        """The most that runs of these agents can come to."""
        setups = [self._setups.get(name) for name in agents]
        return worst_case([(setup, self._of(setup)) for setup in setups], self._run.limits, beside=beside)

    def announce(self, plan: Mapping[str, Any]) -> None:
        """Tell of a plan that is about to be run."""
        self._run.events.emit(ev.PlanEvent, plan=plan)

    def report(self, node: NodeResult) -> None:
        """Tell where a node stands."""
        name = self._prefix + node.id
        self._run.nodes[name] = node
        if node.state == "failed" and node.ended is not None and not node.inside:
            reason = StopReason.FAILED if node.ended.success else node.ended.stop_reason
            self._run.failures.append(replace(node.ended, stop_reason=reason, error=node.error))
        if self._run.events:
            self._run.events.emit(
                ev.NodeEvent,
                agent=node.agent,
                node=name,
                state=str(node.state),
                error=node.error,
                cause=node.cause,
                attempts=node.attempts,
                round=node.rounds,
                seconds=node.seconds,
            )

    def under(self, key: str, prompt: str, *, final: bool = False) -> OfficeDesk:
        """A desk for an orchestrator inside this one."""
        inner = copy.copy(self)
        inner.task = Task.of(prompt) if prompt.strip() else self.task
        inner.prompt = prompt
        inner.history = ()
        inner._prefix = f"{self._prefix}{key}/"
        inner._calls = 0
        if not final:
            inner._output = None
        return inner

    async def _start(self, setup: Setup, work: Assignment) -> AgentResult:
        run = self._run
        spend = Spend(kind="agent", scope=work.scope, agent=setup.name, depth=work.depth)
        try:
            reservation = run.policies.reserve(spend)
        except LimitReached as limit:
            return AgentResult(
                agent=setup.name,
                stop_reason=StopReason(limit.stop_reason),
                error=str(limit),
                error_type="LimitReached",
            )

        async def run_worker(name: str, arguments: dict[str, Any], scope: str) -> AgentResult:
            return await self._run_worker(name, arguments, scope, work)

        try:
            return await AgentRun(run, setup, work, run_worker).go()
        finally:
            run.policies.settle(reservation, spend, Spent())

    async def _run_worker(self, name: str, arguments: dict[str, Any], scope: str, caller: Assignment) -> AgentResult:
        setup = self._setups.get(name)
        work = Assignment(
            prompt=worker_prompt(setup.agent, arguments, self.task.priority),
            scope=scope,
            depth=caller.depth + 1,
            parent=caller.scope,
            toolset=setup.toolset,
            limits=self._of(setup),
            deadline=self._deadline(setup, None, top=False),
        )
        return await self._start(setup, work)

    def _of(self, setup: Setup) -> Limits:
        """Limits of one agent run: the call's and the task's, then the agent's, then the team's."""
        return Limits.merge(self._limits, setup.limits) if self._limits.model_fields_set else setup.limits

    def _deadline(self, setup: Setup, max_seconds: float | None, *, top: bool) -> float | None:
        """When this agent run must stop. The run's own deadline cancels the top, and with it every worker."""
        bounds = [one for one in (setup.agent.limits.max_seconds, max_seconds) if one is not None]
        moments = [self._run.clock.monotonic() + min(bounds)] if bounds else []
        if top and self._run.deadline is not None:
            moments.append(self._run.deadline)
        return min(moments, default=None)

    def reserve_transfer(self, source: str, target: str, reason: str = "") -> None:
        """Count a transfer before it happens. Raises `LimitReached`."""
        run = self._run
        spend = Spend(kind="transfer", scope="run", agent=source, tool=target)
        hop = Hop(agent=target, by=source, reason=reason)
        try:
            run.policies.settle(run.policies.reserve(spend), spend, Spent())
        except LimitReached as limit:
            if limit.stop_reason == StopReason.LOOP_DETECTED:
                run.chain.append(hop)  # the visit that closes the circle belongs into the picture
            raise
        run.chain.append(hop)
        if run.events:
            run.events.emit(ev.TransferEvent, agent=source, target=target, reason=reason)
