"""What a team file may say and probably should not, as far as the board is concerned."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from officellm import nearest
from officellm_team.cli.extras import needing

if TYPE_CHECKING:
    from officellm import TeamFile

#: Kinds that the board itself sends.
KINDS = (
    "task_assigned",
    "task_completed",
    "task_failed",
    "task_blocked",
    "task_cancelled",
    "handoff",
    "delivery_failed",
)


#: Kinds that bring work. Without them agents are told of things, and given nothing to do.
_WORK = ("task_assigned", "handoff")


def doubts(team: TeamFile) -> list[str]:
    """One line for each doubt: agents that cannot do their work or do too much, and kinds that wake nobody."""
    with needing("team"):
        from officellm_team.tools.subjects import all_tools

    gated = {name for name, tool in all_tools().items() if tool.marks.gated}
    found = []
    for member in team.names.members():
        block = member.block
        if block.tools.allow is None:
            continue
        allowed = _board_tools(block.tools.allow) - _board_tools(block.tools.deny)
        if risky := sorted(allowed & gated):
            found.append(f"agent {block.name!r} may call tools that are off by default: {', '.join(risky)}")
        if "task_update" not in allowed:
            found.append(f"agent {block.name!r} has no task_update: it cannot close its tasks")
        if "memory_write" not in allowed:
            found.append(f"agent {block.name!r} has no memory_write: it cannot keep what others need")
    return [*found, *_deaf(team)]


def _board_tools(patterns: Sequence[str]) -> set[str]:
    from officellm_team.tools.subjects import all_tools

    bare = [pattern.removeprefix("board.") for pattern in patterns]
    return {name for name in all_tools() if any(fnmatchcase(name, pattern) for pattern in bare)}


def _deaf(team: TeamFile) -> list[str]:
    kinds = team.polling.notification_kinds if team.polling is not None else []
    if not kinds:
        return ["orchestrator.notification_kinds is empty: nothing would wake the team"]
    found = []
    for kind in kinds:
        if kind not in KINDS:
            found.append(f"notification kind {kind!r} is sent by nobody but `notify`.{nearest(kind, KINDS)}")
    for kind in _WORK:
        if kind not in kinds:
            found.append(f"{kind!r} is not among the notification kinds: no agent can be reached by it")
    return found
