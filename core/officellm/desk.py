"""What an orchestrator works at: it runs agents and counts transfers, all within the run's limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from officellm import events as ev
from officellm.agentloop import AgentRun
from officellm.assignment import Assignment
from officellm.errors import LimitReached
from officellm.limits import Limits
from officellm.messages import Message
from officellm.outputs import OutputType
from officellm.protocols import Spend, Spent
from officellm.results import AgentResult, Hop, StopReason
from officellm.roster import Roster, Setups
from officellm.toolset import worker_prompt

if TYPE_CHECKING:
    from officellm.agents import Agent
    from officellm.run import Run
    from officellm.setup import Setup


class OfficeDesk:
    """The `Desk` of one run."""

    def __init__(
        self,
        run: Run,
        roster: Roster,
        setups: Setups,
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
        self._run = run
        self._roster = roster
        self._setups = setups
        self._limits = limits
        self._output = output
        self._history = history
        self._prompt = prompt
        self._calls = 0

    async def call(
        self,
        agent: str,
        prompt: str | None = None,
        *,
        history: Sequence[Message] = (),
        transfers: Sequence[str] = (),
        final: bool = False,
    ) -> AgentResult:
        """Run one agent to its end; see `Desk`."""
        self._calls += 1
        setup = self._setups.get(agent)
        limits = self._of(setup)
        first = self._calls == 1
        if prompt is None:
            prompt = self._prompt if self._prompt is not None else self.task.prompt()
        work = Assignment(
            prompt=prompt,
            scope=f"{self._calls}:{agent}",
            history=[*self._history, *history] if first else history,
            toolset=self._setups.with_transfers(setup, transfers),
            limits=limits,
            output=self._output if final else None,
            deadline=self._deadline(setup, top=True),
        )
        return await self._start(setup, work)

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
            deadline=self._deadline(setup, top=False),
        )
        return await self._start(setup, work)

    def _of(self, setup: Setup) -> Limits:
        """Limits of one agent run: the call's and the task's, then the agent's, then the team's."""
        return Limits.merge(self._limits, setup.limits) if self._limits.model_fields_set else setup.limits

    def _deadline(self, setup: Setup, *, top: bool) -> float | None:
        """When this agent run must stop. The run's own deadline cancels the top, and with it every worker."""
        own = setup.agent.limits.max_seconds
        moments = [] if own is None else [self._run.clock.monotonic() + own]
        if top and self._run.deadline is not None:
            moments.append(self._run.deadline)
        return min(moments, default=None)

    def reserve_transfer(self, source: str, target: str, reason: str = "") -> None:
        """Count a transfer before it happens. Raises `LimitReached`."""
        run = self._run
        spend = Spend(kind="transfer", scope="run", agent=source, tool=target)
        run.policies.settle(run.policies.reserve(spend), spend, Spent())
        run.chain.append(Hop(agent=target, by=source, reason=reason))
        if run.events:
            run.events.emit(ev.TransferEvent, agent=source, target=target, reason=reason)
