"""Names of the tools that the board offers, so that a team file may allow them before there is a board."""

from __future__ import annotations

from fnmatch import fnmatchcase

BOARD = "board"

BOARD_TOOLS = frozenset(
    """
    memory_write memory_search memory_suggest memory_get memory_update memory_delete memory_maintenance
    memory_consolidate memory_dedup memory_feedback memory_history memory_link memory_graph memory_verify
    memory_set_retention memory_export memory_import memory_cost_report memory_handoff memory_inbox memory_inbox_ack
    conversation_start conversation_append conversation_search conversation_summarize
    chroma_sync gdpr_export gdpr_forget
    agent_register agent_heartbeat agent_list agent_get agent_offline
    notify notifications_poll notifications_ack notifications_ack_all
    task_create task_assign task_update task_set_result task_get task_list task_tree
    """.split()  # noqa: SIM905 - quotes around each would be a page of noise
)


def names_of(pattern: str) -> list[str]:
    """The board's tools that a name or pattern means, `board.*` say, sorted."""
    bare = pattern.removeprefix(f"{BOARD}.")
    return sorted(name for name in BOARD_TOOLS if fnmatchcase(name, bare))


def is_board_tool(pattern: str) -> bool:
    """Whether a name or pattern of an allow list means tools of the board: `task_get`, `board.task_get`, `board.*`."""
    return pattern.startswith(f"{BOARD}.") or pattern in BOARD_TOOLS
