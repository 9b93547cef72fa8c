"""The `handoff` orchestrator: an agent may hand the conversation over to another, within two bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from officellm import AgentResult, Desk, LimitReached, StopReason, Task, hookimpl


class Handoff:
    """Runs the entry agent, then whoever it transfers to. `max_transfers` and `max_visits` bound the chain."""

    async def work(self, task: Task, desk: Desk) -> AgentResult:
        """The last agent's result; a limit keeps the last answer."""
        current = desk.entry
        prompt: str | None = None
        answer = query = ""
        while True:
            result = await desk.call(current, prompt, transfers=self._targets(current, desk), final=True)
            answer = result.content = result.content or answer
            wanted = result.transfer
            if wanted is None:
                return result
            try:
                desk.reserve_transfer(current, wanted.target, wanted.reason)
            except LimitReached as limit:
                result.stop_reason = StopReason(limit.stop_reason)
                result.error = str(limit)
                result.error_type = "LimitReached"
                return result
            query = wanted.query or query
            prompt = self._prompt(task, current, wanted.reason, query)
            current = wanted.target

    def _targets(self, name: str, desk: Desk) -> Sequence[str]:
        """Every other agent, sorted, unless the agent names some; its own workers are called, not transferred to."""
        agent = desk.agents[name]
        if agent.transfers is not None:
            return sorted(agent.transfers)
        workers = {worker if isinstance(worker, str) else worker.name for worker in agent.workers}
        return sorted(other for other in desk.agents if other != name and other not in workers)

    def _prompt(self, task: Task, source: str, reason: str, query: str) -> str:
        parts = [task.prompt(), f"Handed over by: {source}"]
        if reason:
            parts.append(f"Reason: {reason}")
        if query:
            parts.append(f"Asked of you:\n{query}")
        return "\n\n".join(parts)


@hookimpl
def make_orchestrator(name: str, settings: Any) -> Handoff:
    return Handoff()
