"""Folds Converse's content blocks, whole or streamed, into one neutral reply. Nothing here knows about requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from officellm import (
    Assistant,
    Reply,
    Stop,
    ToolCall,
    Usage,
    as_mapping,
    as_sequence,
    as_text,
    parse_arguments,
    whole_number,
)

NAME = "bedrock_converse"

_STOPS: dict[str, Stop] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "refused",
    "content_filtered": "refused",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
}
_REFUSALS = {
    "guardrail_intervened": "a guardrail intervened",
    "content_filtered": "the answer was held back by a content filter",
}


def reply_of(reply: Mapping[str, Any], model: str, tool_name: Callable[[str], str]) -> Reply:
    """The neutral reply for `{"output", "stopReason", "usage"}`; `tool_name` gives the tool's own name."""
    blocks = [block for block in _blocks(reply) if isinstance(block, Mapping)]
    calls = tuple(_call(block["toolUse"], tool_name) for block in blocks if is_call(block))
    raw_stop = reply.get("stopReason")
    stop = _stop(raw_stop, bool(calls))
    raw_usage = as_mapping(reply.get("usage"))
    return Reply(
        Assistant(
            text="".join(_text_of(block) for block in blocks),
            calls=calls,
            reasoning="".join(as_text(_reasoning(block).get("text")) for block in blocks),
            native=_native(blocks),
            origin=(NAME, model),
        ),
        stop,
        _usage(raw_usage),
        raw_stop=raw_stop if isinstance(raw_stop, str) else None,
        raw_usage=raw_usage or None,
        refusal=_REFUSALS.get(str(raw_stop)) if stop == "refused" else None,
    )


def is_call(block: Mapping[str, Any]) -> bool:
    """Whether the block is a call for us to run; the service runs its own tools."""
    use = block.get("toolUse")
    return isinstance(use, Mapping) and use.get("type") != "server_tool_use"


def _blocks(reply: Mapping[str, Any]) -> Iterable[Any]:
    return as_sequence(as_mapping(as_mapping(reply.get("output")).get("message")).get("content"))


def _text_of(block: Mapping[str, Any]) -> str:
    pieces = map(as_mapping, as_sequence(as_mapping(block.get("citationsContent")).get("content")))
    return as_text(block.get("text")) + "".join(as_text(piece.get("text")) for piece in pieces)


def _reasoning(block: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_mapping(as_mapping(block.get("reasoningContent")).get("reasoningText"))


def _call(use: Mapping[str, Any], tool_name: Callable[[str], str]) -> ToolCall:
    raw = use.get("input")
    if isinstance(raw, str):
        # Streamed arguments are text; what can be read is taken as the object that a whole reply would hold.
        arguments, problem = parse_arguments(raw)
        raw = raw if problem is not None else arguments
    elif raw is not None and not isinstance(raw, Mapping):
        raw = str(raw)
    return ToolCall.parse(
        as_text(use.get("toolUseId")), tool_name(as_text(use.get("name"))), {} if raw is None else raw
    )


def _native(blocks: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]] | None:
    """The blocks to send back, in order, an empty `toolUse` for each of the calls; None where text and calls say all.

    Reasoning without a signature is the model's own text, which some models refuse to get back: it is left out.
    """
    kept: list[Mapping[str, Any]] = []
    opaque = False
    for block in blocks:
        if is_call(block):
            kept.append({"toolUse": {}})
        elif isinstance(block.get("text"), str):
            if block["text"].strip():
                kept.append({"text": block["text"]})
        elif "reasoningContent" not in block or _is_sealed(block):
            kept.append(block)
            opaque = True
    return kept if opaque else None


def _is_sealed(block: Mapping[str, Any]) -> bool:
    return bool(
        as_text(_reasoning(block).get("signature")) or as_mapping(block.get("reasoningContent")).get("redactedContent")
    )


def _stop(raw: object, has_calls: bool) -> Stop:
    if raw is None:
        return "tool_calls" if has_calls else "stop"
    stop = _STOPS.get(raw, "other") if isinstance(raw, str) else "other"
    return "tool_calls" if has_calls and stop in ("stop", "other") else stop


def _usage(raw: Mapping[str, Any]) -> Usage:
    """`inputTokens` is only what was not cached, so what was read from and written to the cache is added."""
    fresh, output = whole_number(raw.get("inputTokens")), whole_number(raw.get("outputTokens"))
    cached = whole_number(raw.get("cacheReadInputTokens")) or 0
    return Usage(
        input=(fresh or 0) + cached + (whole_number(raw.get("cacheWriteInputTokens")) or 0),
        output=output or 0,
        cached=cached,
        requests=1,
        complete=fresh is not None and output is not None,
    )
