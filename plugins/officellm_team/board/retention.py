"""How long memories stay: what expired, what lost its importance, and the limits of single agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, and_, delete, insert, not_, or_, select, update
from sqlalchemy.sql.elements import ColumnElement

from officellm_team.board.caller import Caller
from officellm_team.board.errors import BoardError
from officellm_team.board.history import record
from officellm_team.board.records import HANDOFF, M, archive, erase
from officellm_team.board.store import Board, Row
from officellm_team.board.tables import EMBEDDINGS, MEMORIES, RETENTION
from officellm_team.board.texts import chunks

DAY = 86_400
#: An unimportant memory is put away after so many days below this importance.
FADED, FADED_DAYS = 0.05, 30
DECAY, DECAY_DAYS = 0.995, 7
#: The most a policy may say.
_MOST = 2_000_000_000


def set_policy(
    board: Board, agent_id: str, *, max_memories: int = 1000, ttl_days: int = 0, auto_archive: bool = True
) -> dict[str, Any]:
    """The limits of one agent, applied by maintenance: the newest `max_memories`, none older than `ttl_days`; 0 is
    no limit. Raises `BoardError`."""
    if not agent_id.strip():
        raise BoardError("invalid_arguments", "agent_id is blank.")
    for what, value in (("max_memories", max_memories), ("ttl_days", ttl_days)):
        if not 0 <= value <= _MOST:
            raise BoardError("invalid_arguments", f"{what} is {value}.", hint=f"From 0 (no limit) to {_MOST}.")
    said = {"agent_id": agent_id, "max_memories": max_memories, "ttl_days": ttl_days, "auto_archive": auto_archive}
    with board.write() as connection:
        connection.execute(delete(RETENTION).where(RETENTION.c.agent_id == agent_id))
        connection.execute(insert(RETENTION).values(**said, updated_at=board.now()))
    return said


def apply_policies(connection: Connection, caller: Caller, now: float) -> int:
    """Remove what is too old or too much, archived first where the policy says so; an unread handoff stays."""
    removed = 0
    for policy in connection.execute(select(RETENTION).order_by(RETENTION.c.agent_id)).mappings().all():
        mine = and_(M.agent_id == policy["agent_id"], not_(M.is_deleted), _no_work())
        ids = set[str]()
        if policy["ttl_days"]:
            old = select(M.id).where(mine, M.created_at < now - policy["ttl_days"] * DAY)
            ids.update(connection.execute(old).scalars())
        if policy["max_memories"]:
            newest = select(M.id).where(mine).order_by(M.seq.desc())
            ids.update(connection.execute(newest).scalars().all()[policy["max_memories"] :])
        removed += remove(connection, caller, sorted(ids), "retention", now, keep=policy["auto_archive"])
    return removed


def purge_expired(connection: Connection, caller: Caller, now: float) -> int:
    """Remove what expired, archived first."""
    ids = connection.execute(select(M.id).where(M.expires_at <= now)).scalars().all()
    return remove(connection, caller, ids, "expired", now)


def put_away_faded(connection: Connection, caller: Caller, now: float) -> int:
    """Archive and hide what is old and has next to no importance."""
    faded = and_(M.importance < FADED, M.created_at < now - FADED_DAYS * DAY, not_(M.is_deleted), _no_work())
    ids = connection.execute(select(M.id).where(faded)).scalars().all()
    for part in chunks(ids):
        archive(connection, _rows(connection, part), "faded", now)
        connection.execute(update(MEMORIES).where(M.id.in_(part)).values(is_deleted=True, updated_at=now))
        for id in part:
            record(connection, id, "delete", caller.name, new="faded", at=now)
    return len(ids)


def decay(connection: Connection, now: float) -> int:
    """Importance fades a little with each maintenance."""
    old = update(MEMORIES).where(M.created_at < now - DECAY_DAYS * DAY, not_(M.is_deleted), M.importance > 0)
    return connection.execute(old.values(importance=M.importance * DECAY)).rowcount


def prune_embeddings(connection: Connection) -> int:
    """Remove vectors of memories that are gone or deleted, and of texts that were changed since."""
    of = select(M.id).where(
        M.id == EMBEDDINGS.c.memory_id, not_(M.is_deleted), M.content_hash == EMBEDDINGS.c.content_hash
    )
    return connection.execute(delete(EMBEDDINGS).where(not_(of.exists()))).rowcount


def remove(
    connection: Connection, caller: Caller, ids: Sequence[str], why: str, now: float, *, keep: bool = True
) -> int:
    """Erase memories, each with a row of history, archived first if they are to be kept."""
    for part in chunks(ids):
        if keep:
            archive(connection, _rows(connection, part), why, now)
        for id in part:
            record(connection, id, "delete", caller.name, new=why, at=now)
    return erase(connection, ids)


def _rows(connection: Connection, ids: Sequence[str]) -> Sequence[Row]:
    return connection.execute(select(MEMORIES).where(M.id.in_(ids)).order_by(M.seq)).mappings().all()


def _no_work() -> ColumnElement[bool]:
    return or_(M.type != HANDOFF, M.read_at.is_not(None))
