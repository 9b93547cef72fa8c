"""The tools of notifications."""

from __future__ import annotations

from typing import Any

from officellm_team.board import notifications
from officellm_team.tools.base import Tools, board_tool


class NotificationTools(Tools):
    """What agents tell each other."""

    @board_tool()
    def notify(
        self,
        agent_id: str,
        kind: str,
        payload: dict[str, Any] = {},  # noqa: B006 - a schema's default, never changed
    ) -> dict[str, Any]:
        """Tell another agent something; it may be woken by it.

        Args:
            agent_id: Who is told.
            kind: A word that says what it is about.
            payload: The details. A `task_id` in it ties the notification to that task.
        """
        return notifications.notify(self.board, self.caller, agent_id, kind, payload)

    @board_tool(caller="agent_id", reads=True)
    def notifications_poll(self, agent_id: str = "", unread_only: bool = True, limit: int = 20) -> dict[str, Any]:
        """List what you were told, newest first.

        Args:
            unread_only: Leave out what you acknowledged.
            limit: At most so many.
        """
        found = notifications.poll(self.board, self.caller, unread_only=unread_only, limit=limit)
        return {"notifications": found, "count": len(found)}

    @board_tool()
    def notifications_ack(self, notification_id: int) -> dict[str, Any]:
        """Mark one of your notifications as read."""
        return notifications.ack(self.board, self.caller, notification_id)

    @board_tool(caller="agent_id")
    def notifications_ack_all(self, agent_id: str = "") -> dict[str, Any]:
        """Mark all of your notifications as read. Work that is queued for you stays queued."""
        return {"acked": notifications.ack_all(self.board, self.caller)}
