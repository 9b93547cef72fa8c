"""What Mistral's chat completions refuse: the fake server's judgement of a request body. Pure.

A body of the wrong shape, also one with a key too many, is a 422; a conversation that makes no sense is a 400. Argument
texts that are no JSON object are refused here, where the service's templates are told to read them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from officellm.testing.wires.speaker import Trouble, is_object, listed, mapped, said_text, words

_KEYS = words(
    "model messages temperature top_p max_tokens min_tokens stream stop random_seed metadata response_format tools "
    "tool_choice parallel_tool_calls presence_penalty frequency_penalty repetition_penalty top_k logprobs top_logprobs "
    "prompt_logprobs top_prompt_logprobs n prediction reasoning_effort prompt_mode guardrails prompt_cache_key "
    "service_tier safe_prompt"
)
_OF_ROLE: Mapping[str, frozenset[str]] = {
    "system": words("role content"),
    "user": words("role content"),
    "assistant": words("role content tool_calls prefix"),
    "tool": words("role content tool_call_id name"),
}
_PARTS = words("text image_url document_url reference file thinking input_audio resource resource_link")
_OF_CALL = words("id type function index")
_CHOICES = ("auto", "none", "any", "required")
#: Which roles may come after a role.
_AFTER: Mapping[str, tuple[str, ...]] = {
    "system": ("user", "assistant", "system"),
    "user": ("assistant", "system", "user"),
    "assistant": ("assistant", "user", "tool"),
    "tool": ("assistant", "tool"),
}
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ID = re.compile(r"[a-zA-Z0-9]{9}")


def complain(body: Mapping[str, Any]) -> Trouble | None:
    """The first thing that Mistral would refuse in this body."""
    # Mistral takes null for absent.
    given = {key: value for key, value in body.items() if value is not None}
    shape = next(_misshapen(given), None)
    return shape or next(_troubles(given), None)


def _misshapen(body: Mapping[str, Any]) -> Iterator[Trouble]:
    for key in body:
        if key not in _KEYS:
            yield _extra("body", key)
    if not isinstance(body.get("model"), str):
        yield _shape("missing", "Field required", "body.model")
    if not isinstance(body.get("messages"), list):
        yield _shape("missing", "Field required", "body.messages")
    for index, one in enumerate(listed(body.get("messages"))):
        yield from _misshapen_message(mapped(one), f"body.messages.{index}")
    for index, one in enumerate(listed(body.get("tools"))):
        function = mapped(mapped(one).get("function"))
        for key in ("name", "parameters"):
            if key not in function:
                yield _shape("missing", "Field required", f"body.tools.{index}.function.{key}")
    choice = body.get("tool_choice", "auto")
    named = isinstance(choice, dict) and isinstance(mapped(choice.get("function")).get("name"), str)
    if choice not in _CHOICES and not named:
        yield _shape("enum", "Input should be 'auto', 'none', 'any' or 'required'", "body.tool_choice")


def _misshapen_message(one: Mapping[str, Any], place: str) -> Iterator[Trouble]:
    role = one.get("role")
    if not isinstance(role, str) or role not in _OF_ROLE:
        message = (
            f"Input tag '{role}' found using 'role' does not match any of the expected tags: 'assistant', 'system', "
            "'tool', 'user'"
        )
        yield _shape("union_tag_invalid", message, place)
        return
    place = f"{place}.{role}"
    for key in one:
        if key not in _OF_ROLE[role]:
            yield _extra(place, key)
    content = one.get("content")
    if not isinstance(content, (str, list)) and not (content is None and role == "assistant"):
        yield _shape("string_type", "Input should be a valid string", f"{place}.content")
    for index, part in enumerate(listed(content)):
        kind = mapped(part).get("type")
        if not isinstance(kind, str) or kind not in _PARTS:
            message = f"Input tag '{kind}' does not match any of the expected tags"
            yield _shape("union_tag_invalid", message, f"{place}.content.{index}")
    for index, call in enumerate(mapped(one) for one in listed(one.get("tool_calls"))):
        where = f"{place}.tool_calls.{index}"
        for key in call:
            if key not in _OF_CALL:
                yield _extra(where, key)
        function = mapped(call.get("function"))
        for key, kinds in (("name", (str,)), ("arguments", (str, dict))):
            if not isinstance(function.get(key), kinds):
                yield _shape("string_type", "Input should be a valid string", f"{where}.function.{key}")


def _troubles(body: Mapping[str, Any]) -> Iterator[Trouble]:
    messages = [mapped(one) for one in body["messages"]]
    yield from _order(messages)
    yield from _pairs(messages)
    for index, one in enumerate(messages):
        if one["role"] == "assistant":
            yield from _assistant(one, last=index == len(messages) - 1)
        elif one["role"] == "tool":
            yield from _result(one)
    for one in listed(body.get("tools")):
        yield from _name(mapped(one["function"]).get("name"), "invalid_request_error")
    kind = mapped(body.get("response_format")).get("type")
    if kind == "json_schema" and "json_schema" not in body["response_format"]:
        yield Trouble(400, "json_schema must be provided for response_format of type json_schema")


def _order(messages: Sequence[Mapping[str, Any]]) -> Iterator[Trouble]:
    roles = [str(one["role"]) for one in messages]
    if not roles:
        yield _disorder("Conversation must have at least one message")
        return
    if len(roles) == 1 and roles[0] not in ("user", "system"):
        yield _disorder("Conversation must start with a user message or system message")
    for before, role in pairwise(roles):
        if role not in _AFTER[before]:
            yield _disorder(f"Unexpected role '{role}' after role '{before}'")
    if len(roles) > 1 and roles[-1] == "assistant" and messages[-1].get("prefix") is not True:
        yield _disorder("Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant")


def _pairs(messages: Sequence[Mapping[str, Any]]) -> Iterator[Trouble]:
    expected: list[Any] = []
    for one in [*messages, {"role": "assistant"}]:
        if one["role"] == "tool":
            id = one.get("tool_call_id")
            if id not in expected:
                yield _disorder(f"Unexpected tool call id {id} in tool results")
            else:
                expected.remove(id)
        elif one["role"] == "assistant":
            if expected:
                yield _disorder("Not the same number of function calls and responses")
            expected = [mapped(call).get("id") for call in listed(one.get("tool_calls"))]
            for id in expected:
                if expected.count(id) > 1:
                    yield _disorder(f"Duplicate tool call id {id} in assistant message")


def _assistant(one: Mapping[str, Any], *, last: bool) -> Iterator[Trouble]:
    calls = listed(one.get("tool_calls"))
    if not calls and not said_text(one.get("content")):
        message = "Assistant message must have either content or tool_calls, but not none."
        yield Trouble(400, message, "invalid_request_assistant_message")
    if one.get("prefix") is True and not last:
        message = "Assistant message with prefix True must be last message"
        yield Trouble(400, message, "invalid_request_assistant_message")
    for call in calls:
        function = call["function"]
        yield from _id(call.get("id"))
        yield from _name(function["name"], "invalid_function_call")
        if isinstance(function["arguments"], str) and not is_object(function["arguments"]):
            yield Trouble(400, "Function call arguments must be a valid JSON object.", "invalid_function_call")


def _result(one: Mapping[str, Any]) -> Iterator[Trouble]:
    if one.get("tool_call_id") is None:
        yield Trouble(400, "Tool call id has to be defined.", "invalid_request_error")
    yield from _id(one.get("tool_call_id"))
    if one.get("name") is not None:
        yield from _name(one["name"], "invalid_request_error")


def _id(id: Any) -> Iterator[Trouble]:
    if not isinstance(id, str) or not _ID.fullmatch(id):
        message = f"Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9."
        yield Trouble(400, message, "invalid_function_call")


def _name(name: Any, kind: str) -> Iterator[Trouble]:
    if not isinstance(name, str) or not _TOOL_NAME.fullmatch(name):
        message = (
            f"Function name was {name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum "
            "length of 64."
        )
        yield Trouble(400, message, kind)


def _disorder(message: str) -> Trouble:
    return Trouble(400, message, "invalid_request_message_order")


def _extra(place: str, key: str) -> Trouble:
    return _shape("extra_forbidden", "Extra inputs are not permitted", f"{place}.{key}")


def _shape(kind: str, message: str, place: str) -> Trouble:
    """What pydantic says: `place` is where, with a dot between its steps."""
    return Trouble(422, message, kind, place)
