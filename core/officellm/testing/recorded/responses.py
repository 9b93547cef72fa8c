"""Reads requests of OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from officellm.messages import OutputSchema, Part, Request, Text, ToolSpec
from officellm.replyjson import as_mapping, as_sequence, as_text
from officellm.testing.recorded.conversation import (
    Asked,
    Conversation,
    Sent,
    function,
    joined,
    media,
    with_extra,
)
from officellm.wire import WireFormat

_READ = ("model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "stream", "text")
_ENCRYPTED = "reasoning.encrypted_content"


def read_responses(sent: Sent, wire: WireFormat) -> Asked:
    """The neutral request, with the option that says whether encrypted reasoning is asked for."""
    body = sent.body
    settings = {name: value for name, value in body.items() if name not in _READ}
    # The vendor's default, which is not ours.
    settings.setdefault("store", True)
    output, text = _output(as_mapping(body.get("text")))
    if text:
        settings["text"] = text
    tools: list[ToolSpec] = []
    others: list[Any] = []
    for tool in map(as_mapping, as_sequence(body.get("tools"))):
        if tool.get("type") == "function":
            tools.append(function(tool, tool.get("parameters")))
        else:
            others.append(tool)
    model = as_text(body.get("model"))
    request = Request(
        model=model,
        messages=_history(Conversation(wire, model, tools), body),
        tools=tools,
        tool_choice=_choice(body.get("tool_choice")),
        parallel_calls=body.get("parallel_tool_calls"),
        output=output,
        settings=with_extra(settings, others),
        stream=body.get("stream") is True,
    )
    return Asked(request, {"encrypted_reasoning": _ENCRYPTED in as_sequence(body.get("include"))})


def _history(talk: Conversation, body: Mapping[str, Any]) -> list[Any]:
    if body.get("instructions"):
        talk.instruct(as_text(body["instructions"]))
    given = body.get("input")
    reply: list[Mapping[str, Any]] = []
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else as_sequence(given):
        item = as_mapping(item)
        if item.get("role") == "assistant" or ("role" not in item and item.get("type") != "function_call_output"):
            reply.append({"type": "message", **item})
            continue
        _close(talk, reply)
        _say(talk, item)
    _close(talk, reply)
    return talk.messages


def _close(talk: Conversation, items: list[Mapping[str, Any]]) -> None:
    """The items of one turn of the model, which stand side by side."""
    if items:
        talk.reply({"output": list(items), "status": "completed"})
        items.clear()


def _say(talk: Conversation, item: Mapping[str, Any]) -> None:
    content = item.get("content")
    if item.get("type") == "function_call_output":
        talk.answer(as_text(item.get("call_id")), joined(item.get("output")))
    elif item.get("role") in ("system", "developer"):
        talk.instruct(joined(content))
    else:
        talk.ask(content if isinstance(content, str) else [_part(as_mapping(part)) for part in as_sequence(content)])


def _part(part: Mapping[str, Any]) -> Part:
    kind = part.get("type")
    if kind == "input_image":
        return media(as_text(part.get("image_url")))
    if kind == "input_file":
        url = as_text(part.get("file_data")) or as_text(part.get("file_url"))
        return media(url, as_text(part.get("filename")) or None, "application/pdf")
    return Text(as_text(part.get("text")))


def _choice(choice: object) -> str:
    return as_text(choice) or as_text(as_mapping(choice).get("name")) or "auto"


def _output(text: Mapping[str, Any]) -> tuple[OutputSchema | None, dict[str, Any]]:
    """The wanted output, and what else is said of the text."""
    form = as_mapping(text.get("format"))
    if form.get("type") != "json_schema":
        return None, dict(text)
    rest = {name: value for name, value in text.items() if name != "format"}
    return OutputSchema(as_text(form.get("name")), as_mapping(form.get("schema"))), rest
