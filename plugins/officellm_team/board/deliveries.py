"""Deliveries: queued, leased, done or dead. Runners claim them, keep them, give them back; no tool reaches them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, select, update

from officellm_team.board import checks, claiming, notifications, retries, tasks
from officellm_team.board.caller import Caller
from officellm_team.board.errors import BoardError, not_found, one_of
from officellm_team.board.store import Board, Row, iso
from officellm_team.board.tables import DELIVERIES, NOTIFICATIONS, TASKS

STATES = ("queued", "leased", "done", "dead")
_MAX_ERROR = 2000


@dataclass(frozen=True, slots=True)
class Delivery:
    """One claimed delivery. `payload` is None where it is no JSON object; `token` fences off whoever had it before."""

    id: int
    agent_id: str
    kind: str
    task_id: str | None
    payload: dict[str, Any] | None
    raw_payload: str
    sender: str
    attempts: int
    token: int
    created_at: float


def claim(
    board: Board,
    *,
    runner: str,
    agents: Sequence[str],
    kinds: Sequence[str],
    lease_seconds: float,
    limit: int = 1,
    per_agent: int | None = None,
) -> list[Delivery]:
    """Lease what is due to these agents: high priority first, then what waits longest.

    A lease that expired is free again. There is never more than one live lease for a task, nor more than `per_agent`
    for an agent, however many processes claim.
    """
    wanted = claiming.Wanted(tuple(agents), tuple(kinds), per_agent)
    with board.write() as connection:
        rows = claiming.lease(connection, wanted, runner=runner, now=board.now(), seconds=lease_seconds, limit=limit)
        return [_delivery(connection, row) for row in rows]


def renew(board: Board, id: int, token: int, lease_seconds: float) -> bool:
    """Keep a lease for so many seconds from now; False where it is lost."""
    with board.write() as connection:
        now = board.now()
        return _change(connection, id, token, lease_expires_at=now + lease_seconds, updated_at=now)


def finish(board: Board, id: int, token: int, outcome: str) -> None:
    """The work is done. Raises `BoardError` (`stale_lease`) where another one may have it."""
    with board.write() as connection:
        now = board.now()
        _settle(connection, id, token, state="done", outcome=outcome, now=now)
        connection.execute(
            update(NOTIFICATIONS).where(NOTIFICATIONS.c.id == id, NOTIFICATIONS.c.read_at.is_(None)).values(read_at=now)
        )


def retry_later(board: Board, id: int, token: int, error: str, delay: float) -> None:
    """Back to the queue, not before `delay` seconds from now. Raises `BoardError` (`stale_lease`)."""
    with board.write() as connection:
        now = board.now()
        _settle(
            connection, id, token, state="queued", last_error=error[:_MAX_ERROR], next_attempt_at=now + delay, now=now
        )


def release(board: Board, id: int, token: int) -> None:
    """Back to its place in the queue: nothing was tried. Raises `BoardError` (`stale_lease`)."""
    with board.write() as connection:
        _settle(connection, id, token, state="queued", attempts=DELIVERIES.c.attempts - 1, now=board.now())


def bury(board: Board, id: int, token: int, error: str) -> None:
    """Give it up: its task fails with the reason, or else its sender is told. Raises `BoardError` (`stale_lease`)."""
    with board.write() as connection:
        now = board.now()
        _settle(connection, id, token, state="dead", last_error=error[:_MAX_ERROR], now=now)
        row = connection.execute(_joined().where(DELIVERIES.c.id == id)).mappings().one()
        runner = Caller(row["agent_id"], operator=True)
        if not _fail_task(connection, row, runner, error, now):
            _tell_sender(connection, row, error, now)


def requeue_orphans(board: Board) -> list[str]:
    """Wake the owners of tasks in progress that nothing on the board would wake, and name these tasks.

    A task that waits for what it needs, or for tasks that it was split into, is no orphan.
    """
    with board.read() as connection:
        orphans = list(connection.execute(_orphans()).scalars())
    if not orphans:
        return []
    with board.write() as connection:
        return [id for id in orphans if tasks.wake(connection, id, board.now())]


def retry_dead(board: Board, id: int) -> int:
    """Queue a dead delivery again, and give the id of the delivery that is queued.

    Where its task failed with it, that is the delivery of a new attempt at the task.
    """
    with board.write() as connection:
        now = board.now()
        row = (
            connection.execute(
                _joined().where(DELIVERIES.c.id == checks.clamp(id, 0, checks.MAX_ID)).with_for_update(of=DELIVERIES)
            )
            .mappings()
            .first()
        )
        if row is None:
            raise not_found("delivery", str(id))
        if row["state"] != "dead":
            raise BoardError("invalid_state", f"delivery {id} is {row['state']}, not dead.")
        values: dict[str, Any] = {"state": "queued", "attempts": 0, "next_attempt_at": now}
        if tasks.state_of(connection, row["task_id"]) == "failed":
            again = retries.retry_in(connection, Caller(row["agent_id"], operator=True), row["task_id"], now)
            values = {"state": "done", "outcome": f"retried as task {again}"}
        connection.execute(update(DELIVERIES).where(DELIVERIES.c.id == id).values(**values, updated_at=now))
        if values["state"] == "queued":
            return id
        newest = select(func.max(DELIVERIES.c.id)).where(DELIVERIES.c.task_id == again)
        return int(connection.execute(newest).scalar() or 0)


def counts(board: Board, *, agents: Sequence[str] = (), kinds: Sequence[str] = ()) -> dict[str, int]:
    """How many deliveries are in each state, of all or of these agents and kinds."""
    wanted = select(DELIVERIES.c.state, func.count()).group_by(DELIVERIES.c.state)
    if agents:
        wanted = wanted.where(DELIVERIES.c.agent_id.in_(agents))
    if kinds:
        wanted = wanted.where(DELIVERIES.c.kind.in_(kinds))
    with board.read() as connection:
        found = {str(state): int(count) for state, count in connection.execute(wanted)}
    return {state: found.get(state, 0) for state in STATES}


def listing(board: Board, state: str = "", limit: int = 50) -> list[dict[str, Any]]:
    """Deliveries of a state, or of all, newest first. Raises `BoardError`."""
    if state and state not in STATES:
        raise one_of("state", state, STATES)
    wanted = _joined().order_by(DELIVERIES.c.id.desc()).limit(max(1, limit))
    with board.read() as connection:
        rows = connection.execute(wanted.where(DELIVERIES.c.state == state) if state else wanted).mappings()
        return [_shown(row) for row in rows]


def _joined() -> Select[Any]:
    return select(DELIVERIES, NOTIFICATIONS.c.payload, NOTIFICATIONS.c.sender).join(
        NOTIFICATIONS, NOTIFICATIONS.c.id == DELIVERIES.c.id
    )


def _settle(connection: Connection, id: int, token: int, *, state: str, now: float, **values: Any) -> None:
    if not _change(connection, id, token, state=state, leased_by="", lease_expires_at=None, updated_at=now, **values):
        raise BoardError("stale_lease", f"the lease {token} of delivery {id} is lost: another runner may have it.")


def _change(connection: Connection, id: int, token: int, **values: Any) -> bool:
    held = update(DELIVERIES).where(DELIVERIES.c.id == id, DELIVERIES.c.token == token, DELIVERIES.c.state == "leased")
    return bool(connection.execute(held.values(**values)).rowcount)


def _fail_task(connection: Connection, row: Row, runner: Caller, error: str, now: float) -> bool:
    """Fail the task that the delivery would have done; False where there is none, or it is another one's by now."""
    if row["kind"] not in notifications.WORK_KINDS or row["task_id"] is None:
        return False
    about = {"reason": error[:_MAX_ERROR], "notification_id": row["id"]}
    return tasks.fail_in(connection, runner, row["task_id"], reason=error, metadata=about, at=now)


