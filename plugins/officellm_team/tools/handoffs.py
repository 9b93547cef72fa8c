"""The tools of handoffs."""

from __future__ import annotations

from typing import Any

from officellm_team.board import handoffs
from officellm_team.tools.base import Tools, board_tool


class HandoffTools(Tools):
    """Work passed from agent to agent."""

    @board_tool(caller="from_agent")
    def memory_handoff(
        self,
        *,
        from_agent: str = "",
        to_agent: str,
        task: str,
        context_ids: list[str] = [],  # noqa: B006 - a schema's default, never changed
        note: str = "",
        task_id: str = "",
    ) -> dict[str, Any]:
        """Pass work to another registered agent, with the memories that it needs. It is woken for it.

        Args:
            to_agent: Who gets it.
            task: What is to be done.
            context_ids: Full ids of memories that help.
            note: Anything else that the other one should know.
            task_id: The full id of the task that this is about, if there is one.
        """
        return handoffs.hand_over(
            self.board, self.caller, to_agent, task, context_ids=context_ids, note=note, task_id=task_id
        )

    @board_tool(caller="agent_id", reads=True)
    def memory_inbox(self, agent_id: str = "", unread_only: bool = True, limit: int = 20) -> dict[str, Any]:
        """List what others handed to you, newest first.

        Args:
            unread_only: Leave out what you acknowledged.
            limit: At most so many.
        """
        found = handoffs.inbox(self.board, self.caller, unread_only=unread_only, limit=limit)
        return {"handoffs": found, "count": len(found)}

    @board_tool()
    def memory_inbox_ack(self, memory_id: str) -> dict[str, Any]:
        """Mark one handoff of your inbox as read, by its full id."""
        return handoffs.ack(self.board, self.caller, memory_id)
