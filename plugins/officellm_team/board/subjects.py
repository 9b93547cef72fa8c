"""What the board holds about one person (`user_id`): given out whole, or forgotten; every request is logged.

Theirs are all memories written with that user_id, deleted and archived ones too, and the messages of such
conversations, with vectors, links and history. What names them elsewhere is a JSON value or key that equals the
user_id: in the metadata of tasks and of other memories, and in the payloads of notifications. Forgetting erases the
first kind and writes `[forgotten]` in the place of the second. Free text that mentions somebody is not found: nobody
can tell an id from a word in it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, Connection, Table, delete, insert, or_, select, update

from officellm_team.board.errors import BoardError
from officellm_team.board.history import trail
from officellm_team.board.portable import documents
from officellm_team.board.records import M, erase
from officellm_team.board.store import Board, Row, dumped, iso, loaded, new_id
from officellm_team.board.tables import ARCHIVE, HISTORY, MEMORIES, NOTIFICATIONS, SUBJECT_REQUESTS, TASKS
from officellm_team.board.texts import checked, chunks

FORGOTTEN = "[forgotten]"
#: Table, key and JSON column where somebody may be named.
_NAMING: tuple[tuple[Table, Column[Any], Column[Any]], ...] = (
    (TASKS, TASKS.c.id, TASKS.c.metadata),
    (NOTIFICATIONS, NOTIFICATIONS.c.id, NOTIFICATIONS.c.payload),
    (MEMORIES, M.id, M.metadata),
)
_ALL = 1_000_000


def export_subject(board: Board, user_id: str) -> dict[str, Any]:
    """All there is about somebody. Raises `BoardError`."""
    user_id = _checked(user_id)
    with board.write() as connection:
        ids = _theirs(connection, user_id)
        items = [item for part in chunks(ids) for item in documents(connection, select(MEMORIES).where(M.id.in_(part)))]
        for item in items:
            item["history"] = trail(connection, item["id"], _ALL)
        archived = [loaded(row["row"]) for row in _archived(connection, user_id, ids)]
        named = {
            table.name: [
                {"id": row["key"], "text": loaded(row["text"])} for row in _naming(connection, user_id, key, text)
            ]
            for table, key, text in _NAMING
        }
        request = _log(connection, board, user_id, "export", len(items))
    return {
        "user_id": user_id, "request_id": request, "exported_at": iso(board.now()), "items_count": len(items),
        "items": items, "archived": archived, "named_in": named,
    }  # fmt: skip


def forget_subject(board: Board, user_id: str) -> dict[str, Any]:
    """Erase and blot out all there is about somebody. Raises `BoardError`."""
    user_id = _checked(user_id)
    done: dict[str, int] = {}
    with board.write() as connection:
        ids = _theirs(connection, user_id)
        archived = _archived(connection, user_id, ids)
        past = sorted({*ids, *(row["memory_id"] for row in archived)})
        done["archived"] = len(archived)
        done["history"] = 0
        for rows in chunks([row["seq"] for row in archived]):
            connection.execute(delete(ARCHIVE).where(ARCHIVE.c.seq.in_(rows)))
        for part in chunks(past):
            done["history"] += connection.execute(delete(HISTORY).where(HISTORY.c.subject_id.in_(part))).rowcount
            elsewhere = update(HISTORY).where(HISTORY.c.new_value.in_(part))
            connection.execute(elsewhere.values(new_value=FORGOTTEN))
            result = update(TASKS).where(TASKS.c.result_memory_id.in_(part))
            connection.execute(result.values(result_memory_id=None))
        done["items"] = erase(connection, ids)
        for table, key, text in _NAMING:
            done[f"named_in_{table.name}"] = _blot(connection, user_id, table, key, text)
        request = _log(connection, board, user_id, "forget", done["items"])
    return {"user_id": user_id, "request_id": request, "erased": done}


def _checked(user_id: str) -> str:
    if not user_id.strip():
        raise BoardError("invalid_arguments", "user_id is blank.", hint="Whose data is it?")
    return checked("user_id", user_id.strip(), 200)


def _theirs(connection: Connection, user_id: str) -> Sequence[str]:
    talks = select(M.id).where(M.user_id == user_id, M.type == "conversation")
    query = select(M.id).where(or_(M.user_id == user_id, M.conversation_id.in_(talks)))
    return connection.execute(query.order_by(M.seq)).scalars().all()


def _archived(connection: Connection, user_id: str, ids: Sequence[str]) -> list[Row]:
    named = select(ARCHIVE).where(ARCHIVE.c.row.contains(_needle(user_id), autoescape=True))
    rows = {
        row["seq"]: row for row in connection.execute(named).mappings() if loaded(row["row"]).get("user_id") == user_id
    }
    for part in chunks(ids):
        found = connection.execute(select(ARCHIVE).where(ARCHIVE.c.memory_id.in_(part))).mappings()
        rows |= {row["seq"]: row for row in found}
    return [rows[seq] for seq in sorted(rows)]


def _naming(connection: Connection, user_id: str, key: Column[Any], text: Column[Any]) -> list[Row]:
    query = select(key.label("key"), text.label("text")).where(text.contains(_needle(user_id), autoescape=True))
    rows = connection.execute(query.order_by(key)).mappings()
    return [row for row in rows if _blotted(value := loaded(row["text"]), user_id) != value]


def _blot(connection: Connection, user_id: str, table: Table, key: Column[Any], text: Column[Any]) -> int:
    rows = _naming(connection, user_id, key, text)
    for row in rows:
        said = dumped(_blotted(loaded(row["text"]), user_id))
        connection.execute(update(table).where(key == row["key"]).values({text: said}))
    return len(rows)


def _blotted(value: Any, user_id: str) -> Any:
    if isinstance(value, dict):
        return {_blotted(name, user_id): _blotted(inner, user_id) for name, inner in value.items()}
    if isinstance(value, list):
        return [_blotted(inner, user_id) for inner in value]
    return FORGOTTEN if value == user_id else value


def _needle(user_id: str) -> str:
    """How the user_id stands in our JSON text."""
    return json.dumps(user_id, ensure_ascii=False)[1:-1]


def _log(connection: Connection, board: Board, user_id: str, kind: str, count: int) -> str:
    id, now = new_id(), board.now()
    row = {"id": id, "subject_id": user_id, "request_type": kind, "status": "completed", "items_affected": count}
    connection.execute(insert(SUBJECT_REQUESTS).values(**row, requested_at=now, completed_at=now))
    return id
