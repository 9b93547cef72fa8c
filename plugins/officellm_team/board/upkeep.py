"""Upkeep of the memories: maintenance, summaries in the place of many old memories, and duplicates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, not_, select, text, update

from officellm_team.board import retention
from officellm_team.board.caller import Caller
from officellm_team.board.embedding import Vector, cosine, unpacked
from officellm_team.board.errors import BoardError, one_of
from officellm_team.board.history import record
from officellm_team.board.links import connect
from officellm_team.board.records import HANDOFF, TYPES, Draft, M, add, alive, readable
from officellm_team.board.store import Board, Row
from officellm_team.board.summaries import sum_up, summarizer
from officellm_team.board.tables import EMBEDDINGS, MEMORIES
from officellm_team.board.tallies import totals
from officellm_team.board.texts import chunks

#: Each of these says something of its own, however old: none is summed up.
KEPT = frozenset({"preference", "user_fact", "task", "plan", "conversation", "message", "summary", HANDOFF})
#: So many of the newest memories are compared with each other for duplicates.
SCANNED = 500


def maintain(
    board: Board, caller: Caller, *, decay: bool = True, purge_expired: bool = True, prune_embeddings: bool = True
) -> dict[str, Any]:
    """Fade, purge, prune, archive, apply retention, and refresh what the database knows of itself."""
    now = board.now()
    with board.write() as connection:
        done = {
            "decayed": retention.decay(connection, now) if decay else 0,
            "expired": retention.purge_expired(connection, caller, now) if purge_expired else 0,
            "faded": retention.put_away_faded(connection, caller, now),
            "retained": retention.apply_policies(connection, caller, now),
            "embeddings_pruned": retention.prune_embeddings(connection) if prune_embeddings else 0,
        }
        board.tallies.flush(connection)
    with board.write() as connection:
        connection.execute(text("ANALYZE"))
    return done


def cost_report(board: Board) -> dict[str, int]:
    """What embedding, searching and writing came to since the board was made."""
    with board.write() as connection:
        board.tallies.flush(connection)
        return totals(connection)


def consolidate(
    board: Board, caller: Caller, *, type_filter: str = "", agent_filter: str = "", threshold: int = 20
) -> dict[str, Any]:
    """One summary in the place of the oldest memories of each group that has more than `threshold`.

    A group shares type, agent, user and scope. Only what the caller may change is touched. Raises `BoardError`.
    """
    ask = summarizer(board, "memory_consolidate")
    if type_filter and type_filter not in TYPES:
        raise one_of("type_filter", type_filter, TYPES)
    if threshold < 1:
        raise BoardError("invalid_arguments", f"threshold is {threshold}.", hint="1 or more memories stay as they are.")
    if agent_filter:
        caller.require("what is to be consolidated", agent_filter)
    done = []
    for rows in _groups(board, caller, type_filter, agent_filter):
        surplus = rows[: len(rows) - threshold] if len(rows) > threshold else []
        if len(surplus) > 1:
            lines = [f"{row['title']}: {row['content']}" if row["title"] else row["content"] for row in surplus]
            summary = sum_up(ask, f"Sum up these memories of type {surplus[0]['type']}; keep every fact.", lines)
            done.append(_replace(board, caller, surplus, summary))
    return {"groups": [group for group in done if group["consolidated"]]}


def _groups(board: Board, caller: Caller, type_filter: str, agent_filter: str) -> list[list[Row]]:
    where = [alive(board.now()), readable(caller), M.type.not_in(KEPT)]
    where += [M.type == type_filter] if type_filter else []
    where += [M.agent_id == agent_filter] if agent_filter else []
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    with board.read() as connection:
        for row in connection.execute(select(MEMORIES).where(and_(*where)).order_by(M.seq)).mappings():
            if caller.may_change(row["agent_id"]):
                groups[row["type"], row["agent_id"], row["user_id"], row["scope"]].append(row)
    return list(groups.values())


def _replace(board: Board, caller: Caller, rows: Sequence[Row], summary: str) -> dict[str, Any]:
    """What was changed or deleted while the model wrote stays as it is."""
    first, now = rows[0], board.now()
    draft = Draft(
        type="summary",
        title=f"{len(rows)} memories of type {first['type']}",
        content=summary,
        agent_id=first["agent_id"],
        user_id=first["user_id"],
        scope=first["scope"],
        change_agent=caller.name,
        importance=max(row["importance"] for row in rows),
        source="consolidation",
    )
    with board.write() as connection:
        gone = [row["id"] for row in rows if _hide(connection, row, now)]
        if not gone:
            return {"consolidated": 0}
        id = add(connection, board, draft, caller.name)
        for old in gone:
            connect(connection, id, old, "consolidates", now)
            record(connection, old, "consolidate", caller.name, new=id, at=now)
    kept = {"type": first["type"], "agent_id": first["agent_id"], "summary_id": id}
    return {**kept, "consolidated": len(gone), "consolidated_ids": gone}


def _hide(connection: Connection, row: Row, now: float) -> bool:
    same = (M.id == row["id"], not_(M.is_deleted), M.content_hash == row["content_hash"])
    return connection.execute(update(MEMORIES).where(*same).values(is_deleted=True, updated_at=now)).rowcount == 1


@dataclass(frozen=True, slots=True)
class _Item:
    row: Row
    vector: Vector
    model: str

    def is_like(self, other: _Item, threshold: float) -> bool:
        if self.row["content_hash"] == other.row["content_hash"]:
            return True
        same = bool(self.vector) and self.model == other.model
        return same and cosine(self.vector, other.vector) >= threshold


def dedup(board: Board, caller: Caller, *, threshold: float = 0.92, dry_run: bool = True) -> dict[str, Any]:
    """Memories of one type, agent, user and scope that say the same: equal contents, or alike vectors.

    Looks at the newest that the caller may change. Unless it is a dry run, the most important of a group stays (the
    newest among equals) and is linked to the others, which are hidden. Raises `BoardError`.
    """
    if not 0 < threshold <= 1:
        raise BoardError("invalid_arguments", f"threshold is {threshold}.", hint="Over 0, at most 1.")
    items = _scanned(board, caller)
    groups = [group for pool in items.values() for group in _alike(pool, threshold)]
    if not dry_run:
        _merge(board, caller, groups)
    said = [{"keep": group[0].row["id"], "duplicates": [item.row["id"] for item in group[1:]]} for group in groups]
    scanned = sum(len(pool) for pool in items.values())
    return {"count": len(groups), "groups": said, "threshold": threshold, "scanned": scanned, "applied": not dry_run}


def _scanned(board: Board, caller: Caller) -> dict[tuple[str, ...], list[_Item]]:
    query = select(MEMORIES).where(alive(board.now()), readable(caller), M.type.not_in(("message", HANDOFF)))
    if not (caller.operator or caller.gated):
        query = query.where(M.agent_id.in_((caller.name, "")))
    with board.read() as connection:
        rows = connection.execute(query.order_by(M.seq.desc()).limit(SCANNED)).mappings().all()
        vectors: dict[str, tuple[Vector, str]] = {}
        for part in chunks([row["id"] for row in rows]):
            found = select(EMBEDDINGS.c.memory_id, EMBEDDINGS.c.embedding, EMBEDDINGS.c.model)
            for one in connection.execute(found.where(EMBEDDINGS.c.memory_id.in_(part))):
                vectors[one.memory_id] = (unpacked(one.embedding), one.model)
    pools: dict[tuple[str, ...], list[_Item]] = defaultdict(list)
    for row in rows:
        vector, model = vectors.get(row["id"], ((), ""))
        pools[row["type"], row["agent_id"], row["user_id"], row["scope"]].append(_Item(row, vector, model))
    return pools


def _alike(pool: list[_Item], threshold: float) -> list[list[_Item]]:
    left = sorted(pool, key=lambda item: (-item.row["importance"], -item.row["seq"]))
    groups = []
    while left:
        first, *rest = left
        group = [first, *(item for item in rest if first.is_like(item, threshold))]
        taken = {item.row["id"] for item in group}
        left = [item for item in rest if item.row["id"] not in taken]
        if len(group) > 1:
            groups.append(group)
    return groups


def _merge(board: Board, caller: Caller, groups: list[list[_Item]]) -> None:
    now = board.now()
    with board.write() as connection:
        for kept, *others in groups:
            for other in others:
                if _hide(connection, other.row, now):
                    connect(connection, kept.row["id"], other.row["id"], "consolidates", now)
                    record(connection, other.row["id"], "dedup", caller.name, new=kept.row["id"], at=now)
