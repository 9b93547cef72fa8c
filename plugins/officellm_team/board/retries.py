"""Retry: a task that ended without success is tried again as a task of its own, with the next attempt's number."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select, update

from officellm_team.board import tasks, taskviews, transitions
from officellm_team.board.caller import Caller
from officellm_team.board.errors import BoardError
from officellm_team.board.store import Board, Row, dumped, loaded
from officellm_team.board.tables import TASK_NEEDS, TASKS

_KEPT = ("title", "description", "priority", "created_by", "parent_task_id", "due_at")
#: What a failed attempt left in its metadata.
_POST_MORTEM = ("reason", "dispatch_terminal", "notification_id", "actor", transitions.BLOCKED_BY)


def retry(board: Board, caller: Caller, task_id: str) -> dict[str, Any]:
    """A new attempt at a failed or cancelled task, given to the same owner. Raises `BoardError`.

    Tasks that need it need the new attempt from now on, and those that it had stopped wait again.
    """
    with board.write() as connection:
        id = retry_in(connection, caller, task_id, board.now())
        return taskviews.shown(connection, transitions.locked(connection, id))


def retry_in(connection: Connection, caller: Caller, task_id: str, at: float) -> str:
    """`retry` in a transaction; the new task's id."""
    old = transitions.locked(connection, task_id)
    caller.require(f"task {task_id!r}", old["owner_agent"], old["created_by"])
    _require_last(connection, old)
    metadata = {key: value for key, value in loaded(old["metadata"]).items() if key not in _POST_MORTEM}
    needs = connection.execute(select(TASK_NEEDS.c.needs).where(TASK_NEEDS.c.task_id == task_id)).scalars()
    values = {key: old[key] for key in _KEPT} | {
        "metadata": dumped(metadata),
        "attempt": old["attempt"] + 1,
        "retry_of": old["retry_of"] or old["id"],
    }
    id = tasks.insert_task(connection, caller, values, sorted(needs), at)
    _go_on(connection, task_id, id, at)
    if old["owner_agent"]:
        new = transitions.locked_with_needs(connection, id)
        tasks.assign_in(connection, caller, new, old["owner_agent"], at)
    return id


def _require_last(connection: Connection, old: Row) -> None:
    if old["state"] not in ("failed", "cancelled"):
        what = f"task {old['id']!r} is {old['state']}: only a failed or cancelled one is tried again."
        raise BoardError("invalid_state", what)
    later = select(TASKS.c.id).where(
        TASKS.c.retry_of == (old["retry_of"] or old["id"]), TASKS.c.attempt > old["attempt"]
    )
    newest = connection.execute(later.order_by(TASKS.c.attempt.desc()).limit(1)).scalar()
    if newest is not None:
        raise BoardError("invalid_state", f"task {old['id']!r} was tried again before.", hint=f"See task {newest}.")


def _go_on(connection: Connection, old: str, new: str, at: float) -> None:
    """Who needs the old attempt needs the new one; who was blocked for it waits again."""
    dependents = select(TASK_NEEDS.c.task_id).where(TASK_NEEDS.c.needs == old).order_by(TASK_NEEDS.c.task_id)
    ids = list(connection.execute(dependents).scalars())
    connection.execute(update(TASK_NEEDS).where(TASK_NEEDS.c.needs == old).values(needs=new))
    for id in ids:
        row = transitions.locked(connection, id)
        metadata = loaded(row["metadata"])
        if row["state"] == "blocked" and metadata.get(transitions.BLOCKED_BY) == old:
            left = {key: value for key, value in metadata.items() if key not in _POST_MORTEM}
            lost = transitions.lost_need(connection, id)
            if lost is None:
                transitions.move(connection, row, "in_progress", transitions.BOARD, at, metadata=dumped(left))
            else:
                transitions.change(
                    connection, row, at, metadata=dumped({**metadata, transitions.BLOCKED_BY: lost["id"]})
                )
