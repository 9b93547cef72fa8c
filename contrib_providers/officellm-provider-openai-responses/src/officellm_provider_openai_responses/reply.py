"""Reads a response, whole or from the last event of a stream, into a neutral reply: one reading for both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

#: The format's name: half of what says whether vendor fields may go back.
NAME = "openai_responses"

_UNFINISHED = ("queued", "in_progress")
_INCOMPLETE: dict[str, Stop] = {"max_output_tokens": "length", "max_tokens": "length", "content_filter": "refused"}
#: What the codes of a failed response begin with where the request is to blame. They come without an HTTP status.
_FINAL_CODES = ("invalid_", "image_", "unsupported_", "empty_", "failed_to_download_")


def refuse_errors(payload: object) -> Mapping[str, Any]:
    """The body or event, which is an object without an error in it. Raises `FaultError` for any other."""
    if isinstance(payload, list):
        raise FaultError(classify_payload(payload))
    if not isinstance(payload, dict):
        raise malformed("the reply is not a JSON object")
    if payload.get("error") or payload.get("type") == "error":
        raise _failure(payload)
    return payload


def reply_of(payload: object, model: str, names: Mapping[str, str]) -> Reply:
    """The reply in a response. `names` leads from tool aliases back. Raises `FaultError` where there is none."""
    body = refuse_errors(payload)
    status = body.get("status")
    if status in ("failed", "cancelled"):
        raise _failure({"error": {"message": f"the response was {status}"}})
    if not isinstance(body.get("output"), list) and status not in _UNFINISHED:
        if body.get("message") or body.get("detail"):
            raise FaultError(classify_payload(body))
        raise malformed("the response has no output")
    items = [item for item in as_sequence(body.get("output")) if isinstance(item, dict)]
    calls = tuple(_call(item, names) for item in items if item.get("type") == "function_call")
    refusal = "".join(as_text(part.get("refusal")) for part in _parts(items, "message"))
    raw_usage = body["usage"] if isinstance(body.get("usage"), dict) else None
    return Reply(
        Assistant(message_text(items), calls, _reasoning(items), items or None, (NAME, model)),
        _stop(body, calls, refusal),
        usage_of(raw_usage),
        raw_stop=as_text(status) or None,
        raw_usage=raw_usage,
        model=as_text(body.get("model")) or None,
        id=as_text(body.get("id")) or None,
        refusal=refusal or None,
    )


def message_text(items: Sequence[Mapping[str, Any]]) -> str:
    """The text of all messages among these items."""
    return "".join(as_text(part.get("text")) for part in _parts(items, "message"))


def usage_of(raw: Mapping[str, Any] | None) -> Usage:
    """Normalised counters; what a server leaves out is unknown, not nothing."""
    raw = raw or {}
    sent, made = whole_number(raw.get("input_tokens")), whole_number(raw.get("output_tokens"))
    cached = whole_number(as_mapping(raw.get("input_tokens_details")).get("cached_tokens"))
    reasoning = whole_number(as_mapping(raw.get("output_tokens_details")).get("reasoning_tokens"))
    return Usage(
        input=sent or 0,
        output=made or 0,
        cached=min(cached or 0, sent or 0),
        reasoning=min(reasoning or 0, made or 0),
        requests=1,
        complete=sent is not None and made is not None,
    )


def _failure(payload: Mapping[str, Any]) -> FaultError:
    """An error that came without a status of its own."""
    error = payload.get("error")
    holder = error if isinstance(error, dict) else payload
    if as_text(holder.get("code")).startswith(_FINAL_CODES):
        holder = {"status_code": 400, **holder}
    return FaultError(classify_payload({**payload, "error": holder} if holder is not payload else payload))


def _parts(items: Sequence[Mapping[str, Any]], kind: str, where: str = "content") -> list[Mapping[str, Any]]:
    """Parts of all items of this kind. A gateway may send plain text instead of parts."""
    found: list[Mapping[str, Any]] = []
    for item in items:
        if item.get("type") == kind:
            parts = item.get(where)
            found += [{"text": parts}] if isinstance(parts, str) else map(as_mapping, as_sequence(parts))
    return found


def _reasoning(items: Sequence[Mapping[str, Any]]) -> str:
    """The model's own words where the server shows them, else the summary."""
    for where in ("content", "summary"):
        texts = [as_text(part.get("text")) for part in _parts(items, "reasoning", where)]
        if any(texts):
            return "\n\n".join(filter(None, texts))
    return ""


def _call(item: Mapping[str, Any], names: Mapping[str, str]) -> ToolCall:
    call_id, name = item.get("call_id") or item.get("id"), as_text(item.get("name"))
    raw = argument_text(item.get("arguments"))
    if item.get("status") == "incomplete" and not raw.strip():
        # Cut before the first argument: to run it without any would be a guess.
        return ToolCall(str(call_id or ""), names.get(name, name), None, raw, "the arguments were cut off")
    return ToolCall.parse(str(call_id or ""), names.get(name, name), raw)


def _stop(body: Mapping[str, Any], calls: tuple[ToolCall, ...], refusal: str) -> Stop:
    status = body.get("status")
    if refusal:
        return "refused"
    if status == "incomplete":
        return _INCOMPLETE.get(as_text(as_mapping(body.get("incomplete_details")).get("reason")), "other")
    if status in _UNFINISHED:
        return "pause"
    if calls:
        return "tool_calls"
    return "stop" if status in ("completed", "complete", None) else "other"
