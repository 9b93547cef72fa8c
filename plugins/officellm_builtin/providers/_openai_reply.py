"""Reads a chat completion, whole or folded from a stream, into a neutral reply: one reading for both."""

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
    argument_text,
    as_mapping,
    as_sequence,
    as_text,
    classify_payload,
    malformed,
    whole_number,
)
from officellm_builtin.providers._think_tags import split_thoughts

_STOPS: dict[str, Stop] = {
    "": "stop",
    "stop": "stop",
    "eos": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "refused",
    "error": "error",
    "insufficient_system_resource": "error",
}


def refuse_errors(payload: object) -> Mapping[str, Any]:
    """The body or chunk, which is an object without an error in it. Raises `FaultError` for any other."""
    if isinstance(payload, list):
        raise FaultError(classify_payload(payload))
    if not isinstance(payload, dict):
        raise malformed("the reply is not a JSON object")
    if payload.get("error") or payload.get("object") == "error":
        raise FaultError(classify_payload(payload))
    if "choices" not in payload and (payload.get("message") or payload.get("detail")):
        raise FaultError(classify_payload(payload))
    for choice in as_sequence(payload.get("choices")):
        if isinstance(choice, dict) and choice.get("error"):
            raise FaultError(classify_payload(choice))
    return payload


def reply_of(
    body: Mapping[str, Any], origin: tuple[str, str], names: Mapping[str, str], *, think_tags: bool = False
) -> Reply:
    """The reply in a chat completion. `names` leads from tool aliases back. Raises `FaultError` where there is none.

    With `think_tags` the reasoning that stands in the text between tags is taken out of it.
    """
    choices = as_sequence(body.get("choices"))
    if not choices or not isinstance(choices[0], dict):
        raise malformed("the reply has no choices")
    choice = choices[0]
    finish = choice.get("finish_reason")
    if not isinstance(choice.get("message"), dict) and not finish:
        raise malformed("the reply has no message")
    message = as_mapping(choice.get("message"))
    raw_usage = _first_mapping(body.get("usage"), as_mapping(body.get("x_groq")).get("usage"), choice.get("usage"))
    calls = _calls(message, names)
    text, thoughts = _content(message.get("content"))
    if think_tags:
        text, tagged = split_thoughts(text)
        thoughts = thoughts or tagged
    refusal = as_text(message.get("refusal"))
    stop = _stop(finish, calls, refusal)
    if stop == "error" and not text and not calls:
        raise FaultError(classify_payload({"error": {"message": f"the model ended with {finish!r}", "code": finish}}))
    return Reply(
        Assistant(
            text,
            calls,
            reasoning_text(message) or thoughts,
            _native(message, calls),
            origin,
        ),
        stop,
        usage_of(raw_usage),
        raw_stop=finish if isinstance(finish, str) else None,
        raw_usage=raw_usage,
        model=as_text(body.get("model")) or None,
        id=as_text(body.get("id")) or None,
        refusal=refusal or None,
    )


def reasoning_text(message: Mapping[str, Any]) -> str:
    """Reasoning in a message or delta. Vendors fill one or several fields with the same text: one is taken."""
    text = as_text(message.get("reasoning_content")) or as_text(message.get("reasoning"))
    if text:
        return text
    if not message.get("reasoning_details"):
        return ""
    details = [as_mapping(detail) for detail in as_sequence(message["reasoning_details"])]
    return "".join(as_text(detail.get("text")) or as_text(detail.get("summary")) for detail in details)


def usage_of(raw: Mapping[str, Any] | None) -> Usage:
    """Normalised counters. Tokens that only the total tells of are hidden reasoning, billed as output."""
    raw = raw or {}
    sent, made, total = (whole_number(raw.get(f"{kind}_tokens")) for kind in ("prompt", "completion", "total"))
    cached = whole_number(as_mapping(raw.get("prompt_tokens_details")).get("cached_tokens"))
    if cached is None:
        cached = whole_number(raw.get("prompt_cache_hit_tokens"))
    reasoning = whole_number(as_mapping(raw.get("completion_tokens_details")).get("reasoning_tokens")) or 0
    hidden = max(0, (total or 0) - (sent or 0) - (made or 0)) if sent is not None and made is not None else 0
    return Usage(
        input=sent or 0,
        output=(made or 0) + hidden,
        cached=min(cached or 0, sent or 0),
        reasoning=min(max(reasoning, hidden), (made or 0) + hidden),
        requests=1,
        complete=sent is not None and made is not None,
    )


def _first_mapping(*values: object) -> Mapping[str, Any] | None:
    return next((value for value in values if isinstance(value, dict)), None)


def _stop(finish: object, calls: tuple[ToolCall, ...], refusal: str) -> Stop:
    stop: Stop = "stop" if finish is None else _STOPS.get(finish, "other") if isinstance(finish, str) else "other"
    if refusal:
        return "refused"
    if calls and stop in ("stop", "other"):
        return "tool_calls"
    # Some servers say so where a call was demanded and none was made.
    return "stop" if stop == "tool_calls" and not calls else stop


def _content(content: object) -> tuple[str, str]:
    """Text and reasoning of content that is text, or a list of parts."""
    if not isinstance(content, list):
        return as_text(content), ""
    parts = [as_mapping(part) for part in content]
    thoughts = (as_text(as_mapping(piece).get("text")) for part in parts for piece in as_sequence(part.get("thinking")))
    return "".join(as_text(part.get("text")) for part in parts if part.get("type") == "text"), "".join(thoughts)


def _calls(message: Mapping[str, Any], names: Mapping[str, str]) -> tuple[ToolCall, ...]:
    entries = [as_mapping(entry) for entry in as_sequence(message.get("tool_calls"))]
    if not entries and isinstance(message.get("function_call"), dict):
        entries = [{"function": message["function_call"]}]
    found = []
    for entry in entries:
        function = as_mapping(entry.get("function"))
        call_id = entry.get("id")
        name, arguments = as_text(function.get("name")), argument_text(function.get("arguments"))
        if name or call_id or arguments.strip():
            extra = entry.get("extra_content")
            found.append(
                ToolCall.parse(
                    str(call_id) if call_id is not None else "",
                    names.get(name, name),
                    arguments,
                    {"extra_content": extra} if isinstance(extra, dict) else None,
                )
            )
    return tuple(found)


def _native(message: Mapping[str, Any], calls: tuple[ToolCall, ...]) -> dict[str, Any] | None:
    """Fields of the message that the vendor wants back."""
    native: dict[str, Any] = {}
    if as_sequence(message.get("reasoning_details")):
        native["reasoning_details"] = message["reasoning_details"]
    if isinstance(message.get("extra_content"), dict):
        native["extra_content"] = message["extra_content"]
    if isinstance(message.get("content"), list):
        native["content"] = message["content"]
    # Required back on turns with calls by models that think between tools, refused on others by older ones.
    if calls and isinstance(message.get("reasoning_content"), str):
        native["reasoning_content"] = message["reasoning_content"]
    return native or None
