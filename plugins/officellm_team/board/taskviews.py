"""Tasks as they are shown: one, a list, a tree. Nothing is changed here."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from officellm_team.board import checks, transitions
from officellm_team.board.errors import BoardError, one_of
from officellm_team.board.store import Board, Row, iso, loaded
from officellm_team.board.tables import TASK_NEEDS, TASKS
from officellm_team.board.texts import checked, chunks

#: What a listing and a tree show of each task.
_BRIEF = (
    "id",
    "title",
    "state",
    "priority",
    "owner_agent",
    "created_by",
    "parent_task_id",
    "result_memory_id",
    "attempt",
)
#: How much of an id is enough to read by.
_PREFIX = 8
_MAX_NODES = 500


def get(board: Board, task_id: str) -> dict[str, Any]:
    """One task by its id, or by the first 8 characters. Raises `BoardError`."""
    with board.read() as connection:
        return shown(connection, found(connection, task_id))


def listing(
    board: Board, *, owner_agent: str = "", state: str = "", parent_task_id: str = "", limit: int = 50
) -> list[dict[str, Any]]:
    """Tasks in brief, those changed last first. Raises `BoardError`."""
    if state and state not in transitions.STATES:
        raise one_of("state", state, transitions.STATES)
    wanted = select(TASKS).order_by(TASKS.c.updated_at.desc(), TASKS.c.created_at.desc(), TASKS.c.id)
    if owner_agent:
        wanted = wanted.where(TASKS.c.owner_agent == checked("owner_agent", owner_agent))
    if state:
        wanted = wanted.where(TASKS.c.state == state)
    with board.read() as connection:
        if parent_task_id:
            wanted = wanted.where(TASKS.c.parent_task_id == found(connection, parent_task_id)["id"])
        rows = connection.execute(wanted.limit(checks.clamp(limit, 1, 500))).mappings()
        return [_brief(row) for row in rows]


def tree(board: Board, root_task_id: str, max_depth: int = 3) -> dict[str, Any]:
    """A task and what it was split into, `max_depth` levels down. Each task stands in it once, also in a cycle."""
    depth = checks.clamp(max_depth, 1, 20)
    with board.read() as connection:
        root = _node(found(connection, root_task_id))
        nodes, level = {root["id"]: root}, [root["id"]]
        for _ in range(depth):
            level = _grow(connection, nodes, level)
            if not level:
                break
        truncated = bool(_children(connection, level)) if len(nodes) < _MAX_NODES else True
    return {"tree": root, "count": len(nodes), "truncated": truncated}


def found(connection: Connection, task_id: str) -> Row:
    """The row of an id, or of its first characters where no other task has them. Raises `BoardError`."""
    exact = select(TASKS).where(TASKS.c.id == checked("task_id", task_id))
    row = connection.execute(exact).mappings().first()
    if row is not None:
        return row
    if len(task_id) < _PREFIX:
        raise transitions.missing(connection, task_id)
    alike = select(TASKS).where(TASKS.c.id.startswith(task_id, autoescape=True)).order_by(TASKS.c.id).limit(6)
    rows = list(connection.execute(alike).mappings())
    if not rows:
        raise transitions.missing(connection, task_id)
    if len(rows) > 1:
        ids = ", ".join(row["id"] for row in rows[:5])
        raise BoardError("ambiguous_id", f"several tasks begin with {task_id!r}.", hint=f"Among them: {ids}.")
    return rows[0]


def shown(connection: Connection, row: Row) -> dict[str, Any]:
    """All of a task."""
    needs = select(TASK_NEEDS.c.needs).where(TASK_NEEDS.c.task_id == row["id"]).order_by(TASK_NEEDS.c.needs)
    return {
        **{key: row[key] for key in _BRIEF},
        "description": row["description"],
        "metadata": loaded(row["metadata"]),
        "depends_on": list(connection.execute(needs).scalars()),
        "waiting_for": [] if row["state"] in transitions.ENDED else transitions.open_needs(connection, row["id"]),
        "retry_of": row["retry_of"],
        "version": row["version"],
        **_times(row),
    }


def open_children(connection: Connection, task_id: str) -> list[str]:
    """The tasks that it was split into and that have not ended."""
    wanted = select(TASKS.c.id).where(TASKS.c.parent_task_id == task_id, TASKS.c.state.not_in(transitions.ENDED))
    return list(connection.execute(wanted.order_by(TASKS.c.created_at, TASKS.c.id)).scalars())


def _brief(row: Row) -> dict[str, Any]:
    return {**{key: row[key] for key in _BRIEF}, **_times(row)}


def _times(row: Row) -> dict[str, Any]:
    return {key: iso(row[key]) for key in ("due_at", "created_at", "updated_at", "completed_at")}


def _node(row: Row) -> dict[str, Any]:
    return {**{key: row[key] for key in ("id", "title", "state", "priority", "owner_agent")}, "children": []}


def _grow(connection: Connection, nodes: dict[str, dict[str, Any]], level: list[str]) -> list[str]:
    """Hang the next level into the tree, without tasks that are in it."""
    grown = []
    for row in _children(connection, level):
        if row["id"] in nodes or len(nodes) >= _MAX_NODES:
            continue
        nodes[row["id"]] = _node(row)
        nodes[row["parent_task_id"]]["children"].append(nodes[row["id"]])
        grown.append(row["id"])
    return grown


def _children(connection: Connection, parents: list[str]) -> list[Row]:
    rows: list[Row] = []
    for some in chunks(parents):
        wanted = select(TASKS).where(TASKS.c.parent_task_id.in_(some)).order_by(TASKS.c.created_at, TASKS.c.id)
        rows.extend(connection.execute(wanted.limit(_MAX_NODES + 1)).mappings())
    return rows
