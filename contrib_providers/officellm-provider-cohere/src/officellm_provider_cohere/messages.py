"""Encodes the neutral history and tools for Cohere, each message and tool once. Replies are not read here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from officellm import (
    Assistant,
    Message,
    Part,
    System,
    Text,
    ToolResult,
    ToolSpec,
    User,
    data_url,
    dump_text,
    dumps,
    file_words,
    legal,
    legal_name,
    result_text,
)
from officellm_provider_cohere.schema import reduced

#: The format's name: half of what says whether vendor fields may go back.
NAME = "cohere"

_EMPTY = "(empty)"
#: A reply cannot be continued: the last word is the user's or a tool's.
_CONTINUE = User("Continue.")


def encode_messages(messages: Sequence[Message], model: str) -> bytes:
    """The value of `messages`. A reply without text and calls is left out: the API refuses it."""
    found = list(legal(messages))
    while isinstance(found[-1], Assistant):
        if _says_something(found[-1]):
            found.append(_CONTINUE)
        else:
            found.pop()
    return b"[%b]" % b",".join(filter(None, (_encoded(message, (NAME, model)) for message in found)))


def encode_tools(tools: Sequence[ToolSpec]) -> list[bytes]:
    """The values of `tools`."""
    return [tool.encoded(NAME, partial(_tool, tool)) for tool in tools]


def _encoded(message: Message, ours: tuple[str, str]) -> bytes:
    if isinstance(message, Assistant):
        replay = message.origin == ours and isinstance(message.native, Mapping)
        return message.encoded((NAME, replay), lambda: _assistant(message, replay))
    if isinstance(message, ToolResult):
        return message.encoded(NAME, lambda: _result(message))
    if isinstance(message, System):
        return message.encoded(NAME, lambda: _spoken("system", message.text) if message.text.strip() else b"")
    return message.encoded(NAME, lambda: _user(message))


def _says_something(message: Assistant) -> bool:
    return bool(message.calls or message.text.strip())


def _assistant(message: Assistant, replay: bool) -> bytes:
    """A reply; where it is `replay`ed, with the plan and the thoughts that came with it."""
    if not _says_something(message):
        return b""
    native: Mapping[str, Any] = message.native if replay else {}
    out: dict[str, Any] = {"role": "assistant"}
    if content := native.get("content") or message.text:
        out["content"] = content
    if native.get("tool_plan"):
        out["tool_plan"] = native["tool_plan"]
    if message.calls:
        out["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": legal_name(call.name), "arguments": dump_text(call.sendable)},
            }
            for call in message.calls
        ]
    return dumps(out)


def _result(message: ToolResult) -> bytes:
    """The format has no flag for errors, so the text must say it."""
    text = result_text(message)
    return dumps({"role": "tool", "tool_call_id": message.call_id, "content": text if text.strip() else _EMPTY})


def _user(message: User) -> bytes:
    if isinstance(message.content, str) or all(isinstance(part, Text) for part in message.content):
        return _spoken("user", message.text if message.text.strip() else _EMPTY)
    parts = [_part(part) for part in message.content if not isinstance(part, Text) or part.text.strip()]
    return dumps({"role": "user", "content": parts})


def _spoken(role: str, text: str) -> bytes:
    return dumps({"role": role, "content": text})


def _part(part: Part) -> dict[str, Any]:
    """A text or an image; a text file as text, and what the API has no part for is named in words."""
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if part.media_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": data_url(part)}}
    return {"type": "text", "text": file_words(part)}


def _tool(tool: ToolSpec) -> bytes:
    parameters = reduced({"type": "object", "properties": {}, **tool.parameters})
    function = {"name": legal_name(tool.name), "description": tool.description, "parameters": parameters}
    return dumps({"type": "function", "function": function})
