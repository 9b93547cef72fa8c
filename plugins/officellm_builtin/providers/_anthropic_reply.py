"""Folds Anthropic's content blocks, whole or streamed, into one neutral reply. Nothing here knows about requests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from officellm import (
    Assistant,
    CallDelta,
    Delta,
    FaultError,
    ReasoningDelta,
    Reply,
    Stop,
    StreamEvent,
    TextDelta,
    ToolCall,
    Usage,
    argument_text,
    as_mapping,
    as_text,
    classify_payload,
    cut_short,
    decode_object,
    malformed,
    parse_arguments,
    whole_number,
)

NAME = "anthropic"

_STOPS: dict[str, Stop] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
    "pause_turn": "pause",
    "compaction": "pause",
}
#: Which field of a block each delta adds to. Deltas of other types are not ours to know.
_GROWS = {"text_delta": "text", "thinking_delta": "thinking", "compaction_delta": "content"}
#: Blocks in which no other text than their own makes sense.
_KNOWN = ("text", "thinking", "redacted_thinking", "tool_use")
#: Blocks that say nothing beyond what the neutral message holds anyway.
_PLAIN = ("text", "tool_use")


class AnthropicStream:
    """Folds the events of one streamed message."""

    def __init__(self, model: str, tool_name: Callable[[str], str]) -> None:
        self._model = model
        self._tool_name = tool_name
        self._message: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        #: The pieces of each block's texts, `input` among them: by the block's index and the field.
        self._pieces: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
        self._calls: dict[int, int] = {}
        self._ended = False

    def feed(self, event: StreamEvent) -> list[Delta]:
        """What this event adds for show. Raises `FaultError` for an `error` event."""
        name, text = event
        if text.strip() == "[DONE]":  # some gateways add it after message_stop
            return []
        data = decode_object(text)
        kind = data.get("type") or name
        if kind == "error" or data.get("error"):
            raise FaultError(classify_payload(data))
        if kind == "content_block_delta":
            return self._grow(_index(data), as_mapping(data.get("delta")))
        if kind == "content_block_start":
            return self._start(_index(data), as_mapping(data.get("content_block")))
        if kind == "message_start":
            self._merge(as_mapping(data.get("message")))
        elif kind == "message_delta":
            self._merge({**as_mapping(data.get("delta")), "usage": data.get("usage")})
        elif kind == "message_stop":
            self._ended = True
        return []

    def finish(self) -> Reply:
        """The whole reply. Raises `FaultError` where the stream ended before `message_stop`."""
        if not self._ended:
            raise cut_short()
        for (index, field), pieces in self._pieces.items():
            text = "".join(pieces)
            if field != "input":
                self._blocks[index][field] = as_text(self._blocks[index].get(field)) + text
            elif text.strip():
                self._blocks[index]["input"] = text
        self._pieces.clear()
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        return reply_of({**self._message, "content": blocks, "usage": self._usage}, self._model, self._tool_name)

    def _merge(self, fields: Mapping[str, Any]) -> None:
        """Counters are cumulative, so the later one counts; a field that a later event leaves out stays."""
        self._usage.update(_present(as_mapping(fields.get("usage"))))
        self._message.update(_present(fields))

    def _start(self, index: int, block: Mapping[str, Any]) -> list[Delta]:
        self._blocks[index] = dict(block)
        kind = block.get("type")
        if kind == "text" and block.get("text"):
            return [TextDelta(as_text(block.get("text")))]
        if kind == "thinking" and block.get("thinking"):
            return [ReasoningDelta(as_text(block.get("thinking")))]
        if kind == "tool_use":
            position = self._calls[index] = len(self._calls)
            return [CallDelta(position, as_text(block.get("id")), self._tool_name(as_text(block.get("name"))), "")]
        return []

    def _grow(self, index: int, delta: Mapping[str, Any]) -> list[Delta]:
        block = self._blocks.get(index)
        if block is None:
            raise malformed(f"a delta for the content block {index}, which never began")
        kind = as_text(delta.get("type"))
        if kind in _GROWS:
            field = _GROWS[kind]
            # A block that did not say what it is becomes what its text is.
            said = block["type"] = as_text(block.get("type")) or field
            if said in _KNOWN and said != field:
                raise malformed(f"a {kind} for the content block {index}, which is {said}")
            piece = as_text(delta.get(field))
            self._pieces[index, field].append(piece)
            if not piece or said != field:
                return []
            return [TextDelta(piece) if kind == "text_delta" else ReasoningDelta(piece)]
        if kind == "input_json_delta":
            return self._grow_arguments(index, as_text(delta.get("partial_json")))
        if kind == "signature_delta":
            signature = as_text(delta.get("signature"))
            if signature != block.get("signature"):  # gateways repeat what content_block_start already held
                block["signature"] = as_text(block.get("signature")) + signature
        elif kind == "citations_delta":
            if not isinstance(block.get("citations"), list):
                block["citations"] = []
            block["citations"].append(delta.get("citation"))
        return []

    def _grow_arguments(self, index: int, piece: str) -> list[Delta]:
        self._pieces[index, "input"].append(piece)
        position = self._calls.get(index)
        return [CallDelta(position, "", "", piece)] if position is not None and piece else []


def reply_of(message: Mapping[str, Any], model: str, tool_name: Callable[[str], str]) -> Reply:
    """The neutral reply for a message of the API; `tool_name` turns a name on the wire into the tool's own."""
    blocks = [_settled(block) for block in message.get("content") or () if isinstance(block, Mapping)]
    calls = tuple(
        _call(block, tool_name(as_text(block.get("name")))) for block in blocks if block.get("type") == "tool_use"
    )
    raw_stop = message.get("stop_reason")
    stop = _stop(raw_stop, bool(calls))
    raw_usage = as_mapping(message.get("usage"))
    return Reply(
        Assistant(
            text=_joined(blocks, "text"),
            calls=calls,
            reasoning=_joined(blocks, "thinking"),
            native=_native(blocks),
            origin=(NAME, model),
        ),
        stop,
        _usage(raw_usage),
        raw_stop=raw_stop if isinstance(raw_stop, str) else None,
        raw_usage=raw_usage or None,
        model=as_text(message.get("model")) or None,
        id=as_text(message.get("id")) or None,
        refusal=_refusal(message) if stop == "refused" else None,
    )


