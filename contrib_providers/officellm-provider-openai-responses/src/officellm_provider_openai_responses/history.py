"""Encodes the neutral history as input items, each message once. What a reply means is not known here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from officellm import (
    Assistant,
    Message,
    Part,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    as_sequence,
    as_text,
    data_url,
    dump_text,
    dumps,
    legal_id,
    legal_name,
    result_text,
)
from officellm_provider_openai_responses.reply import NAME, message_text

#: What the vendor takes as `call_id`: anything that is not too long.
_CALL_ID = re.compile(r".{1,64}", re.DOTALL)


def encode_instructions(messages: Sequence[Message]) -> bytes:
    """The value of `instructions`, empty where there are none."""
    first = messages[0] if messages else None
    if not isinstance(first, System) or not first.text.strip():
        return b""
    return first.encoded(NAME, partial(dumps, first.text))


def encode_input(messages: Sequence[Message], model: str, *, stored: bool) -> bytes:
    """The value of `input`. `stored`: the server keeps replies, so reasoning goes back by its id."""
    encoded: list[bytes] = []
    given: set[str] = set()
    for message in messages:
        if isinstance(message, Assistant):
            is_ours = message.origin == (NAME, model)
            if is_ours:
                given |= _given_ids(message)
            encoded.append(message.encoded((NAME, is_ours, stored), partial(_assistant, message, is_ours, stored)))
        elif isinstance(message, ToolResult):
            is_given = message.call_id in given
            encoded.append(message.encoded((NAME, is_given), partial(_result, message, is_given)))
        elif isinstance(message, User):
            encoded.append(message.encoded(NAME, partial(_user, message)))
    return b"[%b]" % b",".join(filter(None, encoded))


def _assistant(message: Assistant, is_ours: bool, stored: bool) -> bytes:
    """Comma-joined items; empty where the reply has neither words nor calls."""
    if is_ours and _holds_native(message):
        return b",".join(map(dumps, _replayed(message, stored)))
    return b",".join(map(dumps, _written(message, _given_ids(message) if is_ours else frozenset())))


def _items(message: Assistant) -> list[dict[str, Any]]:
    """The items as they came."""
    return [item for item in as_sequence(message.native) if isinstance(item, dict)]


def _given_ids(message: Assistant) -> frozenset[str]:
    """The call ids that the server made. It takes every one of them back: gateways keep whole signatures in them."""
    return frozenset(item["call_id"] for item in _items(message) if isinstance(item.get("call_id"), str))


def _written(message: Assistant, given: frozenset[str]) -> list[dict[str, Any]]:
    """The reply in items of our own, without what only its vendor could read."""
    items: list[dict[str, Any]] = []
    if message.text.strip():
        content = [{"type": "output_text", "text": message.text, "annotations": []}]
        items.append({"type": "message", "role": "assistant", "content": content})
    items += [{"type": "function_call", **_call(call, call.id in given)} for call in message.calls]
    return items


def _holds_native(message: Assistant) -> bool:
    """Whether the items that came still say what the message says: someone may have edited its text or calls."""
    items = _items(message)
    calls = sum(item.get("type") == "function_call" for item in items)
    return bool(items) and calls == len(message.calls) and message_text(items) == message.text


def _replayed(message: Assistant, stored: bool) -> Iterator[Mapping[str, Any]]:
    """The items as they came, in their order, reasoning right before what followed it.

    Where one of them had to change or cannot go back, those after it go without the ids that tie them together.
    """
    calls = iter(message.calls)
    thoughts: list[Mapping[str, Any]] = []
    untied = followed = False
    for item in _items(message):
        kind = item.get("type")
        if kind == "reasoning":
            untied, followed = untied and not followed, False
            if stored or item.get("encrypted_content") or item.get("content"):
                thoughts.append(item)
            else:
                untied = True
            continue
        sent: Mapping[str, Any] | None = item
        if kind == "function_call":
            sent = _same_call(item, next(calls))
        elif kind == "message":
            sent = _same_message(item)
        elif untied:
            sent = None  # the vendor's own work is nothing without the reasoning before it
        if sent is None:
            untied = untied or bool(thoughts)
            continue
        untied = untied or sent != item
        yield from map(_without_id, [*thoughts, sent]) if untied else [*thoughts, sent]
        thoughts, followed = [], True


def _same_call(item: Mapping[str, Any], call: ToolCall) -> Mapping[str, Any]:
    """The item, with what differs from it in the call: an id made unique, arguments that could not be read."""
    is_given, is_read = call.id == item.get("call_id"), call.problem is None and call.raw == item.get("arguments")
    if is_given and is_read and call.raw and item.get("name") == legal_name(call.name):
        return item
    wanted = _call(call, is_given)
    if is_read and call.raw:
        wanted["arguments"] = call.raw
    return {**item, **wanted}


def _same_message(item: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The item without empty parts; None where nothing is left."""
    content = item.get("content")
    if isinstance(content, str):
        return item if content.strip() else None
    parts = [part for part in as_sequence(content) if isinstance(part, dict) and _says_something(part)]
    if not any((as_text(part.get("text")) or "-").strip() for part in parts):
        return None
    return item if parts == content else {**item, "content": parts}


def _says_something(part: Mapping[str, Any]) -> bool:
    return part.get("type") not in ("output_text", "refusal") or bool(as_text(part.get("text")) or part.get("refusal"))


def _without_id(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in ("id", "status")}


def _call(call: ToolCall, is_given: bool) -> dict[str, Any]:
    return {
        "call_id": _call_id(call.id, is_given),
        "name": legal_name(call.name),
        "arguments": dump_text(call.sendable),
    }


def _call_id(call_id: str, is_given: bool) -> str:
    return call_id if is_given else legal_id(call_id, _CALL_ID)


def _result(message: ToolResult, is_given: bool) -> bytes:
    """The format has no flag for errors, so the text must say it."""
    output = result_text(message)
    return dumps({"type": "function_call_output", "call_id": _call_id(message.call_id, is_given), "output": output})


def _user(message: User) -> bytes:
    """A string where all is text: some servers take no parts."""
    if isinstance(message.content, str) or all(isinstance(part, Text) for part in message.content):
        return dumps({"role": "user", "content": message.text})
    parts = [_part(part) for part in message.content if not isinstance(part, Text) or part.text]
    return dumps({"role": "user", "content": parts})


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "input_text", "text": part.text}
    kind, _, subtype = part.media_type.partition("/")
    if kind == "image":
        return {"type": "input_image", "image_url": data_url(part)}
    if part.data is None:
        return {"type": "input_file", "file_url": part.url or ""}
    return {"type": "input_file", "filename": part.name or f"file.{subtype}", "file_data": data_url(part)}