def _tell_sender(connection: Connection, row: Row, error: str, now: float) -> None:
    kind = "delivery_failed"
    if row["sender"] and row["sender"] != row["agent_id"] and row["kind"] != kind:
        payload = {
            "notification_id": row["id"],
            "agent_id": row["agent_id"],
            "kind": row["kind"],
            "reason": error[:500],
        }
        notifications.send(connection, row["sender"], kind, payload, sender=row["agent_id"], at=now)


def _orphans() -> Any:
    """Ids only: each is looked at again before it is woken."""
    live = select(DELIVERIES.c.id).where(
        DELIVERIES.c.task_id == TASKS.c.id,
        DELIVERIES.c.agent_id == TASKS.c.owner_agent,
        DELIVERIES.c.kind.in_(notifications.WORK_KINDS),
        DELIVERIES.c.state.in_(("queued", "leased")),
    )
    return (
        select(TASKS.c.id)
        .where(TASKS.c.state == "in_progress", TASKS.c.owner_agent != "", ~live.exists())
        .order_by(TASKS.c.created_at, TASKS.c.id)
    )


def _delivery(connection: Connection, row: Row) -> Delivery:
    told = connection.execute(
        select(NOTIFICATIONS.c.payload, NOTIFICATIONS.c.sender).where(NOTIFICATIONS.c.id == row["id"])
    ).one()
    return Delivery(
        id=row["id"],
        agent_id=row["agent_id"],
        kind=row["kind"],
        task_id=row["task_id"],
        payload=_object(told.payload),
        raw_payload=told.payload,
        sender=told.sender,
        attempts=row["attempts"],
        token=row["token"],
        created_at=row["created_at"],
    )


def _object(raw: str) -> dict[str, Any] | None:
    """What a payload says; None where it is no JSON object: whoever wrote it past the board spoils its own delivery."""
    try:
        read = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


def _shown(row: Row) -> dict[str, Any]:
    times = ("next_attempt_at", "lease_expires_at", "created_at", "updated_at")
    words = ("id", "agent_id", "kind", "task_id", "state", "attempts", "leased_by", "last_error", "outcome", "sender")
    return {
        **{word: row[word] for word in words},
        "priority": notifications.PRIORITIES[row["rank"]],
        "payload": row["payload"],
        **{moment: iso(row[moment]) for moment in times},
    }
