"""Memories as rows: which of them a caller may see and change, how one is found by id, how one is added and removed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, and_, delete, exists, func, insert, not_, or_, select, text, true
from sqlalchemy.sql.elements import ColumnElement

from officellm_team.board.caller import Caller
from officellm_team.board.errors import BoardError, not_found, one_of
from officellm_team.board.history import record
from officellm_team.board.store import Board, Row, dumped, iso, loaded, new_id
from officellm_team.board.tables import ARCHIVE, LINKS, MEMORIES, TASKS
from officellm_team.board.texts import MAX_CONTENT, MAX_TITLE, checked, chunks, clamped

TYPES = (
    "note", "fact", "decision", "preference", "conversation", "message", "task", "code", "config", "observation",
    "plan", "summary", "snippet", "reference", "log", "home", "user_fact", "scratchpad", "auto", "knowledge",
)  # fmt: skip
#: Written by the board itself, never by `memory_write`.
HANDOFF = "handoff"
SCOPES = ("agent", "session", "user", "org")
#: A memory of scope `session` lives this long, in seconds.
SESSION = 24 * 3600
#: Reads take the beginning of an id, of at least this length; changes need all of it.
PREFIX = 8
M = MEMORIES.c
_HANDOFFS = MEMORIES.alias("handoffs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory that is not on the board yet. `metadata` is JSON text of an object."""

    type: str
    content: str
    title: str = ""
    metadata: str = "{}"
    agent_id: str = ""
    model_id: str = ""
    change_agent: str = ""
    importance: float = 0.5
    source: str = "agent"
    user_id: str = ""
    scope: str = "agent"
    conversation_id: str | None = None
    role: str = ""
    valid_from: float | None = None
    valid_to: float | None = None


def sha256(content: str) -> str:
    """What `content_hash` holds."""
    return hashlib.sha256(content.encode()).hexdigest()


def readable(caller: Caller) -> ColumnElement[bool]:
    """What the caller may see: its own, what belongs to nobody, what is not private, and what was handed over to it.

    The result of a task may be seen by who created it and who owns it. An operator sees all.
    """
    if caller.operator:
        return true()
    link = and_(LINKS.c.from_id == _HANDOFFS.c.id, LINKS.c.relationship_type == HANDOFF, LINKS.c.to_id == M.id)
    mine = and_(_HANDOFFS.c.type == HANDOFF, _HANDOFFS.c.agent_id == caller.name, not_(_HANDOFFS.c.is_deleted))
    handed = exists().where(link, mine).correlate(MEMORIES)
    of_task = and_(
        TASKS.c.result_memory_id == M.id, or_(TASKS.c.created_by == caller.name, TASKS.c.owner_agent == caller.name)
    )
    result = exists().where(of_task).correlate(MEMORIES)
    return or_(M.scope != "agent", M.agent_id.in_((caller.name, "")), handed, result)


def alive(now: float) -> ColumnElement[bool]:
    """Neither deleted nor expired."""
    return and_(not_(M.is_deleted), or_(M.expires_at.is_(None), M.expires_at > now))


def find(connection: Connection, caller: Caller, id: str, now: float) -> Row:
    """A memory for reading, by its id or the beginning of it. Raises `BoardError`; what is private does not exist."""
    visible = select(MEMORIES).where(alive(now), readable(caller))
    row = connection.execute(visible.where(M.id == id)).mappings().first()
    if row is None and len(id) >= PREFIX:
        rows = connection.execute(visible.where(M.id.startswith(id, autoescape=True)).limit(5)).mappings().all()
        if len(rows) > 1:
            ids = ", ".join(row["id"] for row in rows)
            raise BoardError("ambiguous_id", f"{id!r} begins more than one id.", hint=f"Such as: {ids}.")
        row = rows[0] if rows else None
    if row is None:
        raise not_found("memory", id)
    return row


def changeable(connection: Connection, caller: Caller, id: str, now: float, *, deleted: bool = False) -> Row:
    """A memory that the caller may change, locked, by its full id. Raises `BoardError`."""
    query = select(MEMORIES).where(M.id == id)
    row = connection.execute((query if deleted else query.where(alive(now))).with_for_update()).mappings().first()
    hidden = row is not None and row["scope"] == "agent" and not caller.may_change(row["agent_id"])
    if row is None or hidden:
        raise not_found("memory", id)
    caller.require(f"memory {id!r}", row["agent_id"])
    return row


def add(
    connection: Connection, board: Board, draft: Draft, actor: str, event: str = "create", id: str | None = None
) -> str:
    """Put a memory on the board, with its row of history. Returns its id, new if none is given. Raises `BoardError`."""
    if draft.scope not in SCOPES:
        raise one_of("scope", draft.scope, SCOPES)
    now, id = board.now(), new_id() if id is None else checked("id", id, 36)
    values = {name: getattr(draft, name) for name in Draft.__slots__}
    values |= {
        "title": checked("title", draft.title, MAX_TITLE),
        "content": checked("content", draft.content, MAX_CONTENT),
        "user_id": checked("user_id", draft.user_id, 200),
        "importance": clamped(draft.importance),
        "content_hash": sha256(draft.content),
        "expires_at": now + SESSION if draft.scope == "session" else None,
    }
    connection.execute(
        insert(MEMORIES).values(id=id, seq=next_seq(connection), created_at=now, updated_at=now, **values)
    )
    record(connection, id, event, actor, at=now)
    board.tallies.add("write_calls")
    board.tallies.flush(connection)
    return id


def next_seq(connection: Connection) -> int:
    """The number of the next memory. SQLite has one writer at a time."""
    if connection.dialect.name == "sqlite":
        return int(connection.execute(select(func.coalesce(func.max(M.seq), 0) + 1)).scalar_one())
    return int(connection.execute(text("SELECT nextval('memory_seq')")).scalar_one())


def archive(connection: Connection, rows: Sequence[Row], reason: str, now: float) -> None:
    """Keep rows as they are, before they go."""
    for row in rows:
        connection.execute(
            insert(ARCHIVE).values(memory_id=row["id"], row=dumped(dict(row)), reason=reason, created_at=now)
        )


def erase(connection: Connection, ids: Sequence[str]) -> int:
    """Remove memories with their vectors and links. Returns how many there were; history is kept."""
    return sum(connection.execute(delete(MEMORIES).where(M.id.in_(part))).rowcount for part in chunks(ids))


def links_of(connection: Connection, ids: Sequence[str], side: Literal["from_id", "to_id"] = "from_id") -> list[Row]:
    """The links that begin (or end) at these memories, oldest first."""
    found: list[Row] = []
    for part in chunks(ids):
        query = select(LINKS).where(LINKS.c[side].in_(part)).order_by(LINKS.c.created_at, LINKS.c.id)
        found.extend(connection.execute(query).mappings())
    return found


_TIMES = ("valid_from", "valid_to", "expires_at", "created_at", "updated_at", "last_accessed_at", "read_at")


def shown(row: Row) -> dict[str, Any]:
    """The whole record, as JSON has it."""
    return {**row, "metadata": loaded(row["metadata"]), **{name: iso(row[name]) for name in _TIMES}}
