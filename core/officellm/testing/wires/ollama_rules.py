"""What Ollama's chat API refuses with a 400: the fake server's judgement of a request body. Pure.

There is little but types: conversations of any order are taken, and so are keys that it does not know.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any

from officellm.codec import dump_text
from officellm.testing.wires.speaker import Trouble, listed, mapped

#: Go's name for the kind of a JSON value, and what it wants in each place.
_KINDS: Mapping[type, str] = {
    bool: "bool",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}
_BODY = {"model": "string", "messages": "array", "tools": "array", "stream": "bool", "options": "object"}
_MESSAGE = {
    "role": "string",
    "content": "string",
    "thinking": "string",
    "images": "array",
    "tool_calls": "array",
    "tool_name": "string",
    "tool_call_id": "string",
}
_FUNCTION = {"name": "string", "arguments": "object"}
#: What Go calls the type of a field: by its place where it has one of its own, else by its kind.
_GO = {
    "string": "string",
    "bool": "bool",
    "array": "[]interface {}",
    "object": "map[string]interface {}",
    "messages": "api.Message",
    "messages.images": "api.ImageData",
    "messages.tool_calls": "api.ToolCall",
    "messages.tool_calls.function.arguments": "api.ToolCallFunctionArguments",
    "tools": "api.Tool",
    "tools.function.parameters.properties": "api.ToolProperty",
}
_OPTIONS = {
    "integer": "num_ctx num_predict num_keep num_batch num_gpu num_thread seed top_k repeat_last_n main_gpu",
    "float": "temperature top_p min_p typical_p repeat_penalty presence_penalty frequency_penalty",
    "array": "stop",
}
_DURATION = re.compile(r"-?(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+|-?0")
_THINK = ("high", "medium", "low", "max")


def complain(body: Mapping[str, Any]) -> Trouble | None:
    """The first thing that Ollama would refuse in this body."""
    return next((Trouble(400, message) for message in _troubles(body)), None)


def _troubles(body: Mapping[str, Any]) -> Iterator[str]:
    yield from _types(body, _BODY)
    for one in listed(body.get("messages")):
        yield from _message(one)
    for one in listed(body.get("tools")):
        yield from _tool(one)
    if not body.get("model"):
        yield "model is required"
    yield from _settings(body)


def _types(value: Any, wanted: Mapping[str, str], place: str = "") -> Iterator[str]:
    """What Go says of values that are not of the type that their field has; null is of every type."""
    if value is not None and not isinstance(value, dict):
        yield _unfit(value, place, "object")
    for key, kind in wanted.items():
        found = mapped(value).get(key)
        if found is not None and _KINDS[type(found)] != kind:
            yield _unfit(found, f"{place}.{key}".removeprefix("."), kind)


def _unfit(value: Any, place: str, kind: str) -> str:
    found, wanted = _KINDS[type(value)], _GO.get(place, _GO[kind])
    return f"json: cannot unmarshal {found} into Go struct field ChatRequest.{place} of type {wanted}"


def _message(one: Any) -> Iterator[str]:
    yield from _types(one, _MESSAGE, "messages")
    for index, image in enumerate(listed(mapped(one).get("images"))):
        if isinstance(image, str) and not _is_base64(image):
            yield f"illegal base64 data in image {index}"
        elif not isinstance(image, (str, type(None))):
            yield _unfit(image, "messages.images", "string")
    for call in listed(mapped(one).get("tool_calls")):
        yield from _types(call, {"id": "string", "function": "object"}, "messages.tool_calls")
        yield from _types(mapped(call).get("function"), _FUNCTION, "messages.tool_calls.function")


def _tool(one: Any) -> Iterator[str]:
    yield from _types(one, {"type": "string", "function": "object"}, "tools")
    function = mapped(mapped(one).get("function"))
    yield from _types(function, {"name": "string", "description": "string", "parameters": "object"}, "tools.function")
    parameters = mapped(function.get("parameters"))
    wanted = {"type": "string", "properties": "object", "required": "array"}
    yield from _types(parameters, wanted, "tools.function.parameters")
    for inner in mapped(parameters.get("properties")).values():
        yield from _types(inner, {"description": "string", "enum": "array"}, "tools.function.parameters.properties")


def _settings(body: Mapping[str, Any]) -> Iterator[str]:
    for kind, names in _OPTIONS.items():
        for name in names.split():
            value = mapped(body.get("options")).get(name)
            if value is not None and not _is_option(value, kind):
                yield f'option "{name}" must be of type {kind}'
    think = body.get("think")
    if isinstance(think, str) and think not in _THINK:
        levels = '"high", "medium", "low", "max", true, or false'
        yield f"invalid think value: {dump_text(think)} (must be {levels})"
    elif not isinstance(think, (bool, str, type(None))):
        yield "think must be a boolean or string"
    form = body.get("format")
    if form not in (None, "", "json") and not isinstance(form, dict):
        yield f'invalid format: {dump_text(form)}; expected "json" or a valid JSON Schema object'
    alive = body.get("keep_alive")
    if isinstance(alive, str) and not _DURATION.fullmatch(alive):
        yield f"time: invalid duration {dump_text(alive)}"
    elif not isinstance(alive, (int, float, str, type(None))) or isinstance(alive, bool):
        yield f"Unsupported type: '{dump_text(alive)}'"


def _is_option(value: Any, kind: str) -> bool:
    if kind == "array":
        return isinstance(value, list)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and (kind == "float" or value == int(value))


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
