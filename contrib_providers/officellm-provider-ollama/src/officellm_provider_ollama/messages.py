"""Encodes the neutral history and tools for Ollama, each message and tool once. Replies are not read here."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import partial
from typing import Any

from officellm import (
    Assistant,
    Media,
    Message,
    Part,
    System,
    Text,
    ToolResult,
    ToolSpec,
    User,
    dumps,
    file_words,
    legal,
    legal_name,
    result_text,
)

#: The format's name: half of what says whether reasoning may go back.
NAME = "ollama"


def encode_messages(messages: Sequence[Message], model: str) -> bytes:
    """The value of `messages`. A reply without text and calls is left out."""
    return b"[%b]" % b",".join(filter(None, (_encoded(message, (NAME, model)) for message in legal(messages))))


def encode_tools(tools: Sequence[ToolSpec]) -> list[bytes]:
    """The values of `tools`."""
    return [tool.encoded(NAME, partial(_tool, tool)) for tool in tools]


def _encoded(message: Message, ours: tuple[str, str]) -> bytes:
    if isinstance(message, Assistant):
        thinks = message.origin == ours and bool(message.reasoning)
        return message.encoded((NAME, thinks), lambda: _assistant(message, thinks))
    if isinstance(message, ToolResult):
        return message.encoded(NAME, lambda: _result(message))
    if isinstance(message, System):
        return message.encoded(NAME, lambda: dumps({"role": "system", "content": message.text}))
    return message.encoded(NAME, lambda: _user(message))


def _assistant(message: Assistant, thinks: bool) -> bytes:
    """A reply; with its reasoning, which a model that calls tools wants back, where the model is the same."""
    if not message.text.strip() and not message.calls:
        return b""
    out: dict[str, Any] = {"role": "assistant", "content": message.text}
    if thinks:
        out["thinking"] = message.reasoning
    if message.calls:
        out["tool_calls"] = [
            {"id": call.id, "function": {"name": legal_name(call.name), "arguments": call.sendable}}
            for call in message.calls
        ]
    return dumps(out)


def _result(message: ToolResult) -> bytes:
    """Newer servers read the id, older ones the name. There is no flag for errors, so the text must say it."""
    names = {"tool_name": legal_name(message.name), "tool_call_id": message.call_id}
    return dumps({"role": "tool", "content": result_text(message), **names})


def _user(message: User) -> bytes:
    parts: Sequence[Part] = () if isinstance(message.content, str) else message.content
    media = [part for part in parts if isinstance(part, Media)]
    if not media:
        return dumps({"role": "user", "content": message.text})
    texts = [part.text if isinstance(part, Text) else file_words(part) for part in parts if not _is_image(part)]
    images = [b64encode(part.data).decode() for part in media if _is_image(part) and part.data is not None]
    out: dict[str, Any] = {"role": "user", "content": "\n".join(filter(None, texts))}
    return dumps({**out, "images": images} if images else out)


def _is_image(part: Part) -> bool:
    """Whether the server can see it: it takes bytes, and loads nothing from a URL."""
    return isinstance(part, Media) and part.data is not None and part.media_type.startswith("image/")


def _tool(tool: ToolSpec) -> bytes:
    parameters = {"type": "object", "properties": {}, **tool.parameters}
    function = {"name": legal_name(tool.name), "description": tool.description, "parameters": parameters}
    return dumps({"type": "function", "function": function})
