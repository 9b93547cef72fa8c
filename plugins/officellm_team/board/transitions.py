"""The state machine of tasks: the one place where a task changes its state, with its history and who is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select, update

from officellm_team.board import notifications
from officellm_team.board.caller import Caller
from officellm_team.board.errors import BoardError, not_found, one_of
from officellm_team.board.history import record
from officellm_team.board.store import Row, dumped, loaded
from officellm_team.board.tables import TASK_NEEDS, TASKS
from officellm_team.board.texts import checked

NEXT: Mapping[str, tuple[str, ...]] = {
    "pending": ("in_progress", "blocked", "cancelled"),
    "in_progress": ("blocked", "completed", "failed", "cancelled"),
    "blocked": ("in_progress", "cancelled"),
    "completed": (),
    "failed": (),
    "cancelled": (),
}
STATES = tuple(NEXT)
ENDED = ("completed", "failed", "cancelled")
#: What the creator of a task is told of, unless it made the change itself.
_TOLD = (*ENDED, "blocked")
_MAX_REASON = 500
#: The key in a task's metadata that says which need stopped it.
BLOCKED_BY = "blocked_by"
#: In whose name the board changes tasks by itself.
BOARD = Caller("(board)", operator=True)


def locked(connection: Connection, task_id: str) -> Row:
    """A task that no other transaction can change before this one ends. Raises `BoardError`."""
    found = select(TASKS).where(TASKS.c.id == checked("task_id", task_id)).with_for_update()
    row = connection.execute(found).mappings().first()
    if row is None:
        raise missing(connection, task_id)
    return row


def missing(connection: Connection, task_id: str) -> BoardError:
    """The error for an id that is no task's, with the nearest ones."""
    start = "".join(character for character in task_id[:4] if character.isalnum() and character.isascii())
    known = select(TASKS.c.id).where(TASKS.c.id.startswith(start, autoescape=True)).limit(5) if start else None
    return not_found("task", task_id, () if known is None else connection.execute(known).scalars())


def locked_with_needs(connection: Connection, task_id: str) -> Row:
    """Like `locked`, and what the task needs stays as it is too. Needs first: whoever ends one locks in this order."""
    connection.execute(_needs(task_id).with_for_update(read=True, of=TASKS)).all()
    return locked(connection, task_id)


def check(row: Row, to: str) -> None:
    """Raises `BoardError` where no agent may move the task there."""
    if to not in NEXT:
        raise one_of("state", to, STATES)
    if to not in NEXT[row["state"]]:
        legal = ", ".join(NEXT[row["state"]]) or "none, it has ended"
        raise BoardError(
            "illegal_transition", f"task {row['id']!r} is {row['state']}: it cannot be {to}.", hint=f"Legal: {legal}."
        )


def change(connection: Connection, row: Row, at: float, **values: Any) -> Row:
    """Change columns of a task that is still as it was read. Raises `BoardError` where it is not."""
    values |= {"version": row["version"] + 1, "updated_at": at}
    unchanged = (TASKS.c.id == row["id"]) & (TASKS.c.state == row["state"]) & (TASKS.c.version == row["version"])
    if not connection.execute(update(TASKS).where(unchanged).values(**values)).rowcount:
        raise BoardError("illegal_transition", f"task {row['id']!r} was changed meanwhile.", hint="Read it again.")
    return {**row, **values}


def move(
    connection: Connection, row: Row, to: str, caller: Caller, at: float, *, reason: str = "", **values: Any
) -> Row:
    """Change the state, and what else changes with it. Its creator hears of an end; tasks that need it go on, or stop.

    Whether the move is legal, `check` says: the board itself may fail what an agent could not.
    """
    if to in ENDED and row["completed_at"] is None:
        values["completed_at"] = at
    after = change(connection, row, at, state=to, **values)
    record(connection, row["id"], "task_state", caller.name, "state", row["state"], to, at)
    if to in _TOLD:
        _tell_creator(connection, after, caller.name, reason, at)
    if to in ENDED:
        notifications.withdraw(connection, row["id"], to, at)
        _tell_dependents(connection, after, at)
    return after


def open_needs(connection: Connection, task_id: str) -> list[str]:
    """The tasks that must be completed before this one, and are not."""
    return [row["id"] for row in connection.execute(_needs(task_id)).mappings() if row["state"] != "completed"]


def lost_need(connection: Connection, task_id: str) -> Row | None:
    """A task that this one needs and that will never be completed."""
    needs = connection.execute(_needs(task_id)).mappings()
    return next((row for row in needs if row["state"] in ("failed", "cancelled")), None)


def block_for(connection: Connection, row: Row, need: Row, at: float, **values: Any) -> Row:
    """Block a task for one that it needs and that ended without success: its creator is told why."""
    reason = f"it needs task {need['id']} ({need['title'][:80]}), which is {need['state']}"
    about = dumped({**loaded(row["metadata"]), "reason": reason, BLOCKED_BY: need["id"]})
    return move(connection, row, "blocked", BOARD, at, reason=reason, metadata=about, **values)


def announce(connection: Connection, row: Row, sender: str, at: float) -> bool:
    """Wake the owner for its task, unless it has it already, or the task must wait for what it needs."""
    id, owner = row["id"], row["owner_agent"]
    if notifications.is_on_its_way(connection, id, owner) or open_needs(connection, id):
        return False
    notifications.send(connection, owner, "task_assigned", {"task_id": id}, sender=sender, at=at)
    return True


def _needs(task_id: str) -> Any:
    wanted = select(TASKS).join(TASK_NEEDS, TASK_NEEDS.c.needs == TASKS.c.id).where(TASK_NEEDS.c.task_id == task_id)
    return wanted.order_by(TASKS.c.id)


def _tell_creator(connection: Connection, row: Row, actor: str, reason: str, at: float) -> None:
    if row["created_by"] in ("", actor):
        return
    about = {"task_id": row["id"], "title": row["title"][:200], "state": row["state"]}
    if row["result_memory_id"]:
        about["result_memory_id"] = row["result_memory_id"]
    if reason:
        about["reason"] = reason[:_MAX_REASON]
    sender = "" if actor == BOARD.name else actor
    notifications.send(connection, row["created_by"], f"task_{row['state']}", about, sender=sender, at=at)


def _tell_dependents(connection: Connection, need: Row, at: float) -> None:
    """Tasks in progress wait for what they need: one that waits for nothing more is woken, a hopeless one stopped."""
    waiting = (
        select(TASKS.c.id)
        .join(TASK_NEEDS, TASK_NEEDS.c.task_id == TASKS.c.id)
        .where(TASK_NEEDS.c.needs == need["id"], TASKS.c.state == "in_progress")
        .order_by(TASKS.c.id)
    )
    for id in list(connection.execute(waiting).scalars()):
        row = locked(connection, id)
        if row["state"] != "in_progress":
            continue
        if need["state"] != "completed":
            block_for(connection, row, need, at)
        elif row["owner_agent"]:
            announce(connection, row, row["created_by"], at)
