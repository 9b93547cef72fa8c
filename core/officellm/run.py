"""One run's shared state: identity, limits, deadline, events, usage. Every model request of a run is made here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from officellm import events as ev
from officellm.errors import ConfigError, LimitReached
from officellm.messages import (
    Assistant,
    CallDelta,
    Finished,
    ReasoningDelta,
    Reply,
    Request,
    TextDelta,
    ToolCall,
    Usage,
)
from officellm.prices import cost
from officellm.protocols import LimitPolicy, Provider, RunInfo, Spend, Spent

if TYPE_CHECKING:
    from officellm.clock import Clock
    from officellm.events import EventStream
    from officellm.host import Host
    from officellm.limits import Limits
    from officellm.results import AgentResult, Hop
    from officellm.tasks import Priority
    from officellm.workflows.nodes import NodeResult

log = logging.getLogger("officellm")


class Policies:
    """All limit policies of a run, asked in order; a refusal gives back what earlier ones had reserved."""

    __slots__ = ("_policies", "_priority")

    def __init__(self, policies: Sequence[LimitPolicy], priority: Priority) -> None:
        self._policies = tuple(policies)
        self._priority = priority

    def reserve(self, spend: Spend) -> list[object]:
        """One reservation a policy. Raises `LimitReached`."""
        spend.priority = self._priority
        taken: list[object] = []
        try:
            for policy in self._policies:
                taken.append(policy.reserve(spend))
        except LimitReached:
            self.settle(taken, spend, Spent())
            raise
        return taken

    def settle(self, taken: Sequence[object], spend: Spend, spent: Spent) -> str | None:
        """Settle every reservation; the first warning, if any."""
        warning = None
        for policy, reservation in zip(self._policies, taken, strict=False):
            said = policy.settle(reservation, spend, spent)
            warning = warning or said
        return warning


class Tally:
    """What one agent run used, counted as it happens."""

    __slots__ = ("_agent", "_run", "partial", "usage")

    def __init__(self, run: Run, agent: str) -> None:
        self._run = run
        self._agent = agent
        self.usage = Usage()
        #: The text so far of a reply that has not ended.
        self.partial: list[str] = []

    def add(self, usage: Usage) -> None:
        """Count for this agent run, and for the run."""
        self.usage = self.usage + usage
        known = self._run.by_agent.get(self._agent)
        self._run.by_agent[self._agent] = usage if known is None else known + usage


class Run:
    """The state that all agents of one run share."""

    def __init__(
        self,
        *,
        info: RunInfo,
        host: Host,
        events: EventStream,
        policies: Policies,
        limits: Limits,
        clock: Clock,
        deps: Any = None,
    ) -> None:
        self.info = info
        self.id = info.run_id
        self.task = info.task
        self.host = host
        self.events = events
        self.policies = policies
        self.limits = limits
        self.clock = clock
        self.deps = deps
        self.started = clock.monotonic()
        self.deadline = None if limits.max_seconds is None else self.started + limits.max_seconds
        self.by_agent: dict[str, Usage] = {}
        self.chain: list[Hop] = []
        self.failures: list[AgentResult] = []
        #: How the last agent run of the first level ended, also by cancellation.
        self.latest: AgentResult | None = None
        self.nodes: dict[str, NodeResult] = {}
        self._unmeasured: set[tuple[str, str]] = set()
        self.judged = host.judged
        most = limits.max_concurrency
        self._gate: AbstractAsyncContextManager[Any] = nullcontext() if most is None else asyncio.Semaphore(most)

    @property
    def usage(self) -> Usage:
        """The run's totals so far."""
        total = Usage()
        for usage in self.by_agent.values():
            total = total + usage
        return total

    async def ask(self, provider: Provider, request: Request, spend: Spend, tally: Tally) -> Reply:
        """One model request, reserved before and counted after. Raises `LimitReached`, `ProviderError`."""
        async with self._gate:
            return await self._ask(provider, request, spend, tally)

    async def _ask(self, provider: Provider, request: Request, spend: Spend, tally: Tally) -> Reply:
        reservation = self.policies.reserve(spend)
        spent = Spent()
        try:
            if self.events:
                self.events.emit(
                    ev.ModelRequest,
                    agent=spend.agent,
                    span=spend.scope,
                    turn=spend.turn,
                    model=request.model,
                    messages=len(request.messages),
                )
                self._watch(request, spend)
            spent.usage = Usage(requests=1, complete=False)
            reply = await self._fold(provider, request, spend, tally)
            spent.usage = self._price(request.model, reply.usage)
            reply = replace(reply, usage=spent.usage)
            self._warn_of_unmeasured(spend, request.model, spent.usage)
        except ConfigError:
            spent.usage = Usage()  # a request that cannot be built was not sent
            raise
        finally:
            self.policies.settle(reservation, spend, spent)
            tally.add(spent.usage)
        return reply

    def _warn_of_unmeasured(self, spend: Spend, model: str, usage: Usage) -> None:
        """Say once a model that a limit cannot hold, as what it counts is not known."""
        levels = [self.limits] if spend.limits is None else [self.limits, spend.limits]
        which, why = "", ""
        if usage.cost_usd is None and any(level.max_cost_usd is not None for level in levels):
            which, why = "max_cost_usd", "its price is unknown"
        if not usage.complete and any(level.max_total_tokens is not None for level in levels):
            which, why = "max_total_tokens", "its provider sends no token counts"
        if which and (which, model) not in self._unmeasured:
            self._unmeasured.add((which, model))
            message = f"{which} does not hold for model {model!r}: {why}"
            log.warning("run %s: %s", self.id, message, extra={"told": True})
            self.events.emit(ev.WarningEvent, agent=spend.agent, span=spend.scope, message=message)

    def _price(self, model: str, usage: Usage) -> Usage:
        return Usage(
            usage.input,
            usage.output,
            usage.cached,
            usage.reasoning,
            requests=1,
            cost_usd=cost(model, usage) if usage.complete else None,
            complete=usage.complete,
        )

    def _watch(self, request: Request, spend: Spend) -> None:
        def on_retry(attempt: int, fault: Any, seconds: float) -> None:
            self.events.emit(
                ev.ModelRetry,
                agent=spend.agent,
                span=spend.scope,
                attempt=attempt,
                fault=fault.kind,
                message=fault.message,
                seconds=seconds,
                status=fault.status,
            )

        request.on_retry = on_retry
        request.stream = self.events.wants_text

    async def _fold(self, provider: Provider, request: Request, spend: Spend, tally: Tally) -> Reply:
        """The reply is the fold of the deltas: `Finished`, or without it what text and calls add up to."""
        show = self.events.wants_text
        texts = tally.partial = []
        reasoning: list[str] = []
        calls: dict[int, tuple[str, str, str]] = {}
        async with aclosing(provider.stream(request)) as deltas:  # type: ignore[type-var]
            async for delta in deltas:
                if isinstance(delta, Finished):
                    tally.partial = []
                    return delta.reply
                if isinstance(delta, TextDelta):
                    texts.append(delta.text)
                elif isinstance(delta, ReasoningDelta):
                    reasoning.append(delta.text)
                else:
                    id, name, arguments = calls.get(delta.index, ("", "", ""))
                    calls[delta.index] = (id or delta.id, name or delta.name, arguments + delta.arguments)
                if show:
                    self._show(delta, spend)
        made = tuple(ToolCall.parse(*parts) for _, parts in sorted(calls.items()))
        tally.partial = []
        message = Assistant("".join(texts), made, "".join(reasoning))
        return Reply(message, "tool_calls" if made else "stop", Usage(complete=False))

    def _show(self, delta: TextDelta | ReasoningDelta | CallDelta, spend: Spend) -> None:
        head = {"agent": spend.agent, "span": spend.scope}
        if isinstance(delta, TextDelta):
            self.events.emit(ev.TextDeltaEvent, text=delta.text, **head)
        elif isinstance(delta, ReasoningDelta):
            self.events.emit(ev.ReasoningDeltaEvent, text=delta.text, **head)
        else:
            self.events.emit(ev.CallDeltaEvent, index=delta.index, name=delta.name, arguments=delta.arguments, **head)
