"""The trail of changes of memories and tasks: written in the transaction of the change, never changed later."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, insert, select

from officellm_team.board.store import Row, iso
from officellm_team.board.tables import HISTORY


def record(
    connection: Connection,
    subject_id: str,
    event: str,
    actor: str,
    field: str = "",
    prev: str | None = "",
    new: str | None = "",
    at: float = 0.0,
) -> None:
    """Add one row about a memory or a task. `at` is the moment of the change."""
    connection.execute(
        insert(HISTORY).values(
            subject_id=subject_id,
            event=event,
            actor=actor,
            field=field,
            prev_value=prev or "",
            new_value=new or "",
            created_at=at,
        )
    )


def trail(connection: Connection, subject_id: str, limit: int = 20) -> list[dict[str, Any]]:
    """What happened to it, newest first."""
    rows = connection.execute(
        select(HISTORY).where(HISTORY.c.subject_id == subject_id).order_by(HISTORY.c.seq.desc()).limit(limit)
    ).mappings()
    return [_shown(row) for row in rows]


def _shown(row: Row) -> dict[str, Any]:
    return {
        "event": row["event"],
        "field": row["field"],
        "prev": row["prev_value"],
        "new": row["new_value"],
        "actor": row["actor"],
        "at": iso(row["created_at"]),
    }
