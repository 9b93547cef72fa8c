"""What a team file may say and probably should not, as far as the board is concerned."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

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
    "delivery_dead",
)


def doubts(team: TeamFile) -> list[str]:
    """One line for each doubt: gated tools that are allowed, agents that cannot close a task, kinds nobody sends."""
    from officellm_team.tools.subjects import all_tools

    known = all_tools()
    gated = {name for name, tool in known.items() if tool.marks.gated}
    found = []
    for member in team.names.members():
        block = member.block
        if block.tools.allow is None:
            continue
        allowed = {
            name
            for name in known
            for pattern in block.tools.allow
            if fnmatchcase(name, pattern.removeprefix("board."))
            and not any(fnmatchcase(name, denied.removeprefix("board.")) for denied in block.tools.deny)
        }
        if risky := sorted(allowed & gated):
            found.append(f"agent {block.name!r} may call tools that are off by default: {', '.join(risky)}")
        if "task_update" not in allowed:
            found.append(f"agent {block.name!r} has no task_update: it cannot close its tasks")
    polling = team.polling
    for kind in polling.notification_kinds if polling is not None else ():
        if kind not in KINDS:
            found.append(f"notification kind {kind!r} is sent by nobody but `notify`")
    return found
