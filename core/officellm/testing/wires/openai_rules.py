"""What OpenAI's chat completions refuse with a 400: the fake server's judgement of a request body. Pure.

Where the many servers that speak this wire are stricter in a way that all of them accept (arguments that parse, no
empty ids), the stricter rule holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from officellm.codec import dump_text
from officellm.testing.wires.speaker import Trouble, is_object, listed, mapped, said_text

_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
_PARTS: Mapping[str, tuple[str, ...]] = {
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
}
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_AUTHOR_NAME = re.compile(r"[^\s<|\\/>]+")
REASONING_MODEL = re.compile(r"(o[134]|gpt-5)(?!.*chat)")


def complain(body: Mapping[str, Any]) -> Trouble | None:
    """The first thing that OpenAI would refuse in this body."""
    return next(_troubles(without_nulls(body)), None)


def without_nulls(value: Any) -> dict[str, Any]:
    """An object without the keys whose value is null, which OpenAI takes for absent."""
    return {key: inner for key, inner in value.items() if inner is not None} if isinstance(value, Mapping) else {}


def _refused(message: str, param: str | None = None, code: str | None = None) -> Trouble:
    return Trouble(400, message, code, param)


def _troubles(body: Mapping[str, Any]) -> Iterator[Trouble]:
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield _refused("you must provide a model parameter")
    messages = body.get("messages")
    if not isinstance(messages, list):
        yield _refused("Missing required parameter: 'messages'.", "messages", "missing_required_parameter")
        return
    if not messages:
        message = "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array."
        yield _refused(message, "messages", "empty_array")
    yield from _tools(body)
    yield from _settings(body)
    for index, one in enumerate(messages):
        yield from _message(without_nulls(one), f"messages[{index}]")
    yield from _pairs([mapped(one) for one in messages])


def _tools(body: Mapping[str, Any]) -> Iterator[Trouble]:
    if "tools" not in body:
        for key in ("tool_choice", "parallel_tool_calls"):
            if key in body:
                yield _refused(f"Invalid value for '{key}': '{key}' is only allowed when 'tools' are specified.", key)
        return
    tools = body["tools"]
    if not isinstance(tools, list) or not tools:
        message = (
            "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead."
        )
        yield _refused(message, "tools", "empty_array")
        return
    names = []
    for index, one in enumerate(tools):
        function = mapped(mapped(one).get("function"))
        place = f"tools[{index}].function"
        if mapped(one).get("type") != "function":
            yield _refused(f"Missing or unknown 'tools[{index}].type'.", f"tools[{index}].type")
        yield from name_troubles(function.get("name"), f"{place}.name")
        names.append(function.get("name"))
        yield from _schema(function, f"{place}.parameters")
    chosen = mapped(mapped(body.get("tool_choice")).get("function")).get("name")
    if chosen is not None and chosen not in names:
        yield _refused(f"Tool choice '{chosen}' not found in 'tools' parameter.", "tool_choice")
    choice = body.get("tool_choice", "auto")
    if not isinstance(choice, dict) and choice not in ("none", "auto", "required"):
        message = f"Invalid value: {dump_text(choice)}. Supported values are: 'none', 'auto', and 'required'."
        yield _refused(message, "tool_choice", "invalid_value")


def name_troubles(name: Any, place: str) -> Iterator[Trouble]:
    """What is wrong with the name of a tool, or of a schema."""
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
        message = f"Invalid '{place}': string does not match pattern. Expected the pattern '^[a-zA-Z0-9_-]{{1,64}}$'."
        yield _refused(message, place, "invalid_value")


def _schema(function: Mapping[str, Any], place: str) -> Iterator[Trouble]:
    if "parameters" not in function:
        return
    schema = mapped(function["parameters"])
    start = f"Invalid schema for function '{function.get('name')}'"
    if schema.get("type") != "object":
        message = f"{start}: schema must be a JSON Schema of 'type: \"object\"', got 'type: {schema.get('type')!r}'."
        yield _refused(message, place, "invalid_function_parameters")
    if function.get("strict") is True:
        for message in strict_troubles(schema, "()"):
            yield _refused(f"{start}: In context={message}", place, "invalid_function_parameters")


def strict_troubles(schema: Mapping[str, Any], context: str) -> Iterator[str]:
    """What keeps a schema from being strict, each with the place."""
    for key in ("oneOf", "allOf", "default"):
        if key in schema:
            yield f"{context}, '{key}' is not permitted."
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            yield f"{context}, 'additionalProperties' is required to be supplied and to be false."
        missing = [key for key in mapped(schema.get("properties")) if key not in listed(schema.get("required"))]
        if missing:
            yield (
                f"{context}, 'required' is required to be supplied and to be an array including every key in "
                f"properties. Missing '{missing[0]}'."
            )
    for key, inner in mapped(schema.get("properties")).items():
        yield from strict_troubles(mapped(inner), f"('properties', '{key}')")
    if "items" in schema:
        yield from strict_troubles(mapped(schema["items"]), f"{context[:-1]}, 'items')")


def _settings(body: Mapping[str, Any]) -> Iterator[Trouble]:
    if "stream_options" in body and body.get("stream") is not True:
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        yield _refused(message, "stream_options")
    kind = mapped(body.get("response_format")).get("type")
    if kind == "json_object" and "json" not in dump_text(body.get("messages")).lower():
        message = (
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        )
        yield _refused(message, "messages")
    if kind == "json_schema":
        wanted = mapped(body["response_format"].get("json_schema"))
        yield from name_troubles(wanted.get("name"), "response_format.json_schema.name")
        if wanted.get("strict") is True:
            for message in strict_troubles(mapped(wanted.get("schema")), "()"):
                full = f"Invalid schema for response_format '{wanted.get('name')}': In context={message}"
                yield _refused(full, "response_format")
    if REASONING_MODEL.match(str(body.get("model"))) and body.get("reasoning_effort") != "none":
        if "max_tokens" in body:
            message = (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'."
            )
            yield _refused(message, "max_tokens", "unsupported_parameter")
        if body.get("temperature", 1) != 1:
            message = "Unsupported value: 'temperature' supports only the default (1) with this model."
            yield _refused(message, "temperature", "unsupported_value")


def _message(one: Mapping[str, Any], place: str) -> Iterator[Trouble]:
    role = one.get("role")
    if role not in _ROLES:
        supported = ", ".join(repr(known) for known in _ROLES)
        yield _refused(f"Invalid value: {role!r}. Supported values are: {supported}.", f"{place}.role", "invalid_value")
        return
    if "name" in one and not (isinstance(one["name"], str) and _AUTHOR_NAME.fullmatch(one["name"])):
        message = f"Invalid '{place}.name': string does not match pattern '^[^\\s<|\\\\/>]+$'."
        yield _refused(message, f"{place}.name", "invalid_value")
    content = one.get("content")
    silent = role == "assistant" and any(one.get(key) for key in ("tool_calls", "refusal", "function_call", "audio"))
    if content is None and not silent:
        message = f"Invalid value for 'content': expected a string, got null. ({place})"
        yield _refused(message, f"{place}.content")
    elif content is not None and not isinstance(content, (str, list)):
        message = f"Invalid type for '{place}.content': expected one of a string or array of objects."
        yield _refused(message, f"{place}.content", "invalid_type")
    yield from _parts(listed(content), role, f"{place}.content")
    if "tool_calls" in one:
        yield from _calls(one, place)


def _parts(parts: list[Any], role: str, place: str) -> Iterator[Trouble]:
    for index, part in enumerate(parts):
        kind = mapped(part).get("type")
        allowed = _PARTS.get(role, ("text",))
        if kind not in allowed:
            supported = ", ".join(repr(known) for known in allowed)
            message = f"Invalid value: {kind!r}. Supported values are: {supported}."
            yield _refused(message, f"{place}[{index}].type", "invalid_value")
        if kind == "image_url" and not isinstance(mapped(mapped(part).get("image_url")).get("url"), str):
            yield _refused("Missing required parameter: 'image_url.url'.", f"{place}[{index}].image_url")


def _calls(one: Mapping[str, Any], place: str) -> Iterator[Trouble]:
    calls = one["tool_calls"]
    if one.get("role") != "assistant":
        yield _refused(f"Unrecognized request argument '{place}.tool_calls'.", f"{place}.tool_calls")
        return
    if not isinstance(calls, list) or not calls:
        message = f"Invalid '{place}.tool_calls': empty array. Expected an array with minimum length 1."
        yield _refused(message, f"{place}.tool_calls", "empty_array")
        return
    for index, call in enumerate(calls):
        where = f"{place}.tool_calls[{index}]"
        function = mapped(mapped(call).get("function"))
        if mapped(call).get("type") != "function":
            yield _refused(
                f"Missing required parameter: '{where}.type'.", f"{where}.type", "missing_required_parameter"
            )
        yield from _id(mapped(call).get("id"), f"{where}.id")
        yield from name_troubles(function.get("name"), f"{where}.function.name")
        arguments = function.get("arguments")
        if not isinstance(arguments, str):
            message = f"Invalid type for '{where}.function.arguments': expected a string."
            yield _refused(message, f"{where}.function.arguments", "invalid_type")
        elif not is_object(arguments):
            message = f"Invalid value for '{where}.function.arguments': the text is not a JSON object."
            yield _refused(message, f"{where}.function.arguments", "invalid_value")


def _id(id: Any, place: str) -> Iterator[Trouble]:
    if not isinstance(id, str) or not id:
        yield _refused(f"Missing required parameter: '{place}'.", place, "missing_required_parameter")
    elif len(id) > 40:
        message = f"Invalid '{place}': string too long. Expected a string with maximum length 40, but got {len(id)}."
        yield _refused(message, place, "string_above_max_length")


def _pairs(messages: list[dict[str, Any]]) -> Iterator[Trouble]:
    open_ids: list[str] = []
    for index, one in enumerate([*messages, {"role": "end"}]):
        if one.get("role") == "tool":
            id = one.get("tool_call_id")
            if not open_ids:
                message = (
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                    "'tool_calls'."
                )
                yield _refused(message, f"messages.[{index}].role")
            elif id not in open_ids:
                message = f"Duplicate or unknown value for 'tool_call_id' of '{id}' in message[{index}]."
                yield _refused(message, f"messages.[{index}].tool_call_id")
            else:
                open_ids.remove(id)
            if not isinstance(one.get("content"), (str, list)) or (
                isinstance(one["content"], list) and not said_text(one["content"])
            ):
                yield _refused("Invalid value for 'content': expected a string.", f"messages.[{index}].content")
            continue
        if open_ids:
            message = (
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(open_ids)}"
            )
            yield _refused(message, f"messages.[{index}].role")
        open_ids = [str(mapped(call).get("id")) for call in listed(one.get("tool_calls"))]
        if len(set(open_ids)) != len(open_ids):
            yield _refused(f"Duplicate value for 'tool_call_id' in message[{index}].", f"messages.[{index}].tool_calls")
