"""The registry of agents: who may own work, and who was seen lately."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects import postgresql, sqlite

from officellm import nearest
from officellm_team.board import checks
from officellm_team.board.caller import Caller
from officellm_team.board.errors import BoardError, one_of
from officellm_team.board.store import Board, Row, dumped, iso, loaded
from officellm_team.board.tables import AGENTS
from officellm_team.board.texts import checked

STATUSES = ("active", "idle", "offline")
#: An agent that was not seen for so long is shown as offline, whatever it said last. Runners tell of theirs more often.
SEEN_SECONDS = 90.0


def register(
    board: Board,
    caller: Caller,
    *,
    role: str = "",
    capabilities: Sequence[str] = (),
    metadata: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Put the caller on the list, or back on it, as active. What was known of it is replaced."""
    agent_id, at = checks.name("agent_id", caller.name), board.now()
    values = {
        "role": checked("role", role),
        "capabilities": checked("capabilities", dumped(list(capabilities))),
        "metadata": checks.mapping("metadata", metadata or {}),
        "status": "active",
        "last_seen": at,
    }
    with board.write() as connection:
        make: Any = sqlite.insert if board.is_sqlite else postgresql.insert
        row = make(AGENTS).values(agent_id=agent_id, created_at=at, **values)
        connection.execute(row.on_conflict_do_update(index_elements=["agent_id"], set_=values))
        return _get(connection, agent_id, at)


def heartbeat(board: Board, caller: Caller) -> dict[str, Any]:
    """The caller lives. Raises `BoardError` where it is not registered."""
    return _said(board, caller.name, {"status": "active", "last_seen": board.now()})


def offline(board: Board, caller: Caller) -> dict[str, Any]:
    """The caller leaves. Raises `BoardError` where it is not registered."""
    return _said(board, caller.name, {"status": "offline"})


def get(board: Board, agent_id: str) -> dict[str, Any]:
    """One agent. Raises `BoardError` where it is not registered."""
    with board.read() as connection:
        return _get(connection, agent_id, board.now())


def listing(board: Board, *, status: str = "", role: str = "") -> list[dict[str, Any]]:
    """All agents, or those of a status and a role; who was seen last is first."""
    if status and status not in STATUSES:
        raise one_of("status", status, STATUSES)
    wanted = select(AGENTS).order_by(AGENTS.c.last_seen.desc(), AGENTS.c.agent_id)
    if role:
        wanted = wanted.where(AGENTS.c.role == checked("role", role))
    with board.read() as connection:
        shown = [_shown(row, board.now()) for row in connection.execute(wanted).mappings()]
    return [agent for agent in shown if status in ("", agent["status"])]


def require(connection: Connection, agent_id: str) -> str:
    """The name of a registered agent. Raises `BoardError` with the code `agent_not_registered` and the nearest name."""
    known = list(connection.execute(select(AGENTS.c.agent_id)).scalars())
    if agent_id not in known:
        hint = f"{nearest(agent_id, known).strip()} An agent is registered with agent_register.".strip()
        raise BoardError("agent_not_registered", f"agent {agent_id!r} is not registered.", hint=hint)
    return agent_id


def _said(board: Board, agent_id: str, values: dict[str, Any]) -> dict[str, Any]:
    with board.write() as connection:
        require(connection, agent_id)
        connection.execute(update(AGENTS).where(AGENTS.c.agent_id == agent_id).values(**values))
        return _get(connection, agent_id, board.now())


def _get(connection: Connection, agent_id: str, now: float) -> dict[str, Any]:
    row = connection.execute(select(AGENTS).where(AGENTS.c.agent_id == require(connection, agent_id))).mappings().one()
    return _shown(row, now)


def _shown(row: Row, now: float) -> dict[str, Any]:
    seen = now - row["last_seen"] <= SEEN_SECONDS
    return {
        "agent_id": row["agent_id"],
        "role": row["role"],
        "status": row["status"] if seen else "offline",
        "capabilities": loaded(row["capabilities"]),
        "metadata": loaded(row["metadata"]),
        "created_at": iso(row["created_at"]),
        "last_seen": iso(row["last_seen"]),
    }
