"""How one delivery after the other is leased, so that claimers in other processes get others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select, text, update

from officellm_team.board.store import Row
from officellm_team.board.tables import DELIVERIES

D = DELIVERIES.c
_OTHERS = DELIVERIES.alias("others")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a claimer may have."""

    agents: tuple[str, ...]
    kinds: tuple[str, ...]
    per_agent: int | None = None


def lease(connection: Connection, wanted: Wanted, *, runner: str, now: float, seconds: float, limit: int) -> list[Row]:
    """Lease at most `limit` of what is due, one by one. In a transaction that may write."""
    if not wanted.agents or not wanted.kinds:
        return []
    _free_expired(connection, now)
    room = _room(connection, wanted)
    leased: list[Row] = []
    busy: list[str] = []
    while len(leased) < limit:
        agents = [agent for agent in wanted.agents if room.get(agent, 1) > 0]
        row = connection.execute(_next(agents, wanted.kinds, busy, now)).mappings().first()
        if row is None:
            break
        task = row["task_id"]
        if task is not None:
            busy.append(task)
            if not _has_task(connection, task):
                continue
        values = {
            "state": "leased",
            "leased_by": runner,
            "attempts": row["attempts"] + 1,
            "token": row["token"] + 1,
            "lease_expires_at": now + seconds,
            "updated_at": now,
        }
        connection.execute(update(DELIVERIES).where(D.id == row["id"]).values(**values))
        leased.append({**row, **values})
        if row["agent_id"] in room:
            room[row["agent_id"]] -= 1
    return leased


def _next(agents: list[str], kinds: tuple[str, ...], busy: list[str], now: float) -> Any:
    at_work = select(_OTHERS.c.id).where(_OTHERS.c.task_id == D.task_id, _OTHERS.c.state == "leased")
    due = (
        select(DELIVERIES)
        .where(D.state == "queued", D.next_attempt_at <= now, D.agent_id.in_(agents), D.kind.in_(kinds))
        .where(~at_work.exists())
    )
    if busy:
        due = due.where(D.task_id.is_(None) | D.task_id.not_in(busy))
    return due.order_by(D.rank, D.next_attempt_at, D.id).limit(1).with_for_update(skip_locked=True, of=DELIVERIES)


def _free_expired(connection: Connection, now: float) -> None:
    """Leases that ran out go back to their place in the queue; the attempt counts.

    From here on a lease is live if its row says so, whatever clock its holder has: a renewal that comes now is refused.
    """
    expired = select(D.id).where(D.state == "leased", D.lease_expires_at <= now).with_for_update(skip_locked=True)
    ids = list(connection.execute(expired).scalars())
    if ids:
        freed = {"state": "queued", "leased_by": "", "lease_expires_at": None, "last_error": "the lease ran out"}
        connection.execute(update(DELIVERIES).where(D.id.in_(ids)).values(**freed, updated_at=now))


def _room(connection: Connection, wanted: Wanted) -> dict[str, int]:
    """How many more each agent may have; empty where there is no cap."""
    if wanted.per_agent is None:
        return {}
    if connection.dialect.name != "sqlite":
        # Claimers for the same agent count one after the other, and lock in one order. SQLite has one writer anyway.
        for agent in sorted(set(wanted.agents)):
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 1))"), {"key": agent})
    live = (
        select(D.agent_id, func.count()).where(D.state == "leased", D.agent_id.in_(wanted.agents)).group_by(D.agent_id)
    )
    held = {str(agent): int(count) for agent, count in connection.execute(live)}
    return {agent: wanted.per_agent - held.get(agent, 0) for agent in wanted.agents}


def _has_task(connection: Connection, task: str) -> bool:
    """Take the task for this transaction; False where another claimer has it, or a lease of it was committed since."""
    if connection.dialect.name == "sqlite":
        return True
    taken = text("SELECT pg_try_advisory_xact_lock(hashtextextended(:key, 2))")
    if not connection.execute(taken, {"key": task}).scalar():
        return False
    live = select(D.id).where(D.task_id == task, D.state == "leased")
    return connection.execute(live.limit(1)).first() is None
