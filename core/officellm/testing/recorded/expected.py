"""Compares what a wire format reads in a recorded exchange with what the vendor's own SDK read, its `expect`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from officellm.messages import Reply
from officellm.replyjson import as_mapping, as_sequence
from officellm.testing.exchanges import RecordedExchange
from officellm.wire import Fault, WireFormat, reported_usage


def misread(wire: WireFormat, exchange: RecordedExchange, result: Reply | Fault) -> list[str]:
    """Where `result` is not what the recording expects; empty where all is well."""
    expect = as_mapping(exchange.file.get("expect"))
    error = expect.get("error")
    if error is not None:
        return list(_fault(error, result))
    if isinstance(result, Fault):
        return [f"a fault instead of a reply: {result}"]
    return [*_reply(expect, result), *_usage(wire, exchange, result)]


#: What we read and the SDK does not, by vendor, with the reason.
READ_BY_US_ALONE: Mapping[str, str] = {
    "groq": "a stream's counters stand in `x_groq.usage` where they were not asked for, which the SDK does not read",
}


def is_read_by_us_alone(wire: WireFormat, exchange: RecordedExchange, result: Reply | Fault) -> bool:
    """Whether we have counters that the SDK does not have, and know why."""
    if isinstance(result, Fault) or as_mapping(exchange.file.get("expect")).get("usage") is not None:
        return False
    return exchange.file.get("vendor") in READ_BY_US_ALONE and any(reported_usage(wire, result.raw_usage))


def _fault(error: Mapping[str, Any], result: Reply | Fault) -> Iterator[str]:
    if isinstance(result, Reply):
        yield f"a reply instead of an error: {result.message.text[:80]!r}"
        return
    for name, found in (("status", result.status), ("retryable", result.retryable)):
        wanted = error.get(name)
        if wanted is not None and found != wanted:
            yield f"{name}: {found!r}, not {wanted!r}"


def _reply(expect: Mapping[str, Any], reply: Reply) -> Iterator[str]:
    pairs: dict[str, tuple[Any, Any]] = {
        "text": (reply.message.text, expect.get("text")),
        "calls": (_calls(reply), _expected_calls(reply, expect)),
        "finish": (reply.raw_stop or None, str(expect.get("finish_reason") or "") or None),
    }
    if expect.get("refusal"):
        pairs["refusal"] = (reply.refusal, expect["refusal"])
    if expect.get("reasoning") or expect.get("tool_plan"):
        pairs["reasoning"] = ("".join(reply.message.reasoning.split()), _reasoning(expect))
    for what, (found, wanted) in pairs.items():
        if found != wanted:
            yield f"{what}: {found!r}, not {wanted!r}"


def _usage(wire: WireFormat, exchange: RecordedExchange, reply: Reply) -> Iterator[str]:
    """The service's own counters, as it sent them."""
    if is_read_by_us_alone(wire, exchange, reply):
        return
    wanted = as_mapping(as_mapping(exchange.file.get("expect")).get("usage"))
    for name, found in reported_usage(wire, reply.raw_usage)._asdict().items():
        if found != wanted.get(name):
            yield f"usage, {name}: {found!r}, not {wanted.get(name)!r}"


def _reasoning(expect: Mapping[str, Any]) -> str:
    """The model's own words before a summary of them. SDKs differ in the white space between parts."""
    thoughts = f"{expect.get('reasoning_raw') or expect.get('reasoning') or ''}{expect.get('tool_plan') or ''}"
    return "".join(thoughts.split())


def _calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {"id": call.id, "name": call.name, "arguments": call.raw if call.problem else dict(call.arguments or {})}
        for call in reply.message.calls
    ]


def _expected_calls(reply: Reply, expect: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A recording has no id where the service sent none; a call in OpenAI's oldest form stands apart."""
    found = reply.message.calls
    legacy = as_mapping(expect.get("legacy_function_call"))
    calls = as_sequence(expect.get("tool_calls")) or ([legacy] if legacy.get("name") else [])
    return [
        {
            "id": call.get("id") or (found[place].id if place < len(found) else ""),
            "name": call["name"],
            "arguments": call["arguments"],
        }
        for place, call in enumerate(calls)
    ]
