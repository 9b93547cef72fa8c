"""Reads requests of Cohere's chat API."""

from __future__ import annotations

from collections.abc import Mapping

from officellm.messages import OutputSchema, Part, Request, Text
from officellm.replyjson import as_mapping, as_sequence, as_text
from officellm.testing.recorded.conversation import Asked, Conversation, Sent, function, joined, media
from officellm.wire import WireFormat

_READ = ("model", "messages", "tools", "tool_choice", "stream")


def read_cohere(sent: Sent, wire: WireFormat) -> Asked:
    """The neutral request."""
    body = sent.body
    settings = {name: value for name, value in body.items() if name not in _READ}
    schema = as_mapping(settings.get("response_format")).get("json_schema")
    if schema is not None:
        del settings["response_format"]
    entries = [as_mapping(as_mapping(tool).get("function")) for tool in as_sequence(body.get("tools"))]
    tools = [function(entry, entry.get("parameters")) for entry in entries]
    model = as_text(body.get("model"))
    talk = Conversation(wire, model, tools)
    for message in map(as_mapping, as_sequence(body.get("messages"))):
        _say(talk, message)
    request = Request(
        model=model,
        messages=talk.messages,
        tools=tools,
        tool_choice=as_text(body.get("tool_choice")).lower() or "auto",
        output=None if schema is None else OutputSchema("output", as_mapping(schema)),
        settings=settings,
        stream=body.get("stream") is True,
    )
    return Asked(request)


def _say(talk: Conversation, message: Mapping[str, object]) -> None:
    role, content = message.get("role"), message.get("content")
    if role == "system":
        talk.instruct(joined(content))
    elif role == "assistant":
        talk.reply({"message": message, "finish_reason": "COMPLETE"})
    elif role == "tool":
        talk.answer(as_text(message.get("tool_call_id")), joined(content))
    else:
        talk.ask(content if isinstance(content, str) else [_part(part) for part in as_sequence(content)])


def _part(part: object) -> Part:
    fields = as_mapping(part)
    if fields.get("type") == "image_url":
        return media(as_text(as_mapping(fields.get("image_url")).get("url")))
    return Text(as_text(fields.get("text")))
