"""Links between memories: typed, directed, each once; and the neighbourhood of one memory."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite

from officellm_team.board.caller import Caller
from officellm_team.board.errors import BoardError, one_of
from officellm_team.board.history import record
from officellm_team.board.records import M, alive, find, links_of, readable
from officellm_team.board.store import Board, Row, new_id
from officellm_team.board.tables import LINKS, MEMORIES
from officellm_team.board.texts import chunks

LINK_TYPES = (
    "related", "supports", "contradicts", "extends", "supersedes", "references", "consolidates", "message", "handoff",
)  # fmt: skip
MAX_DEPTH = 3
#: A graph stops growing here, and says so.
MAX_NODES = 500


def connect(connection: Connection, from_id: str, to_id: str, type: str, now: float) -> tuple[str, bool]:
    """The id of the link, and whether it is new."""
    make: Any = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    id = new_id()
    row = {"id": id, "from_id": from_id, "to_id": to_id, "relationship_type": type, "created_at": now}
    # Not by its row count: PostgreSQL's driver gives none for such an insert.
    if connection.execute(make(LINKS).values(**row).on_conflict_do_nothing().returning(LINKS.c.id)).first():
        return id, True
    same = (LINKS.c.from_id == from_id, LINKS.c.to_id == to_id, LINKS.c.relationship_type == type)
    return str(connection.execute(select(LINKS.c.id).where(*same)).scalar_one()), False


def link(board: Board, caller: Caller, from_id: str, to_id: str, type: str) -> dict[str, Any]:
    """Link two memories that the caller can see. Raises `BoardError`."""
    if type not in LINK_TYPES:
        raise one_of("relationship_type", type, LINK_TYPES)
    if from_id == to_id:
        raise BoardError("invalid_arguments", f"memory {from_id!r} cannot be linked to itself.")
    now = board.now()
    with board.write() as connection:
        for id in (from_id, to_id):
            if find(connection, caller, id, now)["id"] != id:
                raise BoardError("invalid_arguments", f"{id!r} is the beginning of an id.", hint="Give the full id.")
        id, created = connect(connection, from_id, to_id, type, now)
        if created:
            record(connection, from_id, "link", caller.name, type, new=to_id, at=now)
    return {"id": id, "from_id": from_id, "to_id": to_id, "relationship_type": type, "created": created}


def graph(board: Board, caller: Caller, memory_id: str, depth: int = 1) -> dict[str, Any]:
    """What the caller can see around a memory, breadth first: each node once, with its distance; and the links."""
    depth, now = max(1, min(MAX_DEPTH, depth)), board.now()
    with board.read() as connection:
        start = find(connection, caller, memory_id, now)
        nodes, edges = {start["id"]: _node(start, 0)}, dict[str, dict[str, str]]()
        ring = [start["id"]]
        for distance in range(1, depth + 1):
            found = [*links_of(connection, ring), *links_of(connection, ring, "to_id")]
            near = {id for edge in found for id in (edge["from_id"], edge["to_id"])} - nodes.keys()
            rows = _visible(connection, caller, sorted(near), now)[: max(0, MAX_NODES - len(nodes))]
            ring = [row["id"] for row in rows]
            nodes |= {row["id"]: _node(row, distance) for row in rows}
            edges |= {edge["id"]: _edge(edge) for edge in found if {edge["from_id"], edge["to_id"]} <= nodes.keys()}
    cut = len(nodes) >= MAX_NODES
    return {
        "root": start["id"],
        "depth": depth,
        "nodes": list(nodes.values()),
        "edges": list(edges.values()),
        "cut": cut,
    }


def _visible(connection: Connection, caller: Caller, ids: list[str], now: float) -> list[Row]:
    rows: list[Row] = []
    for part in chunks(ids):
        query = select(MEMORIES).where(M.id.in_(part), alive(now), readable(caller))
        rows.extend(connection.execute(query).mappings())
    return sorted(rows, key=lambda row: row["seq"])


def _node(row: Row, distance: int) -> dict[str, Any]:
    return {"id": row["id"], "type": row["type"], "title": row["title"], "agent_id": row["agent_id"], "hops": distance}


def _edge(row: Row) -> dict[str, str]:
    return {name: row[name] for name in ("id", "from_id", "to_id", "relationship_type")}
