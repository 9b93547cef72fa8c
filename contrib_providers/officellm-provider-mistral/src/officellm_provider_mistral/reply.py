"""Corrects what was read as a chat completion where Mistral means something else. No requests here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from officellm import Reply, Usage, dump_text, loads


def as_ours(reply: Reply) -> Reply:
    """The reply with Mistral's stop reasons and its count of cached tokens."""
    stop = "length" if reply.raw_stop == "model_length" else reply.stop
    return replace(reply, stop=stop, usage=_usage(reply))


def _usage(reply: Reply) -> Usage:
    """Some models count cached tokens beside the others instead of in the details."""
    cached = (reply.raw_usage or {}).get("num_cached_tokens")
    if reply.usage.cached or isinstance(cached, bool) or not isinstance(cached, int):
        return reply.usage
    return replace(reply.usage, cached=max(0, min(cached, reply.usage.input)))


def without_null_ids(text: str) -> str:
    """The body or chunk without the id "null", which older models gave to every call; no JSON is left as it is."""
    try:
        payload = loads(text)
        for call in _calls(payload):
            if call.get("id") == "null":
                del call["id"]
        return dump_text(payload)
    except (ValueError, RecursionError):
        return text


def _calls(payload: Any) -> Iterator[dict[str, Any]]:
    for choice in _list(_get(payload, "choices")):
        for holder in (_get(choice, "delta"), _get(choice, "message")):
            yield from (call for call in _list(_get(holder, "tool_calls")) if isinstance(call, dict))


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
