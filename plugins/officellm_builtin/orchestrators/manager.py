"""The orchestrators `manager` and `none`: the entry agent works to its end, calling its workers like tools.

They differ only in who starts: the team's manager, or the one agent that was named.
"""

from __future__ import annotations

from typing import Any

from officellm import AgentResult, Desk, Task, hookimpl


class Manager:
    """Runs the entry agent to its end."""

    async def work(self, task: Task, desk: Desk) -> AgentResult:
        """The entry agent's result."""
        return await desk.call(desk.entry, final=True)


@hookimpl
def make_orchestrator(name: str, settings: Any) -> Manager:
    return Manager()
