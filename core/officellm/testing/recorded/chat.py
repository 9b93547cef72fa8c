"""Reads requests of chat completions, as OpenAI and everyone compatible take them; Mistral's are of the same shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from officellm.messages import Media, OutputSchema, Part, Request, Text, ToolSpec
from officellm.replyjson import as_mapping, as_sequence, as_text
from officellm.testing.recorded.conversation import (
    Asked,
    Conversation,
    Sent,
    from_base64,
    function,
    joined,
    media,
    with_extra,
)
from officellm.wire import WireFormat

#: What has a place of its own in a neutral request. Everything else is a setting under its own name.
_READ = ("model", "messages", "tools", "parallel_tool_calls", "stream", "stream_options", "max_completion_tokens")
_SYSTEM = ("system", "developer")


def read_chat(sent: Sent, wire: WireFormat) -> Asked:
    """The neutral request, with the options that decide on the names of fields."""
    body, settings = sent.body, {name: value for name, value in sent.body.items() if name not in _READ}
    options: dict[str, Any] = {}
    for name in ("max_tokens", "max_completion_tokens"):
        if name in body:
            settings["max_tokens"], options["max_tokens_field"] = body[name], name
    if body.get("stream") is True and body.get("stream_options") != {"include_usage": True}:
        options["stream_usage"] = False
        settings["stream_options"] = body.get("stream_options")
    asked, messages = _read(sent, wire, settings), as_sequence(body.get("messages"))
    if messages and as_mapping(messages[0]).get("role") == "developer":
        options["system_role"] = "developer"
    return Asked(asked, options)


def read_mistral(sent: Sent, wire: WireFormat) -> Asked:
    """The neutral request; there are no options."""
    settings = {name: value for name, value in sent.body.items() if name not in _READ}
    if settings.get("tool_choice") == "any":
        settings["tool_choice"] = "required"
    return Asked(_read(sent, wire, settings))


def _read(sent: Sent, wire: WireFormat, settings: dict[str, Any]) -> Request:
    body = sent.body
    tools, others = _tools(body)
    model = as_text(body.get("model")) or _deployment(sent.url)
    talk = Conversation(wire, model, tools)
    for message in map(as_mapping, as_sequence(body.get("messages"))):
        _say(talk, message)
    output = _output(settings.get("response_format"))
    if output is not None:
        del settings["response_format"]
    return Request(
        model=model,
        messages=talk.messages,
        tools=tools,
        tool_choice=_choice(settings.pop("tool_choice", None)),
        parallel_calls=body.get("parallel_tool_calls"),
        output=output,
        settings=with_extra(settings, others),
        stream=body.get("stream") is True,
    )


def _deployment(url: str) -> str:
    """Azure's older addresses hold the model."""
    return url.partition("/deployments/")[2].partition("/")[0]


def _say(talk: Conversation, message: Mapping[str, Any]) -> None:
    role, content = message.get("role"), message.get("content")
    if role in _SYSTEM:
        talk.instruct(joined(content))
    elif role == "assistant":
        talk.reply({"choices": [{"message": message, "finish_reason": "stop"}]})
    elif role == "tool":
        talk.answer(as_text(message.get("tool_call_id")), joined(content))
    else:
        talk.ask(content if isinstance(content, str) else [_part(as_mapping(part)) for part in as_sequence(content)])


def _part(part: Mapping[str, Any]) -> Part:
    kind = part.get("type")
    value = part.get(str(kind))
    if kind in ("image_url", "document_url"):
        url = value if isinstance(value, str) else as_text(as_mapping(value).get("url"))
        name = as_text(part.get("document_name")) or None
        return media(url, name, "image/png" if kind == "image_url" else "application/pdf")
    if kind == "input_audio" and isinstance(value, Mapping):
        return Media(f"audio/{value.get('format')}", from_base64(value.get("data")))
    if kind == "file":
        file = as_mapping(value)
        return media(as_text(file.get("file_data")), as_text(file.get("filename")) or None)
    return Text(as_text(part.get("text")))


def _tools(body: Mapping[str, Any]) -> tuple[list[ToolSpec], list[Any]]:
    """Functions, and the rest."""
    functions, others = [], []
    for tool in as_sequence(body.get("tools")):
        entry = as_mapping(as_mapping(tool).get("function"))
        if entry:
            functions.append(function(entry, entry.get("parameters")))
        else:
            others.append(tool)
    return functions, others


def _choice(choice: object) -> str:
    named = as_text(as_mapping(as_mapping(choice).get("function")).get("name"))
    return named or as_text(choice) or "auto"


def _output(wanted: object) -> OutputSchema | None:
    wanted = as_mapping(wanted)
    schema = as_mapping(wanted.get("json_schema"))
    if wanted.get("type") != "json_schema":
        return None
    return OutputSchema(as_text(schema.get("name")), as_mapping(schema.get("schema")))
