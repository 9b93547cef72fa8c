"""Reads requests of Bedrock's Converse API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from officellm.codec import dump_text, loads
from officellm.messages import Media, OutputSchema, Part, Request, Text, ToolSpec
from officellm.replyjson import as_mapping, as_sequence, as_text
from officellm.testing.recorded.conversation import Asked, Conversation, Sent, from_base64, function, joined
from officellm.wire import WireFormat

_READ = ("messages", "system", "toolConfig", "inferenceConfig", "outputConfig")


def read_converse(sent: Sent, wire: WireFormat) -> Asked:
    """The neutral request; the model and whether to stream stand in the address."""
    body = sent.body
    model, _, action = sent.url.partition("/model/")[2].partition("/")
    model = unquote(model)
    settings = {name: value for name, value in body.items() if name not in _READ}
    settings |= as_mapping(body.get("inferenceConfig"))
    output = _output(as_mapping(body.get("outputConfig")))
    if output is None and body.get("outputConfig"):
        settings["outputConfig"] = body["outputConfig"]
    config = as_mapping(body.get("toolConfig"))
    tools, others = _tools(config)
    talk = Conversation(wire, model, tools)
    for block in map(as_mapping, as_sequence(body.get("system"))):
        if "text" in block:
            talk.instruct(as_text(block["text"]))
    for message in map(as_mapping, as_sequence(body.get("messages"))):
        _say(talk, message)
    if others:
        settings["extra"] = {"toolConfig": {"tools": others}}
    request = Request(
        model=model,
        messages=talk.messages,
        tools=tools,
        tool_choice=_choice(as_mapping(config.get("toolChoice"))),
        output=output,
        settings=settings,
        stream=action == "converse-stream",
    )
    return Asked(request, {"cache": True} if '"cachePoint"' in dump_text(body) else {})


def _say(talk: Conversation, message: Mapping[str, Any]) -> None:
    blocks = [as_mapping(block) for block in as_sequence(message.get("content"))]
    if message.get("role") == "assistant":
        talk.reply({"output": {"message": {"content": blocks}}, "stopReason": "end_turn"})
        return
    parts: list[Part] = []
    for block in blocks:
        result = as_mapping(block.get("toolResult"))
        if result:
            failed = result.get("status") == "error"
            talk.answer(as_text(result.get("toolUseId")), joined(result.get("content")), is_error=failed)
        elif "cachePoint" not in block:
            parts.append(_part(block))
    if parts:
        talk.ask(parts)


def _part(block: Mapping[str, Any]) -> Part:
    for kind, types in _TYPES.items():
        file = as_mapping(block.get(kind))
        if file:
            source, form = as_mapping(file.get("source")), as_text(file.get("format"))
            url = as_text(as_mapping(source.get("s3Location")).get("uri")) or None
            data = None if url else from_base64(source.get("bytes"))
            return Media(types.get(form, f"{kind}/{form}"), data, url, as_text(file.get("name")) or None)
    return Text(as_text(block.get("text")))


_TYPES: dict[str, dict[str, str]] = {
    "image": {},
    "document": {"pdf": "application/pdf", "csv": "text/csv", "txt": "text/plain", "md": "text/markdown"},
    "video": {},
}


def _tools(config: Mapping[str, Any]) -> tuple[list[ToolSpec], list[Any]]:
    """Functions, and what the service runs itself."""
    functions: list[ToolSpec] = []
    others: list[Any] = []
    for tool in map(as_mapping, as_sequence(config.get("tools"))):
        entry = as_mapping(tool.get("toolSpec"))
        if entry:
            functions.append(function(entry, as_mapping(entry.get("inputSchema")).get("json")))
        elif "cachePoint" not in tool:
            others.append(tool)
    return functions, others


def _choice(choice: Mapping[str, Any]) -> str:
    named = as_text(as_mapping(choice.get("tool")).get("name"))
    return named or ("required" if "any" in choice else "auto")


def _output(config: Mapping[str, Any]) -> OutputSchema | None:
    form = as_mapping(as_mapping(as_mapping(config.get("textFormat")).get("structure")).get("jsonSchema"))
    try:
        schema = loads(as_text(form.get("schema")))
    except ValueError:
        return None
    return OutputSchema(as_text(form.get("name")), as_mapping(schema))
