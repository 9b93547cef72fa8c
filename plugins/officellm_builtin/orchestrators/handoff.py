"""The `handoff` orchestrator: an agent may hand the conversation over to another, within two bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, PositiveFloat

from officellm import (
    AgentResult,
    ConfigError,
    Desk,
    LimitReached,
    Message,
    ProviderError,
    StopReason,
    Task,
    TransferRequest,
    hookimpl,
    nearest,
)
from officellm_builtin.orchestrators._carry import summary
from officellm_builtin.orchestrators._markers import marked


class HandoffSettings(BaseModel):
    """What goes along with a transfer, and how long an agent may hold the conversation.

    `carry`: the task and what was asked (`query`), the whole conversation (`history`), or a model's summary of it.
    `markers` also takes `[HANDOFF:agent:reason] query` in an answer for a transfer. `hop_timeout` is in seconds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    carry: Literal["query", "history", "summary"] = "query"
    markers: bool = False
    hop_timeout: PositiveFloat | None = None


class Handoff:
    """Runs the entry agent, then whoever it transfers to. `max_transfers` and `max_visits` bound the chain."""

    def __init__(self, settings: HandoffSettings) -> None:
        self._settings = settings

    async def work(self, task: Task, desk: Desk) -> AgentResult:
        """The last agent's result; a limit keeps the last answer."""
        current = desk.entry
        prompt: str | None = None
        history: Sequence[Message] = ()
        answer = query = ""
        while True:
            targets = self._targets(current, desk)
            result = await desk.call(
                current,
                prompt,
                history=history,
                transfers=targets,
                final=True,
                max_seconds=self._settings.hop_timeout,
            )
            wanted = self._wanted(result, targets)
            if wanted is not None and result.transfer is None:
                result.content = ""  # a marker is no answer
            answer = result.content = result.content or answer
            if wanted is None:
                return result
            query = wanted.query or query
            try:
                if wanted.target not in targets:
                    raise ConfigError(
                        f"agent {current!r} cannot hand over to {wanted.target!r}.{nearest(wanted.target, targets)}"
                    )
                desk.reserve_transfer(current, wanted.target, wanted.reason)
                history, said = await self._carried(result, desk)
            except (LimitReached, ConfigError, ProviderError) as error:
                return _ended(result, error)
            prompt = _prompt(desk, current, wanted.reason, query, said, with_task=not history)
            current = wanted.target

    def _wanted(self, result: AgentResult, targets: Sequence[str]) -> TransferRequest | None:
        if result.transfer is not None or not (self._settings.markers and result.success and targets):
            return result.transfer
        return marked(result.content)

    async def _carried(self, result: AgentResult, desk: Desk) -> tuple[Sequence[Message], str]:
        """Messages that come before what the next agent is asked, and what is said of them."""
        if self._settings.carry == "history":
            return result.messages, ""
        if self._settings.carry == "summary":
            return (), await summary(result.messages, desk)
        return (), ""

    def _targets(self, name: str, desk: Desk) -> Sequence[str]:
        """Every other agent, sorted, unless the agent names some; its own workers are called, not transferred to."""
        agent = desk.agents[name]
        if agent.transfers is not None:
            return sorted(agent.transfers)
        workers = {worker if isinstance(worker, str) else worker.name for worker in agent.workers}
        return sorted(other for other in desk.agents if other != name and other not in workers)


def _prompt(desk: Desk, source: str, reason: str, query: str, said: str, *, with_task: bool) -> str:
    parts = [desk.prompt] if with_task else []
    parts.append(f"Handed over by: {source}")
    if reason:
        parts.append(f"Reason: {reason}")
    if said:
        parts.append(f"So far:\n{said}")
    if query:
        parts.append(f"Asked of you:\n{query}")
    return "\n\n".join(parts)


def _ended(result: AgentResult, error: LimitReached | ConfigError | ProviderError) -> AgentResult:
    """The result of the agent that could not hand over, with why."""
    reason = StopReason.FAILED
    if isinstance(error, LimitReached):
        reason = StopReason(error.stop_reason)
    elif isinstance(error, ProviderError):
        reason = StopReason.of_fault(error.fault)
    return replace(result, stop_reason=reason, error=str(error), error_type=type(error).__name__, transfer=None)


@hookimpl
def settings_model(kind: str, name: str) -> type[BaseModel]:
    return HandoffSettings


@hookimpl
def make_orchestrator(name: str, settings: HandoffSettings) -> Handoff:
    return Handoff(settings)
