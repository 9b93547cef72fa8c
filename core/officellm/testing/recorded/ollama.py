"""Reads requests of Ollama's own chat API."""

from __future__ import annotations

from collections.abc import Mapping

from officellm.messages import Media, OutputSchema, Part, Request, Text
from officellm.replyjson import as_mapping, as_sequence, as_text
from officellm.testing.recorded.conversation import Asked, Conversation, Sent, from_base64, function
from officellm.wire import WireFormat

_READ = ("model", "messages", "tools", "stream", "options", "format")


def read_ollama(sent: Sent, wire: WireFormat) -> Asked:
    """The neutral request. The vendor's default is to stream."""
    body = sent.body
    settings = {name: value for name, value in body.items() if name not in _READ}
    settings |= as_mapping(body.get("options"))
    form = body.get("format")
    if isinstance(form, str):
        settings["format"] = form
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
        output=OutputSchema("output", form) if isinstance(form, Mapping) else None,
        settings=settings,
        stream=body.get("stream") is not False,
    )
    return Asked(request)


def _say(talk: Conversation, message: Mapping[str, object]) -> None:
    role, content = message.get("role"), as_text(message.get("content"))
    if role == "system":
        talk.instruct(content)
    elif role == "assistant":
        talk.reply({"message": message, "done": True})
    elif role == "tool":
        name = as_text(message.get("tool_name"))
        talk.answer(as_text(message.get("tool_call_id")) or talk.last_call(name, set()), content, name=name)
    else:
        images = [Media("image/png", from_base64(one)) for one in as_sequence(message.get("images"))]
        parts: list[Part] = [Text(content), *images]
        talk.ask(parts)
