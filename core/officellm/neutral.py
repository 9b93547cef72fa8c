"""The JSON form of messages, requests and replies, for files, logs and `officellm wire`; no vendor's JSON.

Keys are the names of the attributes, but for two: `role` says which message it is, and its text is its `content`.
A field that holds its default is left out. Reading is the exact inverse of writing.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from officellm.codec import dump_text
from officellm.errors import ConfigError, nearest
from officellm.jsonfields import Fields, shown
from officellm.messages import (
    Assistant,
    Media,
    Message,
    OutputSchema,
    Part,
    Reply,
    Request,
    Stop,
    System,
    Text,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    User,
)

_ROLES = ("system", "user", "assistant", "tool")
_STOPS: tuple[Stop, ...] = get_args(Stop)
_USAGE = {
    "promptTokens": "input",
    "completionTokens": "output",
    "cachedTokens": "cached",
    "reasoningTokens": "reasoning",
    "requests": "requests",
    "toolCalls": "tool_calls",
}
_REQUEST = ("model", "messages", "tools", "tool_choice", "parallel_calls", "output", "settings", "stream")


def message_to_dict(message: Message) -> dict[str, Any]:
    """The JSON form of one message."""
    if isinstance(message, System):
        return {"role": "system", "content": message.text}
    if isinstance(message, User):
        content = message.content
        return {"role": "user", "content": content if isinstance(content, str) else [_part(part) for part in content]}
    if isinstance(message, ToolResult):
        said = {"role": "tool", "call_id": message.call_id, "name": message.name, "content": message.content}
        return {**said, "is_error": True} if message.is_error else said
    return _present(
        role="assistant",
        content=message.text,
        calls=[_call(call) for call in message.calls] or None,
        reasoning=message.reasoning or None,
        native=message.native,
        origin=None if message.origin is None else list(message.origin),
    )


def message_from_dict(value: object, place: str = "message") -> Message:
    """The message that this JSON stands for. Raises `ConfigError` that names the place."""
    role = value.get("role") if isinstance(value, Mapping) else None
    if role == "system":
        return System(Fields(value, place, ("role", "content")).get("content", str, ""))
    if role == "user":
        return _read_user(Fields(value, place, ("role", "content")))
    if role == "tool":
        fields = Fields(value, place, ("role", "call_id", "name", "content", "is_error"))
        return ToolResult(
            fields.get("call_id", str, ""),
            fields.get("name", str, ""),
            fields.get("content", str, ""),
            fields.get("is_error", bool, False),
        )
    if role == "assistant":
        return _read_assistant(Fields(value, place, ("role", "content", "calls", "reasoning", "native", "origin")))
    if not isinstance(value, Mapping):
        raise ConfigError(f"must be an object, not {shown(value)}", place=place)
    raise ConfigError(f"unknown role {shown(role)}.{nearest(str(role), _ROLES)}", place=place)


def messages_from_list(value: object, place: str = "messages") -> list[Message]:
    """A history. Raises `ConfigError`."""
    if not isinstance(value, list):
        raise ConfigError(f"must be a list of messages, not {shown(value)}", place=place)
    return [message_from_dict(item, f"{place}[{number}]") for number, item in enumerate(value)]


def request_to_dict(request: Request) -> dict[str, Any]:
    """The JSON form of a request, without what belongs to a run: its deadline and its retries."""
    output = request.output
    return _present(
        model=request.model,
        messages=[message_to_dict(message) for message in request.messages],
        tools=[_tool(tool) for tool in request.tools] or None,
        tool_choice=None if request.tool_choice == "auto" else request.tool_choice,
        parallel_calls=request.parallel_calls,
        output=None
        if output is None
        else _present(
            name=output.name,
            schema=output.schema,
            choice=output.choice or None,
            choices=dict(output.choices) or None,
        ),
        settings=dict(request.settings) or None,
        stream=request.stream or None,
    )


def request_from_dict(value: object, place: str = "request") -> Request:
    """The request that this JSON stands for. Raises `ConfigError`."""
    fields = Fields(value, place, _REQUEST)
    output = fields.raw("output")
    return Request(
        model=fields.get("model", str, ""),
        messages=[message_from_dict(item, at) for item, at in fields.items("messages")],
        tools=[_read_tool(item, at) for item, at in fields.items("tools")],
        tool_choice=fields.get("tool_choice", str, "auto"),
        parallel_calls=fields.maybe("parallel_calls", bool),
        output=None if output is None else _read_output(output, f"{place}.output"),
        settings=fields.mapping("settings"),
        stream=fields.get("stream", bool, False),
    )


def reply_to_dict(reply: Reply) -> dict[str, Any]:
    """The JSON form of a reply. Usage is in the form of `Usage.to_dict`, as everywhere."""
    return _present(
        message=message_to_dict(reply.message),
        stop=reply.stop,
        usage=reply.usage.to_dict(),
        raw_stop=reply.raw_stop,
        raw_usage=reply.raw_usage,
        model=reply.model,
        id=reply.id,
        refusal=reply.refusal,
    )


def reply_from_dict(value: object, place: str = "reply") -> Reply:
    """The reply that this JSON stands for. Raises `ConfigError`."""
    known = ("message", "stop", "usage", "raw_stop", "raw_usage", "model", "id", "refusal")
    fields = Fields(value, place, known)
    message = message_from_dict(fields.raw("message"), f"{place}.message")
    if not isinstance(message, Assistant):
        raise ConfigError("must have the role 'assistant'", place=f"{place}.message")
    stop = fields.need("stop", str)
    if stop not in _STOPS:
        raise ConfigError(f"unknown stop {stop!r}.{nearest(stop, _STOPS)}", place=f"{place}.stop")
    return Reply(
        message,
        stop,
        usage_from_dict(fields.raw("usage"), f"{place}.usage"),
        raw_stop=fields.maybe("raw_stop", str),
        raw_usage=fields.mapping("raw_usage") if fields.raw("raw_usage") is not None else None,
        model=fields.maybe("model", str),
        id=fields.maybe("id", str),
        refusal=fields.maybe("refusal", str),
    )


def usage_from_dict(value: object, place: str = "usage") -> Usage:
    """The inverse of `Usage.to_dict`. Raises `ConfigError`."""
    fields = Fields(value, place, (*_USAGE, "totalTokens", "costUsd", "complete"))
    return Usage(
        **{name: fields.get(key, int, 0) for key, name in _USAGE.items()},
        cost_usd=fields.maybe("costUsd", float),
        complete=fields.get("complete", bool, True),
    )


def _present(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    data = None if part.data is None else b64encode(part.data).decode()
    return _present(type="media", media_type=part.media_type, data=data, url=part.url, name=part.name)


def _call(call: ToolCall) -> dict[str, Any]:
    """`raw` is left out where it is only the arguments again."""
    raw: str | None = call.raw
    if call.arguments is not None and call.problem is None and raw == dump_text(call.arguments):
        raw = None
    return _present(
        id=call.id, name=call.name, arguments=call.arguments, raw=raw, problem=call.problem, extra=call.extra
    )


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def _read_user(fields: Fields) -> User:
    content = fields.raw("content")
    if isinstance(content, str):
        return User(content)
    return User(tuple(_read_part(item, at) for item, at in fields.items("content")))


def _read_part(value: object, place: str) -> Part:
    kind = value.get("type") if isinstance(value, Mapping) else None
    if kind == "text":
        return Text(Fields(value, place, ("type", "text")).need("text", str))
    fields = Fields(value, place, ("type", "media_type", "data", "url", "name"))
    if kind != "media":
        raise ConfigError(f"unknown type {shown(kind)}.{nearest(str(kind), ('text', 'media'))}", place=place)
    data = fields.maybe("data", str)
    try:
        decoded = None if data is None else b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise ConfigError("must be base64", place=f"{place}.data") from None
    return Media(fields.need("media_type", str), decoded, fields.maybe("url", str), fields.maybe("name", str))


def _read_assistant(fields: Fields) -> Assistant:
    return Assistant(
        fields.get("content", str, ""),
        tuple(_read_call(item, at) for item, at in fields.items("calls")),
        fields.get("reasoning", str, ""),
        fields.raw("native"),
        _read_origin(fields),
    )


def _read_origin(fields: Fields) -> tuple[str, str] | None:
    origin = fields.raw("origin")
    if origin is None:
        return None
    if not isinstance(origin, Sequence) or len(origin) != 2 or not all(isinstance(one, str) for one in origin):
        raise ConfigError("must be the format and the model", place=f"{fields.place}.origin")
    return (origin[0], origin[1])


def _read_call(value: object, place: str) -> ToolCall:
    fields = Fields(value, place, ("id", "name", "arguments", "raw", "problem", "extra"))
    id, name, raw = fields.get("id", str, ""), fields.get("name", str, ""), fields.maybe("raw", str)
    arguments = fields.mapping("arguments") if fields.raw("arguments") is not None else None
    extra = fields.mapping("extra") if fields.raw("extra") is not None else None
    problem = fields.maybe("problem", str)
    if arguments is None and problem is None:
        return ToolCall.parse(id, name, raw, extra)
    if raw is None and arguments is not None and problem is None:
        return ToolCall.parse(id, name, arguments, extra)
    return ToolCall(id, name, arguments, raw or "", problem, extra)


def _read_tool(value: object, place: str) -> ToolSpec:
    fields = Fields(value, place, ("name", "description", "parameters"))
    return ToolSpec(fields.need("name", str), fields.get("description", str, ""), fields.mapping("parameters"))


def _read_output(value: object, place: str) -> OutputSchema:
    fields = Fields(value, place, ("name", "schema", "choice", "choices"))
    choices = fields.mapping("choices")
    return OutputSchema(
        fields.need("name", str), fields.mapping("schema"), fields.get("choice", str, ""), dict(choices)
    )
