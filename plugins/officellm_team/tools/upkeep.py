"""The tools that keep memories in order: maintenance, limits, duplicates, documents, data subjects, other stores."""

from __future__ import annotations

from typing import Any, Literal

from officellm_team.board import chroma, portable, retention, subjects, upkeep
from officellm_team.tools.base import Tools, board_tool


class UpkeepTools(Tools):
    """Work on many memories at once; most of it is off until a team file allows it."""

    @board_tool(gated=True)
    def chroma_sync(
        self,
        max_items: int = 50,
        direction: Literal["both", "to_chroma", "from_chroma"] = "both",
        reset_stalled: bool = True,
    ) -> dict[str, Any]:
        """Bring memories and a Chroma collection to the same state.

        Args:
            max_items: the most to push, and the most to pull
            reset_stalled: try again what failed before; each sync does so anyway
        """
        return chroma.sync(self.board, self.caller, max_items=max_items, direction=direction)

    @board_tool(gated=True)
    def memory_maintenance(
        self, decay: bool = True, purge_expired: bool = True, prune_orphan_embeddings: bool = True
    ) -> dict[str, Any]:
        """Let old memories fade, remove what expired or exceeds a limit (archived first), tidy the database."""
        return upkeep.maintain(
            self.board,
            self.caller,
            decay=decay,
            purge_expired=purge_expired,
            prune_embeddings=prune_orphan_embeddings,
        )

    @board_tool()
    def memory_consolidate(self, type_filter: str = "", agent_filter: str = "", threshold: int = 20) -> dict[str, Any]:
        """Put a summary in the place of your oldest memories, where there are more than `threshold` of one type."""
        return upkeep.consolidate(
            self.board, self.caller, type_filter=type_filter, agent_filter=agent_filter, threshold=threshold
        )

    @board_tool()
    def memory_dedup(self, threshold: float = 0.92, dry_run: bool = True) -> dict[str, Any]:
        """Find memories of yours that say the same.

        Args:
            threshold: how alike, up to 1
            dry_run: only say which; otherwise the most important of each group stays
        """
        return upkeep.dedup(self.board, self.caller, threshold=threshold, dry_run=dry_run)

    @board_tool(gated=True)
    def memory_set_retention(
        self, agent_id: str, max_memories: int = 1000, ttl_days: int = 0, auto_archive: int = 1
    ) -> dict[str, Any]:
        """Limit what an agent keeps; maintenance applies it.

        Args:
            max_memories: the newest stay; 0 is no limit
            ttl_days: older ones go; 0 is no limit
            auto_archive: 1 archives what goes, 0 does not
        """
        return retention.set_policy(
            self.board, agent_id, max_memories=max_memories, ttl_days=ttl_days, auto_archive=bool(auto_archive)
        )

    @board_tool(gated=True, reads=True)
    def memory_export(self, agent_filter: str = "", type_filter: str = "", since: str = "") -> dict[str, Any]:
        """All memories that you can see as one document, with vectors and links.

        Args:
            since: ISO 8601: only what was changed then or later
        """
        return portable.export(self.board, self.caller, agent_filter=agent_filter, type_filter=type_filter, since=since)

    @board_tool(gated=True)
    def memory_import(self, data: str) -> dict[str, Any]:
        """Read what memory_export gave, as JSON text. Doing it again changes nothing."""
        return portable.import_(self.board, self.caller, data)

    @board_tool(gated=True)
    def gdpr_export(self, user_id: str) -> dict[str, Any]:
        """All there is about a person. The request is logged."""
        return subjects.export_subject(self.board, user_id)

    @board_tool(gated=True)
    def gdpr_forget(self, user_id: str) -> dict[str, Any]:
        """Erase all there is about a person, for good. The request is logged."""
        return subjects.forget_subject(self.board, user_id)

    @board_tool(reads=True)
    def memory_cost_report(self) -> dict[str, int]:
        """How often memories were embedded, searched and written."""
        return upkeep.cost_report(self.board)
