"""Gathers the events of one streamed Converse reply into the form of a whole one."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from officellm import (
    CallDelta,
    Delta,
    FaultError,
    ReasoningDelta,
    Reply,
    StreamEvent,
    TextDelta,
    as_mapping,
    as_text,
    classify_payload,
    cut_short,
    decode_object,
    malformed,
    parse_arguments,
)
from officellm_provider_bedrock.endpoint import EXCEPTION
from officellm_provider_bedrock.reply import is_call, reply_of


class _Block:
    """One content block as it grows. Blocks of text and of reasoning begin with their first delta."""

    def __init__(self, start: Mapping[str, Any]) -> None:
        self.start = start
        self.call = -1
        #: The pieces of each of the block's texts.
        self.pieces: defaultdict[str, list[str]] = defaultdict(list)
        self.citations: list[Any] = []
        self.results: list[Any] = []

    def whole(self) -> dict[str, Any]:
        """The block as a reply that is not streamed has it."""
        joined = {field: "".join(pieces) for field, pieces in self.pieces.items()}
        if "toolUse" in self.start:
            raw = joined.get("input", "")
            # The service's own calls go back as they came, in the form of a whole reply: with an object.
            given = raw if is_call(self.start) else parse_arguments(raw)[0] or {}
            return {"toolUse": {**as_mapping(self.start["toolUse"]), "input": given}}
        if "toolResult" in self.start:
            return {"toolResult": {**as_mapping(self.start["toolResult"]), "content": self.results}}
        if "redacted" in joined:
            return {"reasoningContent": {"redactedContent": _joined_base64(self.pieces["redacted"])}}
        if "reasoning" in joined or "signature" in joined:
            signature = {"signature": joined["signature"]} if joined.get("signature") else {}
            return {"reasoningContent": {"reasoningText": {"text": joined.get("reasoning", ""), **signature}}}
        if self.citations:
            said = {"content": [{"text": joined["text"]}]} if joined.get("text") else {}
            return {"citationsContent": {**said, "citations": self.citations}}
        return {"text": joined["text"]} if "text" in joined else dict(self.start)


class ConverseStream:
    """`StreamParser` for `converse-stream`."""

    def __init__(self, model: str, tool_name: Callable[[str], str]) -> None:
        self._model = model
        self._tool_name = tool_name
        self._blocks: dict[int, _Block] = {}
        self._calls = 0
        self._stop: Mapping[str, Any] | None = None
        self._usage: object = None

    def feed(self, event: StreamEvent) -> list[Delta]:
        """What this event adds for show. Raises `FaultError` for an error inside the stream."""
        name, text = event
        data = decode_object(text)
        if name == "contentBlockDelta":
            return self._grow(data)
        if name == EXCEPTION:
            raise FaultError(classify_payload(data))
        if name == "contentBlockStart":
            return self._start(_index(data), as_mapping(data.get("start")))
        if name == "messageStop":
            self._stop = data
        elif name == "metadata":
            self._usage = data.get("usage")
        return []

    def finish(self) -> Reply:
        """The whole reply. Raises `FaultError` where the stream ended before `messageStop`.

        Only counters come after that event: a reply whose stream ends between the two is whole, its usage unknown.
        """
        if self._stop is None:
            raise cut_short()
        content = [self._blocks[index].whole() for index in sorted(self._blocks)]
        reply = {
            "output": {"message": {"content": content}},
            "stopReason": self._stop.get("stopReason"),
            "usage": self._usage,
        }
        return reply_of(reply, self._model, self._tool_name)

    def _start(self, index: int, start: Mapping[str, Any]) -> list[Delta]:
        block = self._blocks[index] = _Block(start)
        if not is_call(start):
            return []
        block.call = self._calls
        self._calls += 1
        use = start["toolUse"]
        return [CallDelta(block.call, as_text(use.get("toolUseId")), self._tool_name(as_text(use.get("name"))), "")]

    def _grow(self, data: Mapping[str, Any]) -> list[Delta]:
        index, delta = _index(data), as_mapping(data.get("delta"))
        block = self._blocks.get(index)
        if block is None:
            block = self._blocks[index] = _Block({})
        if "text" in delta:
            piece = as_text(delta["text"])
            block.pieces["text"].append(piece)
            return [TextDelta(piece)] if piece else []
        if "toolUse" in delta:
            if "toolUse" not in block.start:
                raise malformed("arguments of a call that never began")
            use = delta["toolUse"]
            piece = as_text(use.get("input")) if isinstance(use, dict) else ""
            block.pieces["input"].append(piece)
            return [CallDelta(block.call, "", "", piece)] if piece and block.call >= 0 else []
        if "reasoningContent" in delta:
            return _grow_reasoning(block, as_mapping(delta["reasoningContent"]))
        if "citation" in delta:
            block.citations.append(delta["citation"])
        elif isinstance(delta.get("toolResult"), list):
            block.results.extend(delta["toolResult"])
        return []


def _grow_reasoning(block: _Block, delta: Mapping[str, Any]) -> list[Delta]:
    for field, key in (("signature", "signature"), ("redacted", "redactedContent")):
        if isinstance(delta.get(key), str):
            block.pieces[field].append(delta[key])
    piece = as_text(delta.get("text"))
    if "text" in delta:
        block.pieces["reasoning"].append(piece)
    return [ReasoningDelta(piece)] if piece else []


def _joined_base64(pieces: Sequence[str]) -> str:
    """One piece as it came. Several are encoded apart, so they are joined as the bytes that they stand for."""
    if len(pieces) == 1:
        return pieces[0]
    try:
        return b64encode(b"".join(b64decode(piece, validate=True) for piece in pieces)).decode()
    except ValueError:
        return "".join(pieces)


def _index(data: Mapping[str, Any]) -> int:
    value = data.get("contentBlockIndex")
    return value if isinstance(value, int) else 0
