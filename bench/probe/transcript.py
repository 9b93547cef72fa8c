"""The calls and results that a request's body holds, read from the JSON of each wire and judged by none."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from officellm.testing import Record


@dataclass(frozen=True, slots=True)
class SentCall:
    """A call as it was sent back to the model: `arguments` is whatever stood there, `id` empty where there is none."""

    id: str
    name: str
    arguments: Any


@dataclass(slots=True)
class Exchange:
    """The calls of one turn of the model, and the ids (Gemini without ids: the names) that were answered."""

    calls: list[SentCall]
    answered: list[str] = field(default_factory=list)


def exchanges(record: Record) -> list[Exchange]:
    """Every turn with calls, and its answers. An answer before any call stands in a turn without calls."""
    found: list[Exchange] = []
    for kind, value in _READERS[record.wire](record):
        if kind == "calls":
            found.append(Exchange(value))
            continue
        if not found:
            found.append(Exchange([]))
        found[-1].answered.append(value)
    return found


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _openai(record: Record) -> Iterator[tuple[str, Any]]:
    for message in _objects(record.messages):
        calls = _objects(message.get("tool_calls"))
        if calls:
            yield "calls", [_openai_call(one) for one in calls]
        if message.get("role") == "tool":
            yield "answer", _text(message.get("tool_call_id"))


def _openai_call(one: Mapping[str, Any]) -> SentCall:
    function = _object(one.get("function"))
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        # What is no JSON stays a text, and is judged as one. Servers that send a blank take it back as an empty object.
        with contextlib.suppress(ValueError):
            arguments = json.loads(arguments) if arguments.strip() else {}
    return SentCall(_text(one.get("id")), _text(function.get("name")), arguments)


def _anthropic(record: Record) -> Iterator[tuple[str, Any]]:
    for message in _objects(record.messages):
        blocks = _objects(message.get("content"))
        calls = [one for one in blocks if one.get("type") == "tool_use"]
        if calls:
            yield "calls", [SentCall(_text(one.get("id")), _text(one.get("name")), one.get("input")) for one in calls]
        for one in blocks:
            if one.get("type") == "tool_result":
                yield "answer", _text(one.get("tool_use_id"))


def _gemini(record: Record) -> Iterator[tuple[str, Any]]:
    for content in _objects(record.messages):
        parts = _objects(content.get("parts"))
        calls = [_object(one["functionCall"]) for one in parts if "functionCall" in one]
        if calls:
            # The wire allows a call without `args`: it has none.
            yield (
                "calls",
                [SentCall(_text(one.get("id")), _text(one.get("name")), one.get("args", {})) for one in calls],
            )
        for one in parts:
            if "functionResponse" in one:
                response = _object(one["functionResponse"])
                yield "answer", _text(response.get("id")) or _text(response.get("name"))


_READERS = {"openai": _openai, "anthropic": _anthropic, "gemini": _gemini}
