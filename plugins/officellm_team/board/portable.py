"""Memories as one JSON document: written for another board, and read back. Reading the same again changes nothing."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Select, delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from officellm_team.board.caller import Caller
from officellm_team.board.documents import read_item
from officellm_team.board.errors import BoardError, one_of
from officellm_team.board.history import record
from officellm_team.board.records import HANDOFF, TYPES, M, alive, links_of, next_seq, readable, shown
from officellm_team.board.store import Board, Row, iso
from officellm_team.board.tables import EMBEDDINGS, LINKS, MEMORIES
from officellm_team.board.texts import chunks, moment


def export(
    board: Board, caller: Caller, *, agent_filter: str = "", type_filter: str = "", since: str = ""
) -> dict[str, Any]:
    """What the caller can see, in the order of writing, with vectors and the links that begin there.

    `since` is a time: what was changed then or later. Raises `BoardError`.
    """
    if type_filter and type_filter not in (*TYPES, HANDOFF):
        raise one_of("type_filter", type_filter, (*TYPES, HANDOFF))
    query = select(MEMORIES).where(alive(board.now()), readable(caller))
    if agent_filter:
        query = query.where(M.agent_id == agent_filter)
    if type_filter:
        query = query.where(M.type == type_filter)
    start = moment("since", since)
    if start is not None:
        query = query.where(M.updated_at >= start)
    with board.read() as connection:
        items = documents(connection, query)
    return {"exported_at": iso(board.now()), "item_count": len(items), "items": items}


def documents(connection: Connection, query: Select[Any]) -> list[dict[str, Any]]:
    """The memories of a query, whole: with vectors, and with links to others of them."""
    rows = connection.execute(query.order_by(M.seq)).mappings().all()
    ids = [row["id"] for row in rows]
    vectors = {row["memory_id"]: row for row in _embeddings(connection, ids)}
    there, links = set(ids), dict[str, list[dict[str, Any]]]()
    for link in links_of(connection, ids):
        if link["to_id"] in there:
            said = {"id": link["id"], "to_id": link["to_id"], "relationship_type": link["relationship_type"]}
            links.setdefault(link["from_id"], []).append({**said, "created_at": iso(link["created_at"])})
    return [_document(row, vectors.get(row["id"]), links.get(row["id"], [])) for row in rows]


def _embeddings(connection: Connection, ids: list[str]) -> Iterator[Row]:
    for part in chunks(ids):
        yield from connection.execute(select(EMBEDDINGS).where(EMBEDDINGS.c.memory_id.in_(part))).mappings()


def _document(row: Row, vector: Row | None, links: list[dict[str, Any]]) -> dict[str, Any]:
    said = shown(row)
    del said["seq"]
    if vector is not None:
        kept = {name: vector[name] for name in ("model", "dim", "content_hash")}
        said["embedding"] = {**kept, "data": base64.b64encode(vector["embedding"]).decode()}
    return {**said, "relationships": links}


@dataclass(slots=True)
class _Counts:
    imported: int = 0
    unchanged: int = 0
    older: int = 0
    embeddings: int = 0
    relationships: int = 0
    dangling: list[str] = field(default_factory=list)


def import_(board: Board, caller: Caller, data: str) -> dict[str, Any]:
    """Add or replace memories by id, all or none; what the board has in a newer state stays. Raises `BoardError`."""
    items = [read_item(index, item) for index, item in enumerate(_items(data))]
    counts = _Counts()
    with board.write() as connection:
        for item in items:
            if _keep(connection, caller, item.row, board.now(), counts) and item.vector is not None:
                counts.embeddings += _keep_vector(connection, item.vector)
        for item in items:
            for link in item.links:
                _keep_link(connection, link, counts)
        board.tallies.flush(connection)
    return {name: getattr(counts, name) for name in _Counts.__slots__}


def _items(data: str) -> list[Any]:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BoardError(
            "invalid_arguments", f"data is not JSON: {error}.", hint="Give what memory_export gave."
        ) from None
    items = document.get("items") if isinstance(document, Mapping) else None
    if not isinstance(items, list):
        raise BoardError("invalid_arguments", "data has no list `items`.", hint="Give what memory_export gave.")
    return items


def _keep(connection: Connection, caller: Caller, row: dict[str, Any], now: float, counts: _Counts) -> bool:
    """Whether the board has this row now."""
    there = connection.execute(select(MEMORIES).where(M.id == row["id"]).with_for_update()).mappings().first()
    if there is None:
        connection.execute(insert(MEMORIES).values(seq=next_seq(connection), **row))
    elif all(there[name] == value for name, value in row.items()):
        counts.unchanged += 1
        return True
    elif there["updated_at"] > row["updated_at"]:
        counts.older += 1
        return False
    else:
        caller.require(f"memory {row['id']!r}", there["agent_id"])
        connection.execute(update(MEMORIES).where(M.id == row["id"]).values(**row))
    record(connection, row["id"], "import", caller.name, at=now)
    counts.imported += 1
    return True


def _keep_vector(connection: Connection, vector: dict[str, Any]) -> int:
    same = [EMBEDDINGS.c[name] == value for name, value in vector.items()]
    if connection.execute(select(EMBEDDINGS.c.memory_id).where(*same)).first():
        return 0
    connection.execute(delete(EMBEDDINGS).where(EMBEDDINGS.c.memory_id == vector["memory_id"]))
    connection.execute(insert(EMBEDDINGS).values(**vector))
    return 1


def _keep_link(connection: Connection, link: dict[str, Any], counts: _Counts) -> None:
    ends = {link["from_id"], link["to_id"]}
    there = connection.execute(select(M.id).where(M.id.in_(sorted(ends)))).all()
    if len(there) < 2:
        counts.dangling.append(link["id"])
        return
    make: Any = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = make(LINKS).values(**link).on_conflict_do_nothing().returning(LINKS.c.id)
    counts.relationships += connection.execute(statement).first() is not None
