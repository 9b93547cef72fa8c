"""Searching memories: by words, by meaning, or both. What the caller may not see is not found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, exists, func, not_, or_, select
from sqlalchemy.sql.elements import ColumnElement

from officellm_team.board.caller import Caller
from officellm_team.board.embedding import Vector, cosine, diverse, embedded, unpacked, vectors_of
from officellm_team.board.errors import BoardError, one_of
from officellm_team.board.keywords import keyword_scores
from officellm_team.board.queries import read_query
from officellm_team.board.records import HANDOFF, SCOPES, TYPES, M, alive, readable
from officellm_team.board.store import Board, Row, iso, loaded
from officellm_team.board.tables import EMBEDDINGS, LINKS
from officellm_team.board.texts import chunks, moment

MODES = ("hybrid", "semantic", "keyword")
MAX_K = 100
#: What meaning and words count in a hybrid score.
MEANING, WORDS = 0.7, 0.3
#: So many of the newest memories are compared by meaning, beside all that match by words.
COMPARED = 2_000
#: A hit shows so much of its content: `memory_get` gives all of it.
EXCERPT = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is searched for. `as_of` is an ISO 8601 time: what was valid then, also if it was superseded since."""

    query: str
    k: int = 8
    mode: str = "hybrid"
    type: str = ""
    agent: str = ""
    user_id: str = ""
    scope: str = ""
    as_of: str = ""
    scratchpad: bool = False
    explain: bool = False


@dataclass(frozen=True, slots=True)
class _Hit:
    score: float
    words: float
    meaning: float | None


def search(board: Board, caller: Caller, wanted: Search) -> dict[str, Any]:
    """The best hits, and how they were searched for. Raises `BoardError`."""
    _check(board, wanted)
    board.tallies.add("search_calls")
    k = max(1, min(MAX_K, wanted.k))
    vectors = None if wanted.mode == "keyword" else embedded(board, [wanted.query])
    if vectors is None and wanted.mode == "semantic":
        raise BoardError("not_configured", "the embedder did not answer.", hint="search_mode keyword works without it.")
    where = _where(caller, wanted, board.now())
    with board.read() as connection:
        if vectors:
            hits = _by_meaning(connection, board, wanted, where, vectors[0], k)
        else:
            scores = keyword_scores(connection, read_query(wanted.query), where, k)
            hits = {id: _Hit(score, score, None) for id, score in scores.items()}
        rows = _rows(connection, list(hits))
    results = [_shown(rows[id], hit, wanted.explain) for id, hit in hits.items() if id in rows]
    answer = {"count": len(results), "mode": wanted.mode if vectors else "keyword", "results": results}
    if wanted.mode == "hybrid" and not vectors:
        answer["note"] = "By keyword only: " + (
            "no embedder is configured." if board.helpers.embedder is None else "the embedder did not answer."
        )
    return answer


def _check(board: Board, wanted: Search) -> None:
    if not wanted.query.strip():
        raise BoardError("invalid_arguments", "query is blank.", hint="Give words to look for.")
    for what, value, legal in (
        ("search_mode", wanted.mode, MODES),
        ("type_filter", wanted.type, (*TYPES, HANDOFF)),
        ("scope", wanted.scope, SCOPES),
    ):
        if value and value not in legal:
            raise one_of(what, value, legal)
    if wanted.mode == "semantic" and board.helpers.embedder is None:
        raise BoardError(
            "not_configured", "search_mode 'semantic' needs an embedder.", hint="keyword and hybrid work without one."
        )


