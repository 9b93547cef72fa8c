"""Encodes the neutral history and tools for chat completions, each message and tool once. No settings here."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, Literal

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
    dump_text,
    dumps,
    legal_name,
)
from officellm_builtin.providers._openai_reply import NAME

SystemRole = Literal["system", "developer", "user"]
#: Whether reasoning goes back on replies with calls: as it came, always (empty where there was none), or never.
SendReasoning = Literal["received", "always", "never"]


def encode_messages(
    messages: Sequence[Message], model: str, *, system_role: SystemRole, send_reasoning: SendReasoning
) -> bytes:
    """The value of `messages`. A reply without text and calls is left out: vendors refuse it."""
    ours = (NAME, model)
    plain, native = (NAME, system_role, send_reasoning, False), (NAME, system_role, send_reasoning, True)
    encoded = [
        message.encoded(
            native if isinstance(message, Assistant) and message.origin == ours else plain,
            lambda message=message: _encode(message, ours, system_role, send_reasoning),  # type: ignore[misc]
        )
        for message in messages
    ]
    return b"[%b]" % b",".join(filter(None, encoded))


def encode_tools(tools: Sequence[ToolSpec]) -> list[bytes]:
    """The values of `tools`."""
    return [tool.encoded(NAME, lambda tool=tool: dumps(_tool(tool))) for tool in tools]  # type: ignore[misc]


def _encode(message: Message, ours: tuple[str, str], system_role: SystemRole, send_reasoning: SendReasoning) -> bytes:
    if isinstance(message, Assistant):
        return _assistant(message, message.origin == ours, send_reasoning)
    if isinstance(message, System):
        return dumps({"role": system_role, "content": message.text})
    if isinstance(message, User):
        return dumps({"role": "user", "content": _user_content(message)})
    return dumps({"role": "tool", "tool_call_id": message.call_id, "content": _result_text(message)})


def _assistant(message: Assistant, ours: bool, send_reasoning: SendReasoning) -> bytes:
    if not message.text and not message.calls:
        return b""
    out: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if message.calls:
        out["tool_calls"] = [
            {
                **(call.extra if ours and call.extra else {}),
                "id": call.id,
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


def _user_content(message: User) -> str | list[dict[str, Any]]:
    """A string where all is text: many servers take no lists."""
    if isinstance(message.content, str) or all(isinstance(part, Text) for part in message.content):
        return message.text
    return [_part(part) for part in message.content]


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    kind, _, subtype = part.media_type.partition("/")
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": _url(part)}}
    if kind == "audio" and part.data is not None:
        form = {"mpeg": "mp3", "x-wav": "wav", "wave": "wav"}.get(subtype, subtype)
        return {"type": "input_audio", "input_audio": {"data": b64encode(part.data).decode(), "format": form}}
    return {"type": "file", "file": {"filename": part.name or f"file.{subtype}", "file_data": _url(part)}}


def _url(part: Media) -> str:
    if part.data is None:
        return part.url or ""
    return f"data:{part.media_type};base64,{b64encode(part.data).decode()}"


def _result_text(result: ToolResult) -> str:
    """The format has no flag for errors, so the text must say it."""
    if result.is_error and result.content[:5].lower() != "error":
        return f"Error: {result.content}"
    return result.content


def _tool(tool: ToolSpec) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}, **tool.parameters}
    if not parameters.get("required", True):
        # Some servers refuse an empty list.
        del parameters["required"]
    function = {"name": legal_name(tool.name), "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}
