"""Memories: what agents write down, read, change and rate. Searching them stands in `search.py`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, select, update

from officellm import OfficeError
from officellm_team.board.caller import Caller
from officellm_team.board.embedding import embedded, keep
from officellm_team.board.errors import not_found, one_of
from officellm_team.board.history import record, trail
from officellm_team.board.records import TYPES, Draft, M, add, changeable, erase, find, readable, sha256, shown
from officellm_team.board.store import Board, Row
from officellm_team.board.supersede import settle
from officellm_team.board.tables import HISTORY, MEMORIES, TASKS
from officellm_team.board.texts import MAX_CONTENT, MAX_TITLE, checked, chunks, clamped, json_object

#: What a rating does to the importance.
FEEDBACK = {"useful": 0.1, "not_useful": -0.1, "misleading": -0.2}
#: How much of a long value the history shows; the table keeps all of it.
SHOWN = 200
MAX_HISTORY = 1_000


def write(
    board: Board, caller: Caller, draft: Draft, *, embed: bool = True, auto_classify: bool = False
) -> dict[str, Any]:
    """Write down a memory. Answers its id and the ids of those whose place it took. Raises `BoardError`."""
    if draft.type not in TYPES:
        raise one_of("type", draft.type, TYPES)
    checked("content", draft.content, MAX_CONTENT)
    draft = replace(draft, type=_classified(board, draft, auto_classify))
    vectors = embedded(board, [_embeddable(draft.title, draft.content)]) if embed else None
    vector = vectors[0] if vectors else None
    with board.write() as connection:
        id = add(connection, board, draft, caller.name)
        keep(connection, board, id, vector, sha256(draft.content))
        gone = settle(connection, board, id, draft, vector)
    return {"id": id, "type": draft.type, "superseded": gone, "embedded": vector is not None}


def get(board: Board, caller: Caller, id: str) -> dict[str, Any]:
    """The whole record, by its id or the beginning of it. Raises `BoardError`."""
    with board.write() as connection:
        row = find(connection, caller, id, board.now())
        read = update(MEMORIES).where(M.id == row["id"])
        connection.execute(read.values(access_count=M.access_count + 1, last_accessed_at=board.now()))
    return shown(row)


def change(
    board: Board,
    caller: Caller,
    id: str,
    *,
    content: str = "",
    title: str = "",
    metadata: str = "",
    importance: float = -1,
    reembed: bool = False,
) -> dict[str, Any]:
    """Change what is given; metadata is replaced as a whole. A changed text gets a new vector. Raises `BoardError`."""
    given: dict[str, Any] = {}
    if content:
        given["content"] = checked("content", content, MAX_CONTENT)
    if title:
        given["title"] = checked("title", title, MAX_TITLE)
    if metadata:
        given["metadata"] = json_object("metadata", metadata)
    if importance >= 0:
        given["importance"] = clamped(importance)
    with board.read() as connection:
        before: Row = connection.execute(select(MEMORIES).where(M.id == id)).mappings().first() or {}
    text = {"title": "", "content": "", **before, **given}
    vectors = embedded(board, [_embeddable(text["title"], text["content"])]) if content or title or reembed else None
    with board.write() as connection:
        row = changeable(connection, caller, id, board.now())
        changed = {name: value for name, value in given.items() if row[name] != value}
        for name, value in changed.items():
            record(connection, id, "update", caller.name, name, str(row[name]), str(value), board.now())
        new = {**row, **changed}
        _put(connection, board, new, sorted(changed))
        # Another writer may have been between the two transactions: a vector of another text is of no use.
        if vectors and (new["title"], new["content"]) == (text["title"], text["content"]):
            keep(connection, board, id, vectors[0], sha256(new["content"]))
        elif "content" in changed:
            keep(connection, board, id, None, "")
        board.tallies.flush(connection)
    return {"id": id, "changed": sorted(changed), "embedded": bool(vectors)}


def remove(board: Board, caller: Caller, id: str, *, hard: bool = False) -> dict[str, Any]:
    """Hide a memory, or erase it with its vector and links; a conversation goes with its messages."""
    now = board.now()
    with board.write() as connection:
        row = changeable(connection, caller, id, now, deleted=hard)
        ids = [id]
        if row["type"] == "conversation":
            ids += connection.execute(select(M.id).where(M.conversation_id == id)).scalars().all()
        for one in ids:
            record(connection, one, "delete", caller.name, new="hard" if hard else "soft", at=now)
        if hard:
            erase(connection, ids)
        else:
            for part in chunks(ids):
                connection.execute(update(MEMORIES).where(M.id.in_(part)).values(is_deleted=True, updated_at=now))
    return {"id": id, "deleted": "hard" if hard else "soft", "items": len(ids)}


def verify(board: Board, caller: Caller, id: str) -> dict[str, Any]:
    """Whether the content is what was written: its SHA-256 against the one that was kept."""
    with board.read() as connection:
        row = find(connection, caller, id, board.now())
    actual = sha256(row["content"])
    intact = row["content_hash"] == actual
    return {"id": row["id"], "intact": intact, "expected": row["content_hash"], "actual": actual}


def rate(board: Board, caller: Caller, id: str, feedback: str) -> dict[str, Any]:
    """Whoever can see a memory may rate it: useful +0.1, not_useful -0.1, misleading -0.2, between 0 and 1."""
    if feedback not in FEEDBACK:
        raise one_of("feedback", feedback, FEEDBACK)
    with board.write() as connection:
        row = (
            connection.execute(
                select(MEMORIES).where(M.id == find(connection, caller, id, board.now())["id"]).with_for_update()
            )
            .mappings()
            .one()
        )
        importance = round(clamped(row["importance"] + FEEDBACK[feedback]), 6)
        connection.execute(update(MEMORIES).where(M.id == row["id"]).values(importance=importance))
        before = str(row["importance"])
        record(
            connection,
            row["id"],
            f"feedback_{feedback}",
            caller.name,
            "importance",
            before,
            str(importance),
            board.now(),
        )
    return {"id": row["id"], "feedback": feedback, "importance": importance}


def history(board: Board, caller: Caller, id: str, limit: int = 20) -> dict[str, Any]:
    """What happened to a memory or a task, newest first. The past of a private memory stays private."""
    with board.read() as connection:
        _require_past(connection, caller, id)
        events = trail(connection, id, max(1, min(MAX_HISTORY, limit)))
    for event in events:
        event |= {side: _cut(event[side]) for side in ("prev", "new")}
    return {"id": id, "events": events}


def _require_past(connection: Connection, caller: Caller, id: str) -> None:
    memory = connection.execute(select(M.id).where(M.id == id)).first()
    if memory is not None:
        known = connection.execute(select(M.id).where(M.id == id, readable(caller))).first()
    else:
        known = connection.execute(select(TASKS.c.id).where(TASKS.c.id == id)).first()
        mine = select(HISTORY.c.seq).where(HISTORY.c.subject_id == id)
        if not caller.operator:
            mine = mine.where(
                HISTORY.c.event.in_(("create", "import", "handoff_create")), HISTORY.c.actor == caller.name
            )
        known = known or connection.execute(mine).first()
    if known is None:
        raise not_found("memory", id)


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _put(connection: Connection, board: Board, row: Row, changed: list[str]) -> None:
    if not changed:
        return
    values = {name: row[name] for name in changed}
    if "content" in changed:
        values["content_hash"] = sha256(row["content"])
    connection.execute(update(MEMORIES).where(M.id == row["id"]).values(updated_at=board.now(), **values))


def _embeddable(title: str, content: str) -> str:
    return f"{title}\n{content}" if title else content


def _classified(board: Board, draft: Draft, wanted: bool) -> str:
    """The type that a model gives it, if one is wanted and there; else the type given, `note` for `auto`."""
    plain = "note" if draft.type == "auto" else draft.type
    ask = board.helpers.summarizer
    if ask is None or not (wanted or draft.type == "auto"):
        return plain
    words = [one for one in TYPES if one not in ("auto", "conversation", "message")]
    try:
        said = ask(
            f"Answer with one word of this list, the kind of the text below: {', '.join(words)}.\n\n"
            f"{_embeddable(draft.title, draft.content)}"
        )
    except OfficeError:
        return plain
    word = said.strip().strip(".'\"`").casefold()
    return word if word in words else plain
