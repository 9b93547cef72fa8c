"""The tools for links between memories."""

from __future__ import annotations

from typing import Any, Literal

from officellm_team.board import links
from officellm_team.tools.base import Tools, board_tool

LinkType = Literal[
    "related",
    "supports",
    "contradicts",
    "extends",
    "supersedes",
    "references",
    "consolidates",
    "message",
    "handoff",
]


class LinkTools(Tools):
    """Links between memories that the caller can see."""

    @board_tool()
    def memory_link(self, from_id: str, to_id: str, relationship_type: LinkType = "related") -> dict[str, Any]:
        """Link a memory to another one; a link that is there already stays one."""
        return links.link(self.board, self.caller, from_id, to_id, relationship_type)

    @board_tool(reads=True)
    def memory_graph(self, memory_id: str, depth: int = 1) -> dict[str, Any]:
        """The memories around one, and the links between them.

        Args:
            depth: how many links away, from 1 to 3
        """
        return links.graph(self.board, self.caller, memory_id, depth)
