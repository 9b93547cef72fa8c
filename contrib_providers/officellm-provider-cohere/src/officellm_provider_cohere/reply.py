"""Reads Cohere's replies, whole or folded from a stream into the whole form: one reading for both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from officellm import (
    Assistant,
    FaultError,
    Reply,
    Stop,
    ToolCall,
    Usage,
    as_mapping,
    as_sequence,
    as_text,
    classify_payload,
    malformed,
    whole_number,
)
from officellm_provider_cohere.messages import NAME

_STOPS: dict[str, Stop] = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "TOOL_CALL": "tool_calls",
    "ERROR_TOXIC": "refused",
    "ERROR": "error",
    "TIMEOUT": "error",
}


def reply_of(body: Mapping[str, Any], model: str, names: Mapping[str, str]) -> Reply:
    """The reply in a whole body. `names` leads from tool aliases back. Raises `FaultError` where there is none."""
    message = body.get("message")
    if not isinstance(message, dict):
        # In an error body `message` is a text.
        if message or body.get("error") or body.get("detail"):
            raise FaultError(classify_payload(body))
        raise malformed("the reply has no message")
    content = _content(message.get("content"))
    calls = tuple(_call(as_mapping(entry), names) for entry in as_sequence(message.get("tool_calls")))
    text = "".join(as_text(part.get("text")) for part in content if part.get("type") == "text")
    thoughts = "".join(as_text(part.get("thinking")) for part in content if part.get("type") == "thinking")
    plan = as_text(message.get("tool_plan"))
    finish = as_text(body.get("finish_reason"))
    if _STOPS.get(finish) == "error" and not text and not calls:
        raise FaultError(classify_payload({"message": f"the model ended with {finish!r}"}))
    usage = as_mapping(body.get("usage"))
    return Reply(
        Assistant(text, calls, thoughts + plan, _native(content, plan), (NAME, model)),
        _stop(finish, calls),
        _usage(usage),
        raw_stop=finish or None,
        raw_usage=usage or None,
        id=as_text(body.get("id")) or None,
    )


def _content(content: object) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [as_mapping(part) for part in as_sequence(content)]


def _call(entry: Mapping[str, Any], names: Mapping[str, str]) -> ToolCall:
    function = as_mapping(entry.get("function"))
    name, arguments = as_text(function.get("name")), function.get("arguments")
    raw = arguments if isinstance(arguments, (str, dict)) else None
    return ToolCall.parse(as_text(entry.get("id")), names.get(name, name), raw)


def _native(content: list[Mapping[str, Any]], plan: str) -> dict[str, Any] | None:
    """What goes back with the reply: the plan, and content of more than text."""
    native: dict[str, Any] = {"tool_plan": plan} if plan else {}
    if any(part.get("type") != "text" for part in content):
        native["content"] = content
    return native or None


def _stop(finish: str, calls: tuple[ToolCall, ...]) -> Stop:
    stop: Stop = _STOPS.get(finish, "other") if finish else "stop"
    if calls and stop in ("stop", "other"):
        return "tool_calls"
    return "stop" if stop == "tool_calls" and not calls else stop


def _usage(raw: Mapping[str, Any]) -> Usage:
    """What ran: `billed_units`, which leaves out the vendor's own prompt, counts only where `tokens` is missing."""
    tokens = as_mapping(raw.get("tokens")) or as_mapping(raw.get("billed_units"))
    sent, made = whole_number(tokens.get("input_tokens")), whole_number(tokens.get("output_tokens"))
    return Usage(
        input=sent or 0,
        output=made or 0,
        cached=min(whole_number(raw.get("cached_tokens")) or 0, sent or 0),
        reasoning=min(whole_number(tokens.get("reasoning_tokens")) or 0, made or 0),
        requests=1,
        complete=sent is not None and made is not None,
    )
