"""What OpenAI's Responses API refuses with a 400: the fake server's judgement of a request body. Pure.

The server keeps no response, so nothing that refers to an earlier one is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from officellm.codec import dump_text
from officellm.testing.wires.openai_rules import REASONING_MODEL, name_troubles, strict_troubles, without_nulls
from officellm.testing.wires.responses_items import item_troubles, missing, refused
from officellm.testing.wires.speaker import Trouble, listed, mapped, words

_KEYS = words(
    "background context_management conversation include input instructions max_output_tokens max_tool_calls metadata "
    "model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options "
    "prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options temperature text "
    "tool_choice tools top_logprobs top_p truncation user"
)
#: Keys of chat completions, and where what they say stands here.
_MOVED = {
    "functions": "tools",
    "max_completion_tokens": "max_output_tokens",
    "max_tokens": "max_output_tokens",
    "messages": "input",
    "reasoning_effort": "reasoning.effort",
    "response_format": "text.format",
}
_THINKS_IF_ASKED = re.compile(r"gpt-5\.")


def complain(body: Mapping[str, Any]) -> Trouble | None:
    """The first thing that OpenAI would refuse in this body."""
    return next(_troubles(without_nulls(body)), None)


def _troubles(body: Mapping[str, Any]) -> Iterator[Trouble]:
    for key in body:
        if key in _MOVED:
            message = (
                f"Unsupported parameter: '{key}'. In the Responses API, this parameter has moved to '{_MOVED[key]}'."
            )
            yield refused(message, key, "unsupported_parameter")
        elif key not in _KEYS:
            yield refused(f"Unknown parameter: '{key}'.", key, "unknown_parameter")
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield refused("Missing required parameter: 'model'.", "model", "missing_required_parameter")
    given = body.get("input")
    if not given and not any(key in body for key in ("previous_response_id", "prompt", "conversation")):
        message = 'One of "input" or "previous_response_id" or "prompt" or "conversation" must be provided.'
        yield refused(message, "input", "missing_required_parameter")
    if given is not None and not isinstance(given, (str, list)):
        yield refused("Invalid type for 'input': expected one of a string or array of items.", "input", "invalid_type")
    yield from _tools(body)
    yield from _settings(body)
    yield from item_troubles(
        [without_nulls(one) for one in listed(given)],
        stored=body.get("store") is not False,
        whole="previous_response_id" not in body and "conversation" not in body,
    )
    if "previous_response_id" in body:
        message = f"Previous response with id '{body['previous_response_id']}' not found."
        yield refused(message, "previous_response_id", "previous_response_not_found")


def _tools(body: Mapping[str, Any]) -> Iterator[Trouble]:
    tools = body.get("tools", [])
    if not isinstance(tools, list):
        yield refused("Invalid type for 'tools': expected an array of objects.", "tools", "invalid_type")
        return
    names: list[str] = []
    for index, one in enumerate(map(without_nulls, tools)):
        place = f"tools[{index}]"
        if not isinstance(one.get("type"), str):
            yield missing(f"{place}.type")
        if one.get("type") != "function":
            continue
        if "name" not in one:
            # A tool of chat completions has its name one level deeper.
            yield missing(f"{place}.name")
        yield from name_troubles(one.get("name"), f"{place}.name")
        if one["name"] in names:
            yield refused(f"Duplicate tool names are not allowed: '{one['name']}'.", f"{place}.name")
        names.append(one["name"])
        yield from _schema(one, f"{place}.parameters")
    yield from _choice(body.get("tool_choice", "auto"), tools, names)


def _choice(choice: Any, tools: Sequence[Any], names: Sequence[str]) -> Iterator[Trouble]:
    if isinstance(choice, Mapping):
        if choice.get("type") == "function":
            if "name" not in choice:
                yield missing("tool_choice.name")
            elif choice["name"] not in names:
                yield refused(f"Tool choice '{choice['name']}' not found in 'tools' parameter.", "tool_choice")
    elif choice not in ("none", "auto", "required"):
        message = f"Invalid value: {dump_text(choice)}. Supported values are: 'none', 'auto', and 'required'."
        yield refused(message, "tool_choice", "invalid_value")
    elif choice == "required" and not tools:
        yield refused("Tool choice 'required' must be specified with 'tools' parameter.", "tool_choice")


def _schema(function: Mapping[str, Any], place: str) -> Iterator[Trouble]:
    start = f"Invalid schema for function '{function['name']}'"
    schema = mapped(function.get("parameters", {"type": "object"}))
    if schema.get("type") != "object":
        message = f"{start}: schema must be a JSON Schema of 'type: \"object\"', got 'type: {schema.get('type')!r}'."
        yield refused(message, place, "invalid_function_parameters")
    if function.get("strict") is True:
        for message in strict_troubles(schema, "()"):
            yield refused(f"{start}: In context={message}", place, "invalid_function_parameters")


def _settings(body: Mapping[str, Any]) -> Iterator[Trouble]:
    if "stream_options" in body and body.get("stream") is not True:
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        yield refused(message, "stream_options")
    wanted = mapped(mapped(body.get("text")).get("format"))
    if wanted.get("type") == "json_schema":
        yield from name_troubles(wanted.get("name"), "text.format.name")
        if not isinstance(wanted.get("schema"), Mapping):
            yield missing("text.format.schema")
        if wanted.get("strict") is True:
            for message in strict_troubles(mapped(wanted.get("schema")), "()"):
                full = f"Invalid schema for response_format '{wanted.get('name')}': In context={message}"
                yield refused(full, "text.format.schema", "invalid_json_schema")
    if wanted.get("type") == "json_object" and "json" not in dump_text(body.get("input")).lower():
        message = (
            "Response input messages must contain the word 'json' in some form to use 'text.format' of type "
            "'json_object'."
        )
        yield refused(message, "input")
    limit = body.get("max_output_tokens", 16)
    if isinstance(limit, int) and limit < 16:
        message = "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16."
        yield refused(message, "max_output_tokens", "integer_below_min_value")
    usual = "none" if _THINKS_IF_ASKED.match(body["model"]) else "medium"
    effort = mapped(body.get("reasoning")).get("effort") or usual
    if REASONING_MODEL.match(body["model"]) and effort != "none" and body.get("temperature", 1) != 1:
        message = "Unsupported parameter: 'temperature' is not supported with this model."
        yield refused(message, "temperature", "unsupported_parameter")