def _settled(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """The block with `input` decoded where that is possible, so that a streamed one equals a whole one."""
    if block.get("type") == "text":
        return _present(block)  # older models send `citations: null`, in whole replies only
    raw = block.get("input")
    if not isinstance(raw, str):
        return block
    arguments, problem = parse_arguments(raw)
    if problem is None:
        return {**block, "input": arguments}
    return block if block.get("type") == "tool_use" else {**block, "input": {}}


def _call(block: Mapping[str, Any], name: str) -> ToolCall:
    raw = block.get("input")
    if raw is not None and not isinstance(raw, (str, Mapping)):
        raw = argument_text(raw)
    return ToolCall.parse(as_text(block.get("id")), name, {} if raw is None else raw)


def _native(blocks: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """The blocks to send back, in order, without the fields that `calls` hold; None where all of them are plain."""
    if all(block.get("type") in _PLAIN and not _called_by_code(block) for block in blocks):
        return None
    own = {"id", "name", "input"}
    return [
        {key: value for key, value in block.items() if block.get("type") != "tool_use" or key not in own}
        for block in blocks
        if block.get("type") != "text" or as_text(block.get("text")).strip()
    ]


def _called_by_code(block: Mapping[str, Any]) -> bool:
    caller = as_mapping(block.get("caller"))
    return bool(caller) and caller.get("type") != "direct"


def _stop(raw: object, has_calls: bool) -> Stop:
    if raw is None:
        return "tool_calls" if has_calls else "stop"
    stop = _STOPS.get(raw, "other") if isinstance(raw, str) else "other"
    return "tool_calls" if has_calls and stop in ("stop", "other") else stop


def _usage(raw: Mapping[str, Any]) -> Usage:
    """`input_tokens` is only what was not cached, so what was read from and written to the cache is added."""
    fresh, output = whole_number(raw.get("input_tokens")), whole_number(raw.get("output_tokens"))
    cached = whole_number(raw.get("cache_read_input_tokens")) or 0
    thoughts = whole_number(as_mapping(raw.get("output_tokens_details")).get("thinking_tokens")) or 0
    return Usage(
        input=(fresh or 0) + cached + (whole_number(raw.get("cache_creation_input_tokens")) or 0),
        output=output or 0,
        cached=cached,
        reasoning=min(thoughts, output or 0),
        requests=1,
        complete=fresh is not None and output is not None,
    )


def _refusal(message: Mapping[str, Any]) -> str:
    details = as_mapping(message.get("stop_details"))
    category = as_text(details.get("category"))
    unexplained = f"refused: {category}" if category else "the model refused to answer"
    return as_text(details.get("explanation")) or unexplained


def _joined(blocks: Iterable[Mapping[str, Any]], kind: str) -> str:
    return "".join(as_text(block.get(kind)) for block in blocks if block.get("type") == kind)


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def _index(data: Mapping[str, Any]) -> int:
    value = data.get("index")
    return value if isinstance(value, int) else 0
