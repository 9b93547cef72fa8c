"""The tools of the registry of agents."""

from __future__ import annotations

from typing import Any

from officellm_team.board import agents
from officellm_team.tools.base import Tools, board_tool


class AgentTools(Tools):
    """Who is there."""

    @board_tool(caller="agent_id")
    def agent_register(
        self,
        agent_id: str = "",
        role: str = "",
        capabilities: list[str] = [],  # noqa: B006 - a schema's default, never changed
        metadata: dict[str, Any] = {},  # noqa: B006
    ) -> dict[str, Any]:
        """Register yourself as an active agent, so that others can give you work. What was known of you is replaced.

        Args:
            role: What you are in the team.
            capabilities: What you are good at.
            metadata: Anything else that others should know.
        """
        return agents.register(self.board, self.caller, role=role, capabilities=capabilities, metadata=metadata)

    @board_tool(caller="agent_id")
    def agent_heartbeat(self, agent_id: str = "") -> dict[str, Any]:
        """Say that you are alive: an agent that was not heard of for 90 seconds is shown as offline."""
        return agents.heartbeat(self.board, self.caller)

    @board_tool(reads=True)
    def agent_list(self, status: str = "", role: str = "") -> dict[str, Any]:
        """List the registered agents, those seen last first.

        Args:
            status: Only those that are active, idle or offline.
            role: Only those with this role.
        """
        found = agents.listing(self.board, status=status, role=role)
        return {"agents": found, "count": len(found)}

    @board_tool(reads=True)
    def agent_get(self, agent_id: str) -> dict[str, Any]:
        """Show one agent: role, status, capabilities, when it was seen last."""
        return agents.get(self.board, agent_id)

    @board_tool(caller="agent_id", gated=True)
    def agent_offline(self, agent_id: str = "") -> dict[str, Any]:
        """Say that you leave: you are shown as offline until you register or send a heartbeat."""
        return agents.offline(self.board, self.caller)
