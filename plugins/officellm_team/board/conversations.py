"""Conversations: a memory of type `conversation`, and its messages in order. Everyone at the board can read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, not_, select

from officellm_team.board.caller import Caller
from officellm_team.board.embedding import embedded, keep
from officellm_team.board.errors import BoardError, not_found
from officellm_team.board.links import connect
from officellm_team.board.records import Draft, M, add, find, sha256
from officellm_team.board.search import Search, search
from officellm_team.board.store import Board, Row, dumped
from officellm_team.board.summaries import sum_up, summarizer
from officellm_team.board.tables import MEMORIES
from officellm_team.board.texts import MAX_CONTENT, checked

MAX_ROLE = 50


def start(board: Board, caller: Caller, title: str, *, model_id: str = "", tags: str = "") -> dict[str, Any]:
    """Open a conversation. `tags` are separated by commas. Raises `BoardError`."""
    if not title.strip():
        raise BoardError("invalid_arguments", "title is blank.", hint="Say what the conversation is about.")
    named = [tag.strip() for tag in tags.split(",") if tag.strip()]
    draft = Draft(type="conversation", title=title, content=title, metadata=dumped({"tags": named}), scope="org")
    with board.write() as connection:
        id = add(connection, board, _by(draft, caller, model_id), caller.name)
    return {"id": id, "title": title, "tags": named}


def append(
    board: Board, caller: Caller, id: str, role: str, content: str, *, model_id: str = "", embed: bool = True
) -> dict[str, Any]:
    """Add a message. Its place in the conversation is that of its writing. Raises `BoardError`."""
    if not role.strip():
        raise BoardError("invalid_arguments", "role is blank.", hint="Such as user, assistant, system or tool.")
    checked("role", role, MAX_ROLE)
    vectors = embedded(board, [checked("content", content, MAX_CONTENT)]) if embed else None
    with board.write() as connection:
        talk = _conversation(connection, caller, id, board.now())
        draft = Draft(
            type="message", content=content, role=role, conversation_id=id, scope=talk["scope"], user_id=talk["user_id"]
        )
        message = add(connection, board, _by(draft, caller, model_id), caller.name)
        keep(connection, board, message, vectors[0] if vectors else None, sha256(content))
    return {"id": message, "conversation_id": id, "embedded": bool(vectors)}


def search_messages(board: Board, caller: Caller, query: str, k: int = 8) -> dict[str, Any]:
    """As `search`, among messages only."""
    return search(board, caller, Search(query=query, k=k, type="message"))


def summarize(board: Board, caller: Caller, id: str, threshold: int = 20) -> dict[str, Any]:
    """Sum up a conversation of at least so many messages, and keep the summary as a memory that refers to it."""
    ask = summarizer(board, "conversation_summarize")
    with board.read() as connection:
        talk = _conversation(connection, caller, id, board.now())
        said = messages(connection, id)
    if len(said) < threshold:
        return {"summarized": False, "messages": len(said), "threshold": threshold, "note": "too short to sum up"}
    lines = [f"{row['role']} ({row['agent_id']}): {row['content']}" for row in said]
    summary = sum_up(ask, f"Sum up the conversation {talk['title']!r} so that nobody needs to read it.", lines)
    draft = Draft(
        type="summary",
        title=f"Summary of {talk['title']}"[:200],
        content=summary,
        scope=talk["scope"],
        source="summary",
    )
    with board.write() as connection:
        _conversation(connection, caller, id, board.now())
        memory_id = add(connection, board, _by(draft, caller, ""), caller.name)
        connect(connection, memory_id, id, "references", board.now())
    return {"summarized": True, "messages": len(said), "summary": summary, "memory_id": memory_id}


def messages(connection: Connection, id: str) -> Sequence[Row]:
    """The messages of a conversation, in the order of writing."""
    query = select(MEMORIES).where(M.conversation_id == id, M.type == "message", not_(M.is_deleted))
    return connection.execute(query.order_by(M.seq)).mappings().all()


def _conversation(connection: Connection, caller: Caller, id: str, now: float) -> Row:
    row = find(connection, caller, id, now)
    if row["type"] != "conversation" or row["id"] != id:
        raise not_found("conversation", id)
    return row


def _by(draft: Draft, caller: Caller, model_id: str) -> Draft:
    return replace(draft, agent_id=caller.name, change_agent=caller.name, model_id=model_id)
