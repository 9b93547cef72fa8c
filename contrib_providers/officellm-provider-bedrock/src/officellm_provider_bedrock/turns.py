"""Encodes the neutral history as Converse's turns, each message once. What a reply means is not known here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from officellm import (
    Assistant,
    Media,
    Message,
    Part,
    System,
    ToolResult,
    ToolSpec,
    User,
    dumps,
    legal_id,
    legal_name,
)
from officellm_provider_bedrock.family import takes_status
from officellm_provider_bedrock.media import media_block
from officellm_provider_bedrock.reply import NAME

_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
_CONTINUE = dumps({"text": "Continue."})
#: Stands where the API wants words and there are none.
_FILLER = dumps({"text": "."})
_CACHE_POINT = dumps({"cachePoint": {"type": "default"}})


@dataclass(slots=True)
class _Turn:
    role: str
    blocks: list[bytes] = field(default_factory=list)
    results: bool = False

    def encoded(self) -> bytes:
        return b'{"role":"%b","content":[%b]}' % (self.role.encode(), b",".join(self.blocks))


def encode_turns(messages: Sequence[Message], model: str, *, cache: bool = False) -> bytes:
    """The value of `messages`: alternating turns that begin and end with the user's."""
    turns: list[_Turn] = []
    documents = 0
    for message in messages:
        if isinstance(message, System):
            continue
        role = "assistant" if isinstance(message, Assistant) else "user"
        blocks = _blocks(message, model, documents)
        documents += _documents(message)
        if blocks:
            _add(turns, role, blocks, isinstance(message, ToolResult))
    if not turns or turns[0].role != "user":
        turns.insert(0, _Turn("user", [_CONTINUE]))
    if turns[-1].role != "user":
        # Many models refuse to continue an assistant turn.
        turns.append(_Turn("user", [_CONTINUE]))
    if cache:
        turns[-1].blocks.append(_CACHE_POINT)
    return b"[%b]" % b",".join(turn.encoded() for turn in turns)


def encode_system(messages: Sequence[Message], *more: str, cache: bool = False) -> bytes:
    """The value of `system`, empty where there are no instructions; `more` stands behind them, not cached."""
    found = [message for message in messages if isinstance(message, System) and message.text.strip()]
    blocks = [message.encoded(NAME, partial(_text, message.text)) for message in found]
    if blocks and cache:
        blocks.append(_CACHE_POINT)
    blocks += [_text(words) for words in more]
    return b"[%b]" % b",".join(blocks) if blocks else b""


def encode_tools(tools: Sequence[ToolSpec], *, cache: bool = False) -> list[bytes]:
    """One object a tool."""
    found = [tool.encoded(NAME, partial(_tool, tool)) for tool in tools]
    return [*found, _CACHE_POINT] if found and cache else found


def tools_of_history(messages: Iterable[Message]) -> list[ToolSpec]:
    """Bare tools for every name in the history: the API takes no tool blocks in a request without tools."""
    names = {call.name: None for message in messages if isinstance(message, Assistant) for call in message.calls}
    return [ToolSpec(name, "No longer available.", {"type": "object", "properties": {}}) for name in names]


def _add(turns: list[_Turn], role: str, blocks: bytes, results: bool) -> None:
    last = turns[-1] if turns else None
    if last is not None and last.role == role:
        if last.results == results:
            last.blocks.append(blocks)
            return
        # Several models refuse anything beside results in a turn, and the API merges neighbours of one role.
        turns.append(_Turn("assistant", [_FILLER]))
    turns.append(_Turn(role, [blocks], results))


def _blocks(message: Message, model: str, documents: int) -> bytes:
    """Comma-joined content blocks; empty where the message has nothing to say."""
    if isinstance(message, Assistant):
        replay = message.native is not None and message.origin == (NAME, model)
        encode = _replayed if replay else _assistant
        return message.encoded((NAME, replay), lambda: encode(message))
    if isinstance(message, ToolResult):
        status = message.is_error and takes_status(model)
        return message.encoded((NAME, status), lambda: _result(message, status))
    assert isinstance(message, User)
    return message.encoded((NAME, documents), lambda: _user(message, documents))


def thought_is_missing(messages: Sequence[Message], model: str) -> bool:
    """Whether calls since the user spoke carry no thought, which Claude refuses where it thinks with a budget."""
    for message in reversed(messages):
        if isinstance(message, User):
            return False
        if isinstance(message, Assistant) and message.calls:
            native = message.native if message.origin == (NAME, model) else None
            if not native or "reasoningContent" not in native[0]:
                return True
    return False


def _documents(message: Message) -> int:
    """How many files the message holds, at least as many as become documents."""
    if not isinstance(message, User) or isinstance(message.content, str):
        return 0
    return sum(isinstance(part, Media) for part in message.content)


def _assistant(message: Assistant) -> bytes:
    blocks = [_text(message.text)] if message.text.strip() else []
    blocks += [_call(call.id, call.name, call.sendable) for call in message.calls]
    return b",".join(blocks)


def _replayed(message: Assistant) -> bytes:
    """The turn as it came, but for calls: their ids may have been made unique since."""
    blocks: Sequence[Mapping[str, Any]] = message.native
    if sum(block == {"toolUse": {}} for block in blocks) != len(message.calls):
        return _assistant(message)
    while blocks and "reasoningContent" in blocks[-1]:
        blocks = blocks[:-1]  # a turn may not end with reasoning
    calls = iter(message.calls)
    out = []
    for block in blocks:
        if block == {"toolUse": {}}:
            call = next(calls)
            out.append(_call(call.id, call.name, call.sendable))
        else:
            out.append(dumps(block))
    return b",".join(out)


def _call(id: str, name: str, arguments: Mapping[str, Any]) -> bytes:
    return dumps({"toolUse": {"toolUseId": legal_id(id, _ID), "name": legal_name(name), "input": arguments}})


def _result(message: ToolResult, status: bool) -> bytes:
    block: dict[str, Any] = {
        "toolUseId": legal_id(message.call_id, _ID),
        "content": [{"text": message.content if message.content.strip() else "(empty)"}],
    }
    if status:
        block["status"] = "error"
    return dumps({"toolResult": block})


def _user(message: User, documents: int) -> bytes:
    parts: Sequence[str | Part] = (message.content,) if isinstance(message.content, str) else message.content
    blocks: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Media):
            documents += 1
            blocks.append(media_block(part, documents))
        else:
            words = part if isinstance(part, str) else part.text
            if words.strip():
                blocks.append({"text": words})
    if any("document" in block for block in blocks) and not any("text" in block for block in blocks):
        blocks.append({"text": "."})  # a document without words beside it is refused
    return b",".join(map(dumps, blocks))


def _text(words: str) -> bytes:
    return dumps({"text": words})


def _tool(tool: ToolSpec) -> bytes:
    shown: dict[str, Any] = {"name": legal_name(tool.name)}
    if tool.description.strip():
        shown["description"] = tool.description
    return dumps({"toolSpec": {**shown, "inputSchema": {"json": {"type": "object", **tool.parameters}}}})
