"""Notifications: what an agent is told. Each has a delivery, which wakes the agent: reading never touches that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert, select, text, update

from officellm_team.board import agents, checks
from officellm_team.board.caller import Caller
from officellm_team.board.errors import BoardError, not_found
from officellm_team.board.store import Board, Row, iso, loaded
from officellm_team.board.tables import DELIVERIES, NOTIFICATIONS, TASKS
from officellm_team.board.texts import checked

PRIORITIES = ("high", "medium", "low")
#: Kinds that say "this work is yours".
WORK_KINDS = ("task_assigned", "handoff")
_LIVE = ("queued", "leased")
#: Where PostgreSQL tells runners that work was queued; SQLite's runners ask the file.
CHANNEL = "officellm_board"


def send(
    connection: Connection,
    agent_id: str,
    kind: str,
    payload: Mapping[str, Any],
    *,
    sender: str,
    at: float,
) -> int:
    """Tell an agent something, and queue the delivery that wakes it. The payload's `task_id` ties it to a task."""
    task_id = payload.get("task_id")
    priority = _priority(connection, task_id)
    (id,) = connection.execute(
        insert(NOTIFICATIONS)
        .values(
            agent_id=agent_id,
            kind=kind,
            payload=checks.mapping("payload", payload),
            sender=sender,
            created_at=at,
        )
        .returning(NOTIFICATIONS.c.id)
    ).one()
    connection.execute(
        insert(DELIVERIES).values(
            id=id,
            agent_id=agent_id,
            kind=kind,
            task_id=task_id if priority else None,
            rank=PRIORITIES.index(priority or "medium"),
            next_attempt_at=at,
            created_at=at,
            updated_at=at,
        )
    )
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"NOTIFY {CHANNEL}"))  # heard once the transaction is kept
    return int(id)


def withdraw(connection: Connection, task_id: str, outcome: str, at: float) -> None:
    """Work on this task that nobody began is not wanted any more."""
    connection.execute(
        update(DELIVERIES)
        .where(DELIVERIES.c.task_id == task_id, DELIVERIES.c.kind == "task_assigned", DELIVERIES.c.state == "queued")
        .values(state="done", outcome=outcome, updated_at=at)
    )


def is_on_its_way(connection: Connection, task_id: str, agent_id: str) -> bool:
    """Whether the agent has, or will get, this work."""
    live = select(DELIVERIES.c.id).where(
        DELIVERIES.c.task_id == task_id,
        DELIVERIES.c.agent_id == agent_id,
        DELIVERIES.c.kind.in_(WORK_KINDS),
        DELIVERIES.c.state.in_(_LIVE),
    )
    return connection.execute(live.limit(1)).first() is not None


def notify(board: Board, caller: Caller, agent_id: str, kind: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Tell a registered agent something in the caller's name."""
    kind, at = checks.name("kind", kind, limit=100), board.now()
    with board.write() as connection:
        agents.require(connection, agent_id)
        id = send(connection, agent_id, kind, payload, sender=caller.name, at=at)
    return {"notification_id": id, "agent_id": agent_id, "kind": kind, "sender": caller.name}


def poll(board: Board, caller: Caller, *, unread_only: bool = True, limit: int = 20) -> list[dict[str, Any]]:
    """What the caller was told, newest first."""
    wanted = select(NOTIFICATIONS).where(NOTIFICATIONS.c.agent_id == caller.name)
    if unread_only:
        wanted = wanted.where(NOTIFICATIONS.c.read_at.is_(None))
    with board.read() as connection:
        rows = connection.execute(
            wanted.order_by(NOTIFICATIONS.c.id.desc()).limit(checks.clamp(limit, 1, 500))
        ).mappings()
        return [_shown(row) for row in rows]


def ack(board: Board, caller: Caller, notification_id: int) -> dict[str, Any]:
    """Mark one of the caller's notifications as read. Raises `BoardError`, also where it was read before."""
    with board.write() as connection:
        found = select(NOTIFICATIONS).where(NOTIFICATIONS.c.id == checks.clamp(notification_id, 0, checks.MAX_ID))
        row = connection.execute(found).mappings().first()
        if row is None:
            raise not_found("notification", str(notification_id))
        caller.require(f"notification {notification_id}", row["agent_id"])
        read = connection.execute(
            update(NOTIFICATIONS)
            .where(NOTIFICATIONS.c.id == notification_id, NOTIFICATIONS.c.read_at.is_(None))
            .values(read_at=board.now())
        )
        if not read.rowcount:
            raise BoardError("already_acked", f"notification {notification_id} was acknowledged before.")
    return {"notification_id": notification_id, "acked": True}


def ack_all(board: Board, caller: Caller) -> int:
    """Mark all that the caller was told as read, and say how many that were."""
    with board.write() as connection:
        return connection.execute(
            update(NOTIFICATIONS)
            .where(NOTIFICATIONS.c.agent_id == caller.name, NOTIFICATIONS.c.read_at.is_(None))
            .values(read_at=board.now())
        ).rowcount


def _priority(connection: Connection, task_id: object) -> str | None:
    """A task's priority; None where there is no such task."""
    if not isinstance(task_id, str):
        return None
    found: str | None = connection.execute(
        select(TASKS.c.priority).where(TASKS.c.id == checked("task_id", task_id))
    ).scalar()
    return found


def _shown(row: Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "kind": row["kind"],
        "payload": loaded(row["payload"]),
        "sender": row["sender"],
        "created_at": iso(row["created_at"]),
        "read_at": iso(row["read_at"]),
    }
