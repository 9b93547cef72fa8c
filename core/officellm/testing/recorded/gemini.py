"""Reads requests of Gemini's generateContent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from officellm.codec import dump_text
from officellm.messages import Media, OutputSchema, Part, Request, Text, ToolSpec
from officellm.replyjson import as_mapping, as_sequence, as_text
from officellm.testing.recorded.conversation import Asked, Conversation, Sent, from_base64, function, joined, with_extra
from officellm.wire import WireFormat

_READ = ("contents", "systemInstruction", "tools", "generationConfig", "toolConfig")
_METHOD = re.compile(r"/models/([^/]+):(\w+)$")
#: Names that clients use for the one thing that a tool returned.
RESULT_KEYS = ("result", "output", "return_value", "content")


def read_gemini(sent: Sent, wire: WireFormat) -> Asked:
    """The neutral request; the model and whether to stream stand in the address."""
    body = as_mapping(camel(sent.body))
    found = _METHOD.search(sent.url)
    model, method = (unquote(found[1]), found[2]) if found else ("", "")
    tools, others = _tools(body)
    settings = {name: value for name, value in body.items() if name not in _READ}
    settings |= as_mapping(body.get("generationConfig"))
    talk = Conversation(wire, model, tools)
    if "systemInstruction" in body:
        talk.instruct(joined(_parts(body["systemInstruction"])))
    for content in map(as_mapping, as_sequence(body.get("contents"))):
        _say(talk, content)
    choice, rest = _choice(as_mapping(body.get("toolConfig")))
    if rest:
        settings["toolConfig"] = rest
    return Asked(
        Request(
            model=model,
            messages=talk.messages,
            tools=tools,
            tool_choice=choice,
            output=_output(settings),
            settings=with_extra(settings, others),
            stream=method == "streamGenerateContent",
        )
    )


#: Below these every name is the user's.
_USERS = frozenset(
    {"args", "response", "properties", "parameters", "parametersJsonSchema", "responseSchema", "responseJsonSchema"}
)


def camel(value: Any) -> Any:
    """The value with all names of the API's in the one of two spellings that we use."""
    if isinstance(value, list):
        return [camel(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    named = {_camel(name): inner for name, inner in value.items()}
    return {name: inner if name in _USERS else camel(inner) for name, inner in named.items()}


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


def _say(talk: Conversation, content: Mapping[str, Any]) -> None:
    if content.get("role") == "model":
        talk.reply({"candidates": [{"content": content, "finishReason": "STOP"}]})
        return
    said: list[Part] = []
    answered: set[str] = set()
    for part in _parts(content):
        result = as_mapping(part.get("functionResponse"))
        if not result:
            said.append(_part(part))
            continue
        name, response = as_text(result.get("name")), result.get("response")
        call_id = as_text(result.get("id")) or talk.last_call(name, answered)
        answered.add(call_id)
        talk.answer(call_id, result_words(response), name=name, is_error=as_mapping(response).keys() == {"error"})
    if said:
        talk.ask(said)


def result_words(response: object) -> str:
    """What a tool returned, as the text that it was or became."""
    if isinstance(response, Mapping) and len(response) == 1:
        name, value = next(iter(response.items()))
        if name in (*RESULT_KEYS, "error"):
            return value if isinstance(value, str) else dump_text(value)
    return dump_text(response)


def _parts(content: object) -> list[Mapping[str, Any]]:
    """Parts; one may stand alone."""
    parts = as_mapping(content).get("parts")
    return [parts] if isinstance(parts, Mapping) else [as_mapping(part) for part in as_sequence(parts)]


def _part(part: Mapping[str, Any]) -> Part:
    inline, file = as_mapping(part.get("inlineData")), as_mapping(part.get("fileData"))
    if inline:
        return Media(as_text(inline.get("mimeType")), from_base64(inline.get("data")))
    if file:
        return Media(as_text(file.get("mimeType")), url=as_text(file.get("fileUri")))
    return Text(as_text(part.get("text")))


def _tools(body: Mapping[str, Any]) -> tuple[list[ToolSpec], list[Any]]:
    """Functions, and what the vendor runs itself."""
    functions: list[ToolSpec] = []
    others: list[Any] = []
    for tool in map(as_mapping, as_sequence(body.get("tools"))):
        for entry in map(as_mapping, as_sequence(tool.get("functionDeclarations"))):
            functions.append(function(entry, entry.get("parameters") or entry.get("parametersJsonSchema")))
        if rest := {name: value for name, value in tool.items() if name != "functionDeclarations"}:
            others.append(rest)
    return functions, others


def _choice(config: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The tool choice, and what else the configuration says."""
    calling = as_mapping(config.get("functionCallingConfig"))
    names = as_sequence(calling.get("allowedFunctionNames"))
    choice = {"ANY": "required", "NONE": "none"}.get(as_text(calling.get("mode")), "auto")
    if choice == "required" and len(names) == 1:
        choice = as_text(names[0])
    return choice, {name: value for name, value in config.items() if name != "functionCallingConfig"}


def _output(settings: dict[str, Any]) -> OutputSchema | None:
    """The wanted output, taken out of the settings."""
    for name in ("responseSchema", "responseJsonSchema"):
        if isinstance(settings.get(name), Mapping):
            settings.pop("responseMimeType", None)
            return OutputSchema("output", settings.pop(name))
    return None
