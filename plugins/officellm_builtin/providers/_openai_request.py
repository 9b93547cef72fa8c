"""Encodes the neutral history and tools for chat completions, each message and tool once. No settings here."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

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
    legal_id,
    legal_name,
    result_text,
)

SystemRole = Literal["system", "developer", "user"]
#: Whether reasoning goes back on replies with calls: as it came, always (empty where there was none), or never.
SendReasoning = Literal["received", "always", "never"]

#: OpenAI refuses longer ids. Those that a server made itself go back as they are: some read the tool's name in them.
_ID = re.compile(r".{1,40}", re.DOTALL)


def encode_messages(
    messages: Sequence[Message],
    origin: tuple[str, str],
    encode_part: Callable[[Part], Mapping[str, Any]],
    *,
    system_role: SystemRole,
    send_reasoning: SendReasoning,
) -> bytes:
    """The value of `messages`. A reply without text and calls is left out: vendors refuse it.

    What only their vendor reads goes back in replies of this `origin`; `encode_part` writes a part of a user message.
    """
    encoded = []
    own_ids: set[str] = set()
    for message in messages:
        ours = isinstance(message, ToolResult) and message.call_id in own_ids
        if isinstance(message, Assistant) and message.origin == origin:
            ours = True
            own_ids.update(call.id for call in message.calls)
        key = (origin[0], system_role, send_reasoning, ours)
        encoded.append(message.encoded(key, partial(_encode, message, ours, encode_part, system_role, send_reasoning)))
    return b"[%b]" % b",".join(filter(None, encoded))


def encode_tools(tools: Sequence[ToolSpec], format: str) -> list[bytes]:
    """The values of `tools`."""
    return [tool.encoded(format, lambda tool=tool: dumps(_tool(tool))) for tool in tools]  # type: ignore[misc]


def _encode(
    message: Message,
    ours: bool,
    encode_part: Callable[[Part], Mapping[str, Any]],
    system_role: SystemRole,
    send_reasoning: SendReasoning,
) -> bytes:
    if isinstance(message, Assistant):
        return _assistant(message, ours, send_reasoning)
    if isinstance(message, System):
        return dumps({"role": system_role, "content": message.text})
    if isinstance(message, User):
        return dumps({"role": "user", "content": _user_content(message, encode_part)})
    id = message.call_id if ours else legal_id(message.call_id, _ID)
    return dumps({"role": "tool", "tool_call_id": id, "content": result_text(message)})


def _assistant(message: Assistant, ours: bool, send_reasoning: SendReasoning) -> bytes:
    if not message.text and not message.calls:
        return b""
    out: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if message.calls:
        out["tool_calls"] = [
            {
                **(call.extra if ours and call.extra else {}),
                "id": call.id if ours else legal_id(call.id, _ID),
                "type": "function",
                "function": {"name": legal_name(call.name), "arguments": dump_text(call.sendable)},
            }
            for call in message.calls
        ]
    fields = dict(message.native) if ours and isinstance(message.native, Mapping) else {}
    reasoning = fields.pop("reasoning_content", "" if send_reasoning == "always" else None)
    if message.calls and reasoning is not None and send_reasoning != "never":
        out["reasoning_content"] = reasoning
    return dumps({**out, **fields})


def _user_content(message: User, encode_part: Callable[[Part], Mapping[str, Any]]) -> str | list[Mapping[str, Any]]:
    """A string where all is text: many servers take no lists, and those that do no empty text in them."""
    if isinstance(message.content, str) or all(isinstance(part, Text) for part in message.content):
        return message.text
    return [encode_part(part) for part in message.content if not isinstance(part, Text) or part.text.strip()]


def encode_part(part: Part) -> dict[str, Any]:
    """A text, an image, a sound or a file as OpenAI has them."""
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    kind, _, subtype = part.media_type.partition("/")
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": data_url(part)}}
    if kind == "audio" and part.data is not None:
        form = {"mpeg": "mp3", "x-wav": "wav", "wave": "wav"}.get(subtype, subtype)
        return {"type": "input_audio", "input_audio": {"data": b64encode(part.data).decode(), "format": form}}
    return {"type": "file", "file": {"filename": part.name or f"file.{subtype}", "file_data": data_url(part)}}


def _tool(tool: ToolSpec) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}, **tool.parameters}
    if not parameters.get("required", True):
        # Some servers refuse an empty list.
        del parameters["required"]
    function = {"name": legal_name(tool.name), "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}
