"""Reads requests of Anthropic's Messages API, its own or wrapped by Bedrock's InvokeModel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from officellm.codec import dump_text
from officellm.messages import Media, OutputSchema, Part, Request, Text, ToolSpec
from officellm.replyjson import as_mapping, as_sequence, as_text
from officellm.testing.recorded.conversation import Asked, Conversation, Sent, from_base64, function, joined, with_extra
from officellm.wire import WireFormat

_READ = ("model", "messages", "system", "tools", "tool_choice", "stream", "anthropic_version")
_MARK = '"cache_control"'


def read_anthropic(sent: Sent, wire: WireFormat) -> Asked:
    """The neutral request, with `cache` where anything is marked for the cache."""
    return _read(sent, wire, as_text(sent.body.get("model")), sent.body.get("stream") is True)


def read_invoke(sent: Sent, wire: WireFormat) -> Asked:
    """The same, with the model and whether to stream from the address."""
    model, _, action = sent.url.partition("/model/")[2].partition("/")
    return _read(sent, wire, unquote(model), "stream" in action)


def _read(sent: Sent, wire: WireFormat, model: str, stream: bool) -> Asked:
    body = sent.body
    settings = {name: value for name, value in body.items() if name not in _READ}
    output = _output(settings)
    tools: list[ToolSpec] = []
    others: list[Any] = []
    for tool in map(as_mapping, as_sequence(body.get("tools"))):
        if "input_schema" in tool:
            tools.append(function(tool, tool["input_schema"]))
        else:
            others.append(tool)
    talk = Conversation(wire, model, tools)
    system = body.get("system")
    for block in [{"text": system}] if isinstance(system, str) else as_sequence(system):
        talk.instruct(as_text(as_mapping(block).get("text")))
    for message in map(as_mapping, as_sequence(body.get("messages"))):
        _say(talk, message)
    choice = as_mapping(body.get("tool_choice"))
    request = Request(
        model=model,
        messages=talk.messages,
        tools=tools,
        tool_choice=_choice(choice),
        parallel_calls=False if choice.get("disable_parallel_tool_use") is True else None,
        output=output,
        settings=with_extra(settings, others),
        stream=stream,
    )
    return Asked(request, {"cache": True} if _MARK in dump_text(body) else {})


def _say(talk: Conversation, message: Mapping[str, Any]) -> None:
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else as_sequence(content)
    if message.get("role") == "assistant":
        talk.reply({"content": list(blocks), "stop_reason": "end_turn"})
        return
    parts: list[Part] = []
    for block in map(as_mapping, blocks):
        if block.get("type") == "tool_result":
            is_error = block.get("is_error") is True
            talk.answer(as_text(block.get("tool_use_id")), joined(block.get("content")), is_error=is_error)
        else:
            parts.append(_part(block))
    if parts:
        talk.ask(parts)


def _part(block: Mapping[str, Any]) -> Part:
    source = as_mapping(block.get("source"))
    if not source:
        return Text(as_text(block.get("text")))
    name = as_text(block.get("title")) or None
    if source.get("type") == "url":
        kind = "image/png" if block.get("type") == "image" else "application/pdf"
        return Media(kind, url=as_text(source.get("url")), name=name)
    data = as_text(source.get("data"))
    decoded = from_base64(data) if source.get("type") == "base64" else data.encode()
    return Media(as_text(source.get("media_type")), decoded, name=name)


def _choice(choice: Mapping[str, Any]) -> str:
    kind = as_text(choice.get("type")) or "auto"
    return as_text(choice.get("name")) if kind == "tool" else {"any": "required"}.get(kind, kind)


def _output(settings: dict[str, Any]) -> OutputSchema | None:
    """The wanted output, taken out of the settings."""
    config = as_mapping(settings.get("output_config"))
    form = as_mapping(config.get("format"))
    if form.get("type") != "json_schema":
        return None
    settings["output_config"] = {name: value for name, value in config.items() if name != "format"} or None
    return OutputSchema("output", as_mapping(form.get("schema")))
