"""The tools for conversations: threads of messages that everyone at the board can read."""

from __future__ import annotations

from typing import Any

from officellm_team.board import conversations
from officellm_team.tools.base import Tools, board_tool


class ConversationTools(Tools):
    """Threads, and the caller's messages in them."""

    @board_tool(caller="agent_id")
    def conversation_start(self, title: str, agent_id: str = "", model_id: str = "", tags: str = "") -> dict[str, Any]:
        """Open a conversation that everyone at the board can read and add to.

        Args:
            tags: separated by commas
        """
        return conversations.start(self.board, self.caller, title, model_id=model_id, tags=tags)

    @board_tool(caller="agent_id")
    def conversation_append(
        self,
        conversation_id: str,
        role: str,
        content: str,
        agent_id: str = "",
        model_id: str = "",
        embed: bool = True,
    ) -> dict[str, Any]:
        """Add a message to a conversation.

        Args:
            role: user, assistant, system or tool
            embed: whether it can be found by meaning too
        """
        return conversations.append(
            self.board, self.caller, conversation_id, role, content, model_id=model_id, embed=embed
        )

    @board_tool(reads=True)
    def conversation_search(self, query: str, k: int = 8) -> dict[str, Any]:
        """Search the messages of all conversations."""
        return conversations.search_messages(self.board, self.caller, query, k)

    @board_tool()
    def conversation_summarize(self, conversation_id: str, threshold: int = 20) -> dict[str, Any]:
        """Sum up a conversation, and keep the summary as a memory.

        Args:
            threshold: shorter ones, in messages, are left as they are
        """
        return conversations.summarize(self.board, self.caller, conversation_id, threshold)
