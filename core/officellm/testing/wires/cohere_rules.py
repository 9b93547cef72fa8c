"""What Cohere's chat API refuses: the fake server's judgement of a request body. Pure.

A key that it does not know is a 422, all else a 400. Where the service's own words are not known, these say the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from officellm.testing.wires.speaker import Trouble, is_object, listed, mapped, said_text, words

_KEYS = words(
    "model messages tools strict_tools tool_choice documents citation_options response_format safety_mode max_tokens "
    "stop_sequences temperature seed frequency_penalty presence_penalty k p logprobs thinking priority raw_prompting "
    "stream"
)
_OF_TOOL = words("type function")
_OF_FUNCTION = words("name description parameters")
_ROLES = ("user", "assistant", "system", "tool")
_TOOL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_USAGE = "For proper usage, please refer to https://docs.cohere.com/reference/chat"


def complain(body: Mapping[str, Any]) -> Trouble | None:
    """The first thing that Cohere would refuse in this body."""
    given = {key: value for key, value in body.items() if value is not None}
    unknown = next(_unknown(given), None)
    if unknown is not None:
        return Trouble(422, f"unknown field: parameter '{unknown}' is not a valid field. {_USAGE}")
    return next((Trouble(400, message) for message in _troubles(given)), None)


def _unknown(body: Mapping[str, Any]) -> Iterator[str]:
    yield from (key for key in body if key not in _KEYS)
    for one in listed(body.get("tools")):
        yield from (key for key in mapped(one) if key not in _OF_TOOL)
        yield from (key for key in mapped(mapped(one).get("function")) if key not in _OF_FUNCTION)


def _troubles(body: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "a model parameter is required for this endpoint."
    if not isinstance(body.get("messages"), list) or not body["messages"]:
        yield "invalid request: messages must not be empty."
        return
    messages = [mapped(one) for one in body["messages"]]
    yield from _tools(body)
    yield from _response_format(body)
    for index, one in enumerate(messages):
        yield from _message(one, index)
    yield from _pairs(messages)


def _tools(body: Mapping[str, Any]) -> Iterator[str]:
    for one in listed(body.get("tools")):
        function = mapped(mapped(one).get("function"))
        name = function.get("name")
        if mapped(one).get("type") != "function":
            yield "invalid request: tool must be of type function"
        if not isinstance(name, str) or not _TOOL_NAME.fullmatch(name):
            yield (
                "invalid request: tool names can only contain certain characters (A-Za-z0-9_) and can't begin with a "
                f"digit (provided name: '{name}')."
            )
        schema = function.get("parameters", {})
        if not isinstance(schema, dict):
            yield "schema must be an object"
        yield from _schema(schema, "parameters")
    if body.get("tool_choice", "NONE") not in ("REQUIRED", "NONE"):
        yield "invalid request: tool_choice must be one of 'REQUIRED', 'NONE'."


def _schema(schema: Any, place: str) -> Iterator[str]:
    """No list of types is taken, at any depth."""
    if isinstance(mapped(schema).get("type"), list):
        yield f"property {place} must have a type"
    for name, inner in mapped(mapped(schema).get("properties")).items():
        yield from _schema(inner, name)
    if "items" in mapped(schema):
        yield from _schema(schema["items"], place)


def _response_format(body: Mapping[str, Any]) -> Iterator[str]:
    wanted = mapped(body.get("response_format"))
    if wanted.get("type") != "json_object":
        return
    if body.get("documents"):
        yield "invalid request: response_format is not supported with RAG."
    if body.get("tools"):
        yield "invalid request: response_format is not supported with tools."
    if "json_schema" not in wanted:
        return
    schema = wanted["json_schema"]
    if mapped(schema).get("type") != "object":
        yield "schema must be an object"
    required = listed(mapped(schema).get("required"))
    if not required:
        yield "invalid request: schema must have at least one required field"
    for name in required:
        if name not in list(mapped(mapped(schema).get("properties"))):
            yield f"required field {name} not found in properties"
    yield from _schema(schema, "schema")


def _message(one: Mapping[str, Any], index: int) -> Iterator[str]:
    role = one.get("role")
    if role not in _ROLES:
        yield (
            f"invalid request: Invalid role in messages at index {index}. Role must be one of the following: "
            "user, assistant, system, tool"
        )
        return
    content = one.get("content")
    if content is not None and not isinstance(content, (str, list)):
        yield f"invalid request: content of the message at index {index} must be a string or a list"
    if role == "tool":
        if not isinstance(one.get("tool_call_id"), str) or not one["tool_call_id"]:
            yield "tool call id must be provided with tool message"
        return
    calls = listed(one.get("tool_calls"))
    if calls and role != "assistant":
        yield f"invalid request: tool_calls of the message at index {index} belong to an assistant message"
    if not calls and not _says_something(content):
        yield "message must not be empty in a turn"
    for call in calls:
        yield from _call(mapped(call))


def _says_something(content: Any) -> bool:
    more = any(mapped(part).get("type") in ("image_url", "document") for part in listed(content))
    return bool(said_text(content)) or more


def _call(call: Mapping[str, Any]) -> Iterator[str]:
    function = mapped(call.get("function"))
    if call.get("type") != "function":
        yield "tool call must be of type function"
    if not isinstance(call.get("id"), str) or not call["id"]:
        yield "tool call id must be provided with tool call"
    if not isinstance(function.get("name"), str) or not function["name"]:
        yield "invalid request: tool call must have a name"
    arguments = function.get("arguments")
    if not isinstance(arguments, str) or not is_object(arguments):
        yield "invalid request: tool call arguments must be the text of a JSON object"


def _pairs(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    open_ids: list[Any] = []
    for one in [*messages, {"role": "end"}]:
        if one.get("role") == "tool":
            id = one.get("tool_call_id")
            if id not in open_ids:
                yield "tool call id not found in previous tool calls"
            else:
                open_ids.remove(id)
            continue
        if open_ids:
            yield (
                "invalid request: An assistant message with 'tool_calls' must be followed by tool messages responding "
                "to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
                f"{', '.join(map(str, open_ids))}"
            )
        open_ids = [mapped(call).get("id") for call in listed(one.get("tool_calls"))]
        if any(open_ids.count(id) > 1 for id in open_ids):
            yield "cannot have duplicate tool ids"
