"""Encodes the neutral history as Anthropic's turns, each message once. What a reply means is not known here."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
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
from officellm_builtin.providers._anthropic_reply import NAME

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_THINKING = ("thinking", "redacted_thinking")
_CACHE_MARK = b',"cache_control":{"type":"ephemeral"}}'
_CONTINUE = dumps({"type": "text", "text": "Continue."})


def encode_turns(messages: Sequence[Message], model: str, *, cache: bool = False) -> bytes:
    """The value of `messages`: alternating turns that begin and end with the user's."""
    turns: list[tuple[str, list[bytes]]] = []
    unfinished = False
    for message in messages:
        if isinstance(message, System):
            continue
        role = "assistant" if isinstance(message, Assistant) else "user"
        blocks = _blocks(message, model)
        if not blocks:
            continue
        unfinished = isinstance(message, Assistant) and _paused(message, model)
        if turns and turns[-1][0] == role:
            turns[-1][1].append(blocks)
        else:
            turns.append((role, [blocks]))
    if not turns or turns[0][0] != "user":
        turns.insert(0, ("user", [_CONTINUE]))
    if turns[-1][0] != "user" and not unfinished:
        # Newer models refuse to continue an assistant turn; one that paused must be sent back as it is.
        turns.append(("user", [_CONTINUE]))
    if cache and turns[-1][0] == "user":
        turns[-1][1][-1] = marked(turns[-1][1][-1])
    return b"[%b]" % b",".join(
        b'{"role":"%b","content":[%b]}' % (role.encode(), b",".join(blocks)) for role, blocks in turns
    )


def encode_system(messages: Sequence[Message], *, cache: bool = False) -> bytes:
    """The value of `system`, empty where there are no instructions."""
    found = [message for message in messages if isinstance(message, System) and message.text.strip()]
    blocks = [message.encoded(NAME, partial(_text, message.text)) for message in found]
    if not blocks:
        return b""
    if cache:
        blocks[-1] = marked(blocks[-1])
    return b"[%b]" % b",".join(blocks)


def encode_tools(tools: Sequence[ToolSpec], *, cache: bool = False) -> list[bytes]:
    """One object a tool."""
    found = [tool.encoded(NAME, partial(_tool, tool)) for tool in tools]
    if found and cache:
        found[-1] = marked(found[-1])
    return found


def tools_of_history(messages: Iterable[Message]) -> list[ToolSpec]:
    """Bare tools for every name in the history: the API takes no tool blocks in a request without `tools`."""
    names = {call.name: None for message in messages if isinstance(message, Assistant) for call in message.calls}
    return [ToolSpec(name, "No longer available.", {"type": "object", "properties": {}}) for name in names]


def marked(block: bytes) -> bytes:
    """The last of these blocks, with the mark that makes the API cache everything up to it."""
    return block[:-1] + _CACHE_MARK


def _blocks(message: Message, model: str) -> bytes:
    """Comma-joined content blocks; empty where the message has nothing to say."""
    if isinstance(message, Assistant):
        replay = message.native is not None and message.origin == (NAME, model)
        encode = _replayed if replay else _assistant
        return message.encoded((NAME, replay), lambda: encode(message))
    if isinstance(message, ToolResult):
        return message.encoded(NAME, lambda: _result(message))
    assert isinstance(message, User)
    return message.encoded(NAME, lambda: _user(message))


def _assistant(message: Assistant) -> bytes:
    blocks = [_text(message.text)] if message.text.strip() else []
    blocks += [_call({}, call.id, call.name, call.sendable) for call in message.calls]
    return b",".join(blocks)


def _replayed(message: Assistant) -> bytes:
    """The turn as it came, but for calls: their ids may have been made unique since."""
    blocks: Sequence[Mapping[str, Any]] = message.native
    calls = list(message.calls)
    if sum(block.get("type") == "tool_use" for block in blocks) != len(calls):
        return _assistant(message)
    while blocks and blocks[-1].get("type") in _THINKING:
        blocks = blocks[:-1]  # a turn may not end with thinking
    calls.reverse()
    out = []
    for block in blocks:
        if block.get("type") == "tool_use":
            call = calls.pop()
            out.append(_call(block, call.id, call.name, call.sendable))
        else:
            out.append(dumps(block))
    return b",".join(out)


def _paused(message: Assistant, model: str) -> bool:
    """Whether the turn ends inside the vendor's own work, which goes on when the turn is sent back."""
    if message.native is None or message.calls or message.origin != (NAME, model):
        return False
    return any(block.get("type") not in ("text", *_THINKING) for block in message.native)


def thought_is_missing(messages: Sequence[Message], model: str) -> bool:
    """Whether calls since the user's last words carry no thought: a request that thinks with a budget is refused then.

    So it is with calls that another vendor's model made, or this one without thinking.
    """
    for message in reversed(messages):
        if isinstance(message, User):
            return False
        if isinstance(message, Assistant) and message.calls:
            native = message.native if message.origin == (NAME, model) else None
            if not native or native[0].get("type") not in _THINKING:
                return True
    return False


def _call(extra: Mapping[str, Any], id: str, name: str, arguments: Mapping[str, Any]) -> bytes:
    return dumps({"type": "tool_use", **extra, "id": legal_id(id, _ID), "name": legal_name(name), "input": arguments})


def _result(message: ToolResult) -> bytes:
    block: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": legal_id(message.call_id, _ID),
        # Blank text is refused, and with is_error no content at all is too.
        "content": message.content if message.content.strip() else "(empty)",
    }
    if message.is_error:
        block["is_error"] = True
    return dumps(block)


def _user(message: User) -> bytes:
    parts: Sequence[str | Part] = (message.content,) if isinstance(message.content, str) else message.content
    return b",".join(block for part in parts if (block := _part(part)))


def _part(part: str | Part) -> bytes:
    if isinstance(part, Media):
        return dumps(_media(part))
    text = part if isinstance(part, str) else part.text
    return _text(text) if text.strip() else b""


def _media(media: Media) -> dict[str, Any]:
    """An image or a document; what the API has no block for is named in words instead of being dropped."""
    kind = "image" if media.media_type.startswith("image/") else "document"
    titled = {"title": media.name} if media.name and kind == "document" else {}
    if media.url is not None and (kind == "image" or media.media_type == "application/pdf"):
        return {"type": kind, "source": {"type": "url", "url": media.url}, **titled}
    if media.data is not None and media.media_type.startswith("text/"):
        text = media.data.decode("utf-8", "replace")
        return {"type": kind, "source": {"type": "text", "media_type": "text/plain", "data": text}, **titled}
    if media.data is not None and (kind == "image" or media.media_type == "application/pdf"):
        data = b64encode(media.data).decode()
        return {"type": kind, "source": {"type": "base64", "media_type": media.media_type, "data": data}, **titled}
    where = media.url or media.name or "unnamed"
    return {"type": "text", "text": f"[a file of type {media.media_type} that this model cannot read: {where}]"}


def _text(text: str) -> bytes:
    return dumps({"type": "text", "text": text})


def _tool(tool: ToolSpec) -> bytes:
    schema = {"type": "object", **tool.parameters}
    shown: dict[str, Any] = {"name": legal_name(tool.name)}
    if tool.description.strip():
        shown["description"] = tool.description
    return dumps({**shown, "input_schema": schema})
