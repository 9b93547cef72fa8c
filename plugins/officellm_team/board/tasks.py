"""Tasks: made, given to an owner, changed, closed. What is legal stands in `transitions`, their look in `taskviews`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import Connection, insert, select

from officellm_team.board import agents, checks, notifications, taskviews, transitions
from officellm_team.board.caller import Caller
from officellm_team.board.errors import BoardError, not_found, one_of
from officellm_team.board.history import record
from officellm_team.board.store import Board, Row, dumped, loaded, new_id
from officellm_team.board.tables import MEMORIES, TASK_NEEDS, TASKS
from officellm_team.board.texts import MAX_TITLE, checked, moment

Priority = Literal["low", "medium", "high"]


def create(
    board: Board,
    caller: Caller,
    title: str,
    *,
    description: str = "",
    owner_agent: str = "",
    parent_task_id: str = "",
    metadata: Mapping[str, Any] | None = None,
    depends_on: Sequence[str] = (),
    priority: str = "medium",
    due_at: str = "",
) -> dict[str, Any]:
    """A pending task of the caller's. An owner is noted only: `assign` is what wakes one. Raises `BoardError`."""
    if priority not in notifications.PRIORITIES:
        raise one_of("priority", priority, notifications.PRIORITIES)
    at = board.now()
    values = {
        "title": checks.name("title", title, MAX_TITLE),
        "description": checked("description", description),
        "metadata": checks.mapping("metadata", metadata or {}),
        "priority": priority,
        "due_at": moment("due_at", due_at),
        "created_by": checks.name("created_by", caller.name),
    }
    with board.write() as connection:
        if owner_agent:
            values["owner_agent"] = agents.require(connection, owner_agent)
        if parent_task_id:
            values["parent_task_id"] = _exists(connection, "parent task", parent_task_id)
        needs = [_exists(connection, "task", need) for need in dict.fromkeys(depends_on)]
        _refuse_ancestors(connection, parent_task_id, needs)
        id = insert_task(connection, caller, values, needs, at)
        return taskviews.shown(connection, transitions.locked(connection, id))


def assign(board: Board, caller: Caller, task_id: str, owner_agent: str) -> dict[str, Any]:
    """Give a task to a registered agent, and wake it; a task that needs others waits for them. Raises `BoardError`."""
    with board.write() as connection:
        agents.require(connection, owner_agent)
        row = transitions.locked_with_needs(connection, task_id)
        caller.require(f"task {task_id!r}", row["owner_agent"], row["created_by"])
        return taskviews.shown(connection, assign_in(connection, caller, row, owner_agent, board.now()))


