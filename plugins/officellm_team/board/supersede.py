"""What a new memory does to older ones: takes the place of one that it contradicts, or is linked to a related one.

It takes the place of a memory of the same type, agent, user and scope, with another content, where both have a title
and the titles are equal but for case; with vectors of both, titles may also contain each other, and the contents must
be alike (cosine over 0.85). Types whose entries stand beside each other by nature never take each other's place.
"""

from __future__ import annotations

from sqlalchemy import Connection, not_, select, update

from officellm_team.board.embedding import Vector, cosine, vectors_of
from officellm_team.board.history import record
from officellm_team.board.links import connect
from officellm_team.board.records import HANDOFF, Draft, M, sha256
from officellm_team.board.store import Board, Row
from officellm_team.board.tables import MEMORIES

#: Many of these may have one title: a second one contradicts nothing.
BESIDE = frozenset({"conversation", "message", "log", "observation", "scratchpad", "snippet", HANDOFF})
CONTRADICTS = 0.85
RELATED = 0.7
_CANDIDATES = 200


def settle(connection: Connection, board: Board, id: str, draft: Draft, vector: Vector | None) -> list[str]:
    """Supersede what the new memory contradicts; link it to the most alike one otherwise. Returns superseded ids."""
    now = board.now()
    if draft.type in BESIDE or (draft.valid_to is not None and draft.valid_to <= now):
        return []
    rows = _candidates(connection, id, draft)
    embedder = board.helpers.embedder
    vectors = {} if vector is None or embedder is None else _vectors(connection, rows, embedder.model)
    alike = {key: cosine(vector or (), other) for key, other in vectors.items()}
    gone = [row["id"] for row in rows if _contradicts(draft, row, alike.get(row["id"]))]
    gone = [old for old in gone if _retire(connection, old, id, draft, now)]
    if gone:
        if draft.valid_from is None:
            connection.execute(update(MEMORIES).where(M.id == id).values(valid_from=now))
        return gone
    best = max(alike, key=lambda key: alike[key], default=None)
    if best is not None and alike[best] > RELATED:
        connect(connection, id, best, "related", now)
    return []


def _candidates(connection: Connection, id: str, draft: Draft) -> list[Row]:
    same = (M.type == draft.type, M.agent_id == draft.agent_id, M.user_id == draft.user_id, M.scope == draft.scope)
    query = select(M.id, M.title, M.content_hash).where(*same, M.id != id, not_(M.is_deleted))
    return list(connection.execute(query.order_by(M.seq.desc()).limit(_CANDIDATES)).mappings())


def _vectors(connection: Connection, rows: list[Row], model: str) -> dict[str, Vector]:
    return vectors_of(connection, [row["id"] for row in rows], model)


def _contradicts(draft: Draft, row: Row, alike: float | None) -> bool:
    mine, old = draft.title.strip().casefold(), str(row["title"]).strip().casefold()
    if not mine or not old or row["content_hash"] == sha256(draft.content):
        return False
    if alike is None:
        return mine == old
    return alike > CONTRADICTS and (mine in old or old in mine)


def _retire(connection: Connection, old: str, new: str, draft: Draft, now: float) -> bool:
    """Only one of several writers gets to retire a memory."""
    end = now if draft.valid_from is None else draft.valid_from
    retired = (
        update(MEMORIES).where(M.id == old, not_(M.is_deleted)).values(is_deleted=True, valid_to=end, updated_at=now)
    )
    if connection.execute(retired).rowcount != 1:
        return False
    connect(connection, new, old, "supersedes", now)
    record(connection, old, "supersede", draft.agent_id, prev=old, new=new, at=now)
    return True
