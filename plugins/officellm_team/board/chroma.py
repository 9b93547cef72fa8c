"""Memories in a Chroma collection and back: what is missing or changed there is pushed, what is new there is pulled.

Each sync compares both sides anew, so nothing can be stuck between them. Private memories of others stay at home.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select

from officellm_team.board.caller import Caller
from officellm_team.board.embedding import embedded, keep, unpacked
from officellm_team.board.errors import BoardError, one_of
from officellm_team.board.helpers import Collection
from officellm_team.board.records import SCOPES, TYPES, Draft, M, add, alive, readable, sha256
from officellm_team.board.store import Board, Row, dumped
from officellm_team.board.tables import EMBEDDINGS, MEMORIES

DIRECTIONS = ("both", "to_chroma", "from_chroma")
_PAGE = 100
HINT = "This board has no Chroma collection: the key `chroma` of the team file's `board` names one."


def sync(board: Board, caller: Caller, *, max_items: int = 50, direction: str = "both") -> dict[str, Any]:
    """Push and pull, at most `max_items` each way. Says so where no collection is configured."""
    if direction not in DIRECTIONS:
        raise one_of("direction", direction, DIRECTIONS)
    collection = board.helpers.collection
    if collection is None:
        return {"configured": False, "hint": HINT}
    most = max(0, max_items)
    pushed = _push(board, caller, collection, most) if direction != "from_chroma" else 0
    pulled, failed = _pull(board, caller, collection, most) if direction != "to_chroma" else (0, 0)
    return {"configured": True, "pushed": pushed, "pulled": pulled, "failed": failed}


def _push(board: Board, caller: Caller, collection: Collection, most: int) -> int:
    columns = (MEMORIES, EMBEDDINGS.c.embedding)
    query = select(*columns).outerjoin(EMBEDDINGS, EMBEDDINGS.c.memory_id == M.id)
    query = query.where(alive(board.now()), readable(caller)).order_by(M.seq)
    pushed, after = 0, 0
    while pushed < most:
        with board.read() as connection:
            rows = connection.execute(query.where(M.seq > after).limit(_PAGE)).mappings().all()
        if not rows:
            break
        after = rows[-1]["seq"]
        there = _hashes(collection, [row["id"] for row in rows])
        changed = [row for row in rows if there.get(row["id"]) != row["content_hash"]][: most - pushed]
        # Chroma takes either a vector for each document, or none for any.
        for group in ([row for row in changed if row["embedding"]], [row for row in changed if not row["embedding"]]):
            if group:
                collection.upsert(**_columns(group))
        pushed += len(changed)
    return pushed


def _hashes(collection: Collection, ids: Sequence[str]) -> dict[str, str]:
    found = collection.get(ids=list(ids), include=["metadatas"])
    pairs = zip(found["ids"], found.get("metadatas") or [], strict=False)
    return {id: str((metadata or {}).get("content_hash", "")) for id, metadata in pairs}


def _columns(rows: Sequence[Row]) -> dict[str, Any]:
    names = ("type", "title", "agent_id", "user_id", "scope", "content_hash", "importance")
    columns: dict[str, Any] = {
        "ids": [row["id"] for row in rows],
        "documents": [row["content"] for row in rows],
        "metadatas": [{name: row[name] for name in names} for row in rows],
    }
    if rows[0]["embedding"]:
        columns["embeddings"] = [list(unpacked(row["embedding"])) for row in rows]
    return columns


def _pull(board: Board, caller: Caller, collection: Collection, most: int) -> tuple[int, int]:
    pulled = failed = offset = 0
    while pulled < most:
        page = collection.get(limit=_PAGE, offset=offset, include=["documents", "metadatas"])
        ids = list(page["ids"])
        if not ids:
            break
        offset += len(ids)
        there = _known(board, ids)
        for id, document, metadata in zip(ids, page["documents"], page["metadatas"], strict=True):
            if id in there or pulled >= most:
                continue
            try:
                _take(board, caller, id, document, metadata or {})
            except BoardError:
                failed += 1
            else:
                pulled += 1
    return pulled, failed


def _known(board: Board, ids: Sequence[str]) -> set[str]:
    """What the board has, also what was deleted here: it does not come back."""
    with board.read() as connection:
        return set(connection.execute(select(M.id).where(M.id.in_(ids))).scalars())


def _take(board: Board, caller: Caller, id: str, document: Any, metadata: Mapping[str, Any]) -> None:
    if not isinstance(document, str) or not document:
        raise BoardError("invalid_arguments", f"document {id!r} has no text.")
    type, scope = metadata.get("type"), metadata.get("scope")
    draft = Draft(
        type=type if type in TYPES and type != "auto" else "knowledge",
        content=document,
        title=str(metadata.get("title") or ""),
        metadata=dumped({name: value for name, value in metadata.items() if isinstance(value, str | int | float)}),
        agent_id=caller.name,
        change_agent=caller.name,
        scope=str(scope) if scope in SCOPES else "agent",
        source="chroma",
    )
    vectors = embedded(board, [document])
    with board.write() as connection:
        memory_id = add(connection, board, draft, caller.name, event="import", id=id)
        keep(connection, board, memory_id, vectors[0] if vectors else None, sha256(document))
