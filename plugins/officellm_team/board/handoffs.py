"""Handoffs: work passed to another agent with the memories that it needs; each is a memory in the receiver's inbox."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select, update

from officellm_team.board import agents, checks, notifications, records, tasks, transitions
from officellm_team.board.caller import Caller
from officellm_team.board.errors import BoardError, not_found
from officellm_team.board.history import record
from officellm_team.board.links import connect
from officellm_team.board.store import Board, Row, dumped, iso, loaded
from officellm_team.board.tables import LINKS, MEMORIES
from officellm_team.board.texts import checked

#: How much of the work a notification says.
_MAX_TOLD = 200
M = MEMORIES.c


def hand_over(
    board: Board,
    caller: Caller,
    to_agent: str,
    task: str,
    *,
    context_ids: Sequence[str] = (),
    note: str = "",
    task_id: str = "",
) -> dict[str, Any]:
    """Put work into a registered agent's inbox, linked to memories that the caller can see. Raises `BoardError`."""
    if not task.strip():
        raise BoardError("invalid_arguments", "task is blank.")
    at = board.now()
    about = {"from_agent": caller.name, "note": checked("note", note)} | ({"task_id": task_id} if task_id else {})
    with board.write() as connection:
        agents.require(connection, caller.name)
        agents.require(connection, to_agent)
        if task_id and tasks.state_of(connection, checked("task_id", task_id)) is None:
            raise transitions.missing(connection, task_id)
        context = [_context(connection, caller, id, at) for id in dict.fromkeys(context_ids)]
        draft = records.Draft(
            type=records.HANDOFF,
            title=f"Handoff from {caller.name}",
            content=task,
            metadata=dumped(about),
            agent_id=to_agent,
            change_agent=caller.name,
        )
        id = records.add(connection, board, draft, caller.name, "handoff_create")
        for memory_id in context:
            connect(connection, id, memory_id, "handoff", at)
        told: dict[str, Any] = {
            "memory_id": id,
            "from_agent": caller.name,
            "task": task[:_MAX_TOLD],
            "task_id": task_id or None,
        }
        told["context_ids"] = context
        number = notifications.send(connection, to_agent, "handoff", told, sender=caller.name, at=at)
    return {
        "memory_id": id,
        "from_agent": caller.name,
        "to_agent": to_agent,
        "context_ids": context,
        "notification_id": number,
    }


def inbox(board: Board, caller: Caller, *, unread_only: bool = True, limit: int = 20) -> list[dict[str, Any]]:
    """What was handed to the caller, newest first."""
    wanted = select(MEMORIES).where(M.type == records.HANDOFF, M.agent_id == caller.name, records.alive(board.now()))
    if unread_only:
        wanted = wanted.where(M.read_at.is_(None))
    with board.read() as connection:
        rows = connection.execute(wanted.order_by(M.seq.desc()).limit(checks.clamp(limit, 1, 200))).mappings().all()
        return [_shown(connection, row) for row in rows]


def ack(board: Board, caller: Caller, memory_id: str) -> dict[str, Any]:
    """Mark one of the caller's handoffs as read; doing it again changes nothing. Raises `BoardError`."""
    at = board.now()
    with board.write() as connection:
        found = select(MEMORIES).where(M.id == checked("memory_id", memory_id), M.type == records.HANDOFF)
        row = connection.execute(found.with_for_update()).mappings().first()
        if row is None or not caller.may_change(row["agent_id"]):
            mine = select(M.id).where(M.type == records.HANDOFF, M.agent_id == caller.name, M.read_at.is_(None))
            raise not_found("handoff", memory_id, connection.execute(mine.limit(5)).scalars())
        if row["read_at"] is None:
            connection.execute(update(MEMORIES).where(M.id == memory_id).values(read_at=at))
            record(connection, memory_id, "handoff_ack", caller.name, at=at)
    return {"memory_id": memory_id, "read_at": iso(row["read_at"] or at)}


def _context(connection: Connection, caller: Caller, id: str, now: float) -> str:
    """The full id of a memory that the caller can see."""
    if records.find(connection, caller, checked("context_ids", id), now)["id"] != id:
        raise BoardError("invalid_arguments", f"{id!r} is the beginning of an id.", hint="Give the full id.")
    return id


def _shown(connection: Connection, row: Row) -> dict[str, Any]:
    linked = select(LINKS.c.to_id).where(LINKS.c.from_id == row["id"], LINKS.c.relationship_type == "handoff")
    metadata = loaded(row["metadata"])
    return {
        "memory_id": row["id"],
        "from_agent": metadata.get("from_agent", ""),
        "task": row["content"],
        "note": metadata.get("note", ""),
        "task_id": metadata.get("task_id"),
        "context_ids": list(connection.execute(linked.order_by(LINKS.c.to_id)).scalars()),
        "created_at": iso(row["created_at"]),
        "read_at": iso(row["read_at"]),
    }