def update(
    board: Board,
    caller: Caller,
    task_id: str,
    *,
    state: str = "",
    description: str = "",
    metadata: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Change what is given and leave the rest; metadata is merged key by key. Raises `BoardError`."""
    at = board.now()
    with board.write() as connection:
        row = transitions.locked_with_needs(connection, task_id)
        caller.require(f"task {task_id!r}", row["owner_agent"], row["created_by"])
        row = _edited(connection, caller, row, description, metadata or {}, at)
        if state and state != row["state"]:
            row = _moved(connection, caller, row, state, (metadata or {}).get("reason"), at)
        return taskviews.shown(connection, row)


def set_result(board: Board, caller: Caller, task_id: str, memory_id: str) -> dict[str, Any]:
    """Point a task to the memory that holds its result. Raises `BoardError`."""
    at = board.now()
    with board.write() as connection:
        row = transitions.locked(connection, task_id)
        caller.require(f"task {task_id!r}", row["owner_agent"], row["created_by"])
        _require_memory(connection, caller, memory_id)
        if memory_id != row["result_memory_id"]:
            record(
                connection,
                row["id"],
                "task_result",
                caller.name,
                "result_memory_id",
                row["result_memory_id"],
                memory_id,
                at,
            )
            row = transitions.change(connection, row, at, result_memory_id=memory_id)
        return taskviews.shown(connection, row)


def get(board: Board, caller: Caller, task_id: str) -> dict[str, Any]:
    """One task by its id, or by the first 8 characters. Raises `BoardError`."""
    return taskviews.get(board, task_id)


def open_children(board: Board, task_id: str) -> list[str]:
    """The tasks that it was split into and that have not ended."""
    with board.read() as connection:
        return taskviews.open_children(connection, task_id)


def state_of(connection: Connection, task_id: str | None) -> str | None:
    """A task's state; None where there is no such task."""
    state: str | None = connection.execute(select(TASKS.c.state).where(TASKS.c.id == task_id)).scalar()
    return state


def fail(board: Board, agent: Caller, task_id: str, *, reason: str, metadata: Mapping[str, Any] | None = None) -> bool:
    """Fail an open task that its owner could not finish, from any state; False where it ended, or is another one's."""
    with board.write() as connection:
        return fail_in(connection, agent, task_id, reason=reason, metadata=metadata or {}, at=board.now())


def fail_in(
    connection: Connection, agent: Caller, task_id: str, *, reason: str, metadata: Mapping[str, Any], at: float
) -> bool:
    """`fail` in a transaction. The board does it, not the owner: the creator is told, whoever that is."""
    if state_of(connection, task_id) is None:
        return False
    row = transitions.locked(connection, task_id)
    if row["state"] in transitions.ENDED or row["owner_agent"] != agent.name:
        return False
    merged = dumped({**loaded(row["metadata"]), **metadata})
    transitions.move(connection, row, "failed", transitions.BOARD, at, reason=reason, metadata=merged)
    return True


def wake(connection: Connection, task_id: str, at: float) -> bool:
    """Wake the owner of a task in progress, where nothing else would; False where it waits, ended or is on its way."""
    row = transitions.locked_with_needs(connection, task_id)
    if row["state"] != "in_progress" or not row["owner_agent"] or taskviews.open_children(connection, task_id):
        return False
    return transitions.announce(connection, row, row["created_by"], at)


def insert_task(
    connection: Connection, caller: Caller, values: Mapping[str, Any], needs: Sequence[str], at: float
) -> str:
    """A new row with what it needs, and its history; the id."""
    id = new_id()
    connection.execute(insert(TASKS).values(id=id, created_at=at, updated_at=at, **values))
    if needs:
        connection.execute(insert(TASK_NEEDS), [{"task_id": id, "needs": need} for need in needs])
    record(connection, id, "task_created", caller.name, "state", "", "pending", at)
    return id


def assign_in(connection: Connection, caller: Caller, row: Row, owner: str, at: float) -> Row:
    """`assign` in a transaction that has locked the task and what it needs."""
    before, same = row["owner_agent"], row["owner_agent"] == owner
    if row["state"] != "in_progress":
        transitions.check(row, "in_progress")
    if not same:
        record(connection, row["id"], "task_owner", caller.name, "owner_agent", before, owner, at)
        notifications.withdraw(connection, row["id"], "reassigned", at)
    need = transitions.lost_need(connection, row["id"])
    if need is not None:
        if row["state"] == "blocked":
            return transitions.change(connection, row, at, owner_agent=owner)
        return transitions.block_for(connection, row, need, at, owner_agent=owner)
    if row["state"] != "in_progress":
        row = transitions.move(connection, row, "in_progress", caller, at, owner_agent=owner)
    elif not same:
        row = transitions.change(connection, row, at, owner_agent=owner)
        if before not in ("", caller.name):
            about = {"task_id": row["id"], "owner_agent": owner}
            notifications.send(connection, before, "task_reassigned", about, sender=caller.name, at=at)
    transitions.announce(connection, row, caller.name, at)
    return row


def _edited(
    connection: Connection, caller: Caller, row: Row, description: str, metadata: Mapping[str, Any], at: float
) -> Row:
    values = {}
    if description and description != row["description"]:
        values["description"] = checked("description", description)
    merged = checks.mapping("metadata", {**loaded(row["metadata"]), **metadata})
    if metadata and merged != row["metadata"]:
        values["metadata"] = merged
    for field, value in values.items():
        record(connection, row["id"], "task_updated", caller.name, field, row[field], value, at)
    return transitions.change(connection, row, at, **values) if values else row


def _moved(connection: Connection, caller: Caller, row: Row, state: str, reason: object, at: float) -> Row:
    transitions.check(row, state)
    if state == "in_progress":
        need = transitions.lost_need(connection, row["id"])
        if need is not None:
            what = f"task {row['id']!r} needs task {need['id']!r}, which is {need['state']}."
            raise BoardError("illegal_transition", what, hint="Retry that one first.")
    row = transitions.move(connection, row, state, caller, at, reason=reason if isinstance(reason, str) else "")
    if state == "in_progress" and row["owner_agent"] not in ("", caller.name):
        transitions.announce(connection, row, caller.name, at)
    return row


def _exists(connection: Connection, what: str, task_id: str) -> str:
    if state_of(connection, checked("task_id", task_id)) is None:
        error = transitions.missing(connection, task_id)
        raise BoardError("not_found", f"{what} {task_id!r} is not on the board.", hint=error.hint)
    return task_id


def _refuse_ancestors(connection: Connection, parent: str | None, needs: Sequence[str]) -> None:
    """A part that needs its whole could never begin: the whole waits for its parts."""
    seen: set[str] = set()
    while parent and parent not in seen:
        if parent in needs:
            raise BoardError(
                "cycle", f"a part of task {parent!r} cannot need that task.", hint="Leave it out of depends_on."
            )
        seen.add(parent)
        parent = connection.execute(select(TASKS.c.parent_task_id).where(TASKS.c.id == parent)).scalar()


def _require_memory(connection: Connection, caller: Caller, memory_id: str) -> None:
    """It must exist, and be the caller's own or not private: whoever sees the task may read it then."""
    wanted = select(MEMORIES.c.agent_id, MEMORIES.c.scope).where(
        MEMORIES.c.id == checked("result_memory_id", memory_id), MEMORIES.c.is_deleted.is_(False)
    )
    row = connection.execute(wanted).first()
    if row is None or (row.scope == "agent" and not caller.may_change(row.agent_id)):
        raise not_found("memory", memory_id)