def _where(caller: Caller, wanted: Search, now: float) -> ColumnElement[bool]:
    parts = [readable(caller)]
    at = moment("as_of", wanted.as_of)
    if at is None:
        parts.append(alive(now))
    else:
        replaced = exists().where(LINKS.c.to_id == M.id, LINKS.c.relationship_type == "supersedes")
        parts.append(or_(not_(M.is_deleted), replaced))
        parts.append(or_(M.expires_at.is_(None), M.expires_at > now))
        parts.append(or_(M.valid_from.is_(None), M.valid_from <= at))
        parts.append(or_(M.valid_to.is_(None), M.valid_to > at))
    for column, value in ((M.type, wanted.type), (M.agent_id, wanted.agent), (M.user_id, wanted.user_id)):
        if value:
            parts.append(column == value)
    if wanted.scope:
        parts.append(M.scope == wanted.scope)
    if not wanted.scratchpad and wanted.type != "scratchpad":
        parts.append(M.type != "scratchpad")
    return and_(*parts)


def _by_meaning(
    connection: Connection, board: Board, wanted: Search, where: ColumnElement[bool], vector: Vector, k: int
) -> dict[str, _Hit]:
    """The best by meaning and words, each also chosen for being unlike those before it."""
    words: dict[str, float] = {}
    if wanted.mode == "hybrid":
        words = keyword_scores(connection, read_query(wanted.query), where, 3 * k)
    embedder = board.helpers.embedder
    model = embedder.model if embedder else ""
    vectors = _newest(connection, where, model, len(vector))
    vectors |= vectors_of(connection, [id for id in words if id not in vectors], model, len(vector))
    meaning = {id: max(0.0, cosine(vector, other)) for id, other in vectors.items()}
    scores = {
        id: MEANING * meaning.get(id, 0.0) + WORDS * words.get(id, 0.0) if wanted.mode == "hybrid" else meaning[id]
        for id in {**words, **meaning}
    }
    best = sorted((id for id in scores if scores[id] > 0), key=lambda id: -scores[id])[: 3 * k]
    chosen = diverse({id: scores[id] for id in best}, vectors, k)
    return {id: _Hit(scores[id], words.get(id, 0.0), meaning.get(id)) for id in chosen}


def _newest(connection: Connection, where: ColumnElement[bool], model: str, dim: int) -> dict[str, Vector]:
    query = (
        select(M.id, EMBEDDINGS.c.embedding)
        .join(EMBEDDINGS, EMBEDDINGS.c.memory_id == M.id)
        .where(where, EMBEDDINGS.c.model == model, EMBEDDINGS.c.dim == dim)
    )
    newest = query.order_by(M.seq.desc()).limit(COMPARED)
    return {row.id: unpacked(row.embedding) for row in connection.execute(newest)}


_COLUMNS = (
    M.id, M.type, M.title, M.metadata, M.agent_id, M.user_id, M.scope, M.importance, M.conversation_id, M.role,
    M.valid_from, M.valid_to, M.created_at, func.substr(M.content, 1, EXCERPT).label("content"),
    func.length(M.content).label("length"),
)  # fmt: skip


def _rows(connection: Connection, ids: list[str]) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for part in chunks(ids):
        found |= {row["id"]: row for row in connection.execute(select(*_COLUMNS).where(M.id.in_(part))).mappings()}
    return found


def _shown(row: Row, hit: _Hit, explain: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": row["id"], "score": round(hit.score, 4)}
    shown |= {name: row[name] for name in ("type", "title", "content")}
    if row["length"] > EXCERPT:
        shown["cut"] = f"{EXCERPT} of {row['length']} characters: memory_get gives all of it"
    shown |= {name: row[name] for name in ("agent_id", "scope", "user_id", "conversation_id", "role") if row[name]}
    shown |= {
        "importance": row["importance"],
        "metadata": loaded(row["metadata"]),
        "created_at": iso(row["created_at"]),
    }
    shown |= {name: iso(row[name]) for name in ("valid_from", "valid_to") if row[name] is not None}
    if explain:
        parts = {"keyword": round(hit.words, 4)}
        if hit.meaning is not None:
            parts |= {"cosine": round(hit.meaning, 4), "keyword_weight": WORDS, "cosine_weight": MEANING}
        shown["why"] = parts
    return shown
