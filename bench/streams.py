"""Streamed replies of a chosen size, event by event in the shapes that the vendors send. Nothing here measures.

Each kind of event is copied from a recording: ids, empty fields and padding as they came. Where a vendor streams the
arguments of a call, an event holds a few characters of them; Gemini, Mistral and Ollama send a call whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from envelopes import converse, google, invoke, line, named, sse

#: What an event adds to a text.
WORDS = [" the", " model", " keeps,", " its", " promise", " and", ' says "no"', " to", " what", " can't\n", " be", " –"]
LINE = "a line of the report, as long as most"
#: What a call has that is sent whole: 1 KB.
ARGUMENTS = json.dumps({"path": "/tmp/report.md", "text": f"{LINE}\n" * 25, "append": True})
MODEL = "gpt-4o-2024-08-06"


@dataclass(frozen=True)
class Stream:
    """One reply as the network brings it, an event an item, and the JSON texts in it."""

    events: list[bytes]
    payloads: list[str]

    def chunks(self, size: int) -> list[bytes]:
        """The bytes in chunks of `size`; 0 is an event a chunk."""
        body = b"".join(self.events)
        return [body[at : at + size] for at in range(0, len(body), size)] if size else self.events


def stream(name: str, kind: str, size: int) -> Stream:
    """A reply of at least `size` bytes; `kind` is `text` or `calls`."""
    start, grow, end, write = FORMATS[name]
    events: list[bytes] = []
    payloads: list[str] = []
    length = 0

    def add(event: Any) -> None:
        nonlocal length
        written, *texts = write(event)
        events.append(written)
        payloads.extend(texts)
        length += len(written)

    for event in start(kind):
        add(event)
    pieces = _pieces(kind)
    while length < size:
        add(grow(kind, next(pieces), len(events)))
    for event in end(kind):
        add(event)
    return Stream(events, payloads)


def _pieces(kind: str) -> Iterator[str]:
    """Words without end, or the text of a JSON array without its last bracket."""
    if kind == "text":
        while True:
            yield from WORDS
    yield '{"lines": [""'
    entry = f", {json.dumps(LINE)}"
    while True:
        yield from (entry[at : at + 6] for at in range(0, len(entry), 6))


def _chunk(delta: Any, **more: Any) -> dict[str, Any]:
    head = {"id": "chatcmpl-DPTOw1rXwhFHGo7azuFvwEu9na8jQ", "object": "chat.completion.chunk", "created": 1774963590}
    head |= {"model": MODEL, "service_tier": "default", "system_fingerprint": "fp_07871e2ad8"}
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None, **more}
    return {**head, "choices": [choice], "usage": None, "obfuscation": "tU5UmQwE"}


def _openai_start(kind: str) -> Iterator[Any]:
    yield _chunk({"role": "assistant", "content": "" if kind == "text" else None, "refusal": None})
    if kind == "calls":
        function = {"name": "write", "arguments": ""}
        call = {"index": 0, "id": "call_w4GmzMhwvSC6r1pNGcYKipmA", "type": "function", "function": function}
        yield _chunk({"tool_calls": [call]})


def _openai_grow(kind: str, piece: str, number: int) -> Any:
    if kind == "text":
        return _chunk({"content": piece})
    return _chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})


def _openai_end(kind: str) -> Iterator[Any]:
    yield _chunk({}, finish_reason="stop" if kind == "text" else "tool_calls")
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    yield {**_chunk({}), "choices": [], "usage": usage}


def _mistral(delta: Any, finish: str | None = None) -> dict[str, Any]:
    head = {"id": "9f9d90210f194076abeee223863eaaf0", "object": "chat.completion.chunk", "created": 1764296393}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {**head, "model": "mistral-medium-latest", "choices": [choice], "p": "abcdefghijklm"}


def _mistral_grow(kind: str, piece: str, number: int) -> Any:
    if kind == "text":
        return _mistral({"content": piece})
    function = {"name": "write", "arguments": ARGUMENTS}
    return _mistral({"tool_calls": [{"id": f"c{number:08}", "function": function, "index": number}]})


def _anthropic_start(kind: str) -> Iterator[Any]:
    message = {"model": "claude-sonnet-4-5", "id": "msg_01", "type": "message", "role": "assistant", "content": []}
    message["usage"] = {"input_tokens": 10, "output_tokens": 1}
    yield {"type": "message_start", "message": message}
    block = {"type": "text", "text": ""}
    if kind == "calls":
        block = {"type": "tool_use", "id": "toolu_01Xd8YZU6yAcvd5JbLCTRfFi", "name": "write", "input": {}}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "ping"}


def _anthropic_grow(kind: str, piece: str, number: int) -> Any:
    delta = {"type": "text_delta", "text": piece}
    if kind == "calls":
        delta = {"type": "input_json_delta", "partial_json": piece}
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def _anthropic_end(kind: str) -> Iterator[Any]:
    yield {"type": "content_block_stop", "index": 0}
    ending = {"stop_reason": "end_turn" if kind == "text" else "tool_use", "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


def _gemini(part: Any, **more: Any) -> Any:
    usage = {"promptTokenCount": 13, "candidatesTokenCount": 49, "totalTokenCount": 85}
    usage |= {"promptTokensDetails": [{"modality": "TEXT", "tokenCount": 13}], "thoughtsTokenCount": 23}
    candidate = {"content": {"parts": [part], "role": "model"}, **more, "index": 0}
    about = {"modelVersion": "gemini-2.5-flash", "responseId": "vbVcaeCuFejSz7IPqbnIkAo"}
    return {"candidates": [candidate], "usageMetadata": usage, **about}


def _gemini_grow(kind: str, piece: str, number: int) -> Any:
    if kind == "text":
        return _gemini({"text": piece * 12})
    return _gemini({"functionCall": {"name": "write", "args": json.loads(ARGUMENTS)}})


_ITEM = "msg_0527638f7f3d42f5016a85bfb0f8a887d2ac7fb8c5aebdf4a7"


def _responses_start(kind: str) -> Iterator[Any]:
    response = {"id": "resp_1", "object": "response", "status": "in_progress", "model": MODEL, "output": []}
    yield {"type": "response.created", "response": response, "sequence_number": 0}
    item: dict[str, Any] = {"id": _ITEM, "type": "message", "status": "in_progress", "content": [], "role": "assistant"}
    if kind == "calls":
        item = {"id": _ITEM, "type": "function_call", "status": "in_progress", "arguments": ""}
        item |= {"call_id": "call_w4GmzMhwvSC6r1pNGcYKipmA", "name": "write"}
    yield {"type": "response.output_item.added", "item": item, "output_index": 0, "sequence_number": 1}


def _responses_grow(kind: str, piece: str, number: int) -> Any:
    tail = {"obfuscation": "K69u7gcjXQhlE", "output_index": 0, "sequence_number": number}
    if kind == "text":
        head = {"type": "response.output_text.delta", "content_index": 0, "delta": piece, "item_id": _ITEM}
        return {**head, "logprobs": [], **tail}
    return {"type": "response.function_call_arguments.delta", "delta": piece, "item_id": _ITEM, **tail}


def _responses_end(kind: str) -> Iterator[Any]:
    item: dict[str, Any] = {"id": _ITEM, "type": "message", "status": "completed", "role": "assistant"}
    item["content"] = [{"type": "output_text", "text": "the end", "annotations": []}]
    if kind == "calls":
        item = {"id": _ITEM, "type": "function_call", "status": "completed", "arguments": ARGUMENTS}
        item |= {"call_id": "call_w4GmzMhwvSC6r1pNGcYKipmA", "name": "write"}
    response = {"id": "resp_1", "object": "response", "status": "completed", "model": MODEL, "output": [item]}
    response["usage"] = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    yield {"type": "response.completed", "response": response, "sequence_number": 9999}


def _cohere_start(kind: str) -> Iterator[Any]:
    yield {"id": "29f14a5a", "type": "message-start", "delta": {"message": {"role": "assistant", "content": []}}}
    if kind == "calls":
        call = {"id": "write_1y5xnhgb", "type": "function", "function": {"name": "write", "arguments": ""}}
        yield {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": call}}}
    else:
        content = {"type": "text", "text": ""}
        yield {"type": "content-start", "index": 0, "delta": {"message": {"content": content}}}


def _cohere_grow(kind: str, piece: str, number: int) -> Any:
    if kind == "text":
        return {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": piece}}}}
    call = {"function": {"arguments": piece}}
    return {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": call}}}


def _cohere_end(kind: str) -> Iterator[Any]:
    yield {"type": "content-end" if kind == "text" else "tool-call-end", "index": 0}
    finish = "COMPLETE" if kind == "text" else "TOOL_CALL"
    usage = {"tokens": {"input_tokens": 10, "output_tokens": 5}}
    yield {"type": "message-end", "delta": {"finish_reason": finish, "usage": usage}}


def _ollama(message: Any, **more: Any) -> Any:
    said = {"role": "assistant", "content": "", **message}
    return {"model": "llama3", "created_at": "2024-05-24T20:26:47.071067Z", "message": said, "done": False, **more}


def _ollama_grow(kind: str, piece: str, number: int) -> Any:
    if kind == "text":
        return _ollama({"content": piece})
    return _ollama({"tool_calls": [{"function": {"name": "write", "arguments": json.loads(ARGUMENTS)}}]})


def _converse_start(kind: str) -> Iterator[Any]:
    yield "messageStart", {"role": "assistant"}
    if kind == "calls":
        use = {"toolUseId": "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q", "name": "write"}
        yield "contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": use}}


def _converse_grow(kind: str, piece: str, number: int) -> Any:
    delta = {"text": piece} if kind == "text" else {"toolUse": {"input": piece}}
    return "contentBlockDelta", {"contentBlockIndex": 0, "delta": delta}


def _converse_end(kind: str) -> Iterator[Any]:
    yield "contentBlockStop", {"contentBlockIndex": 0}
    yield "messageStop", {"stopReason": "end_turn" if kind == "text" else "tool_use"}
    usage = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}
    yield "metadata", {"usage": usage, "metrics": {"latencyMs": 1}}


#: For each format how a reply begins, grows and ends, and how an event is written.
FORMATS: dict[str, tuple[Any, Any, Any, Any]] = {
    "openai_compat": (_openai_start, _openai_grow, _openai_end, sse),
    "anthropic": (_anthropic_start, _anthropic_grow, _anthropic_end, named),
    "gemini": (lambda _: (), _gemini_grow, lambda _: [_gemini({"text": "."}, finishReason="STOP")], google),
    "openai_responses": (_responses_start, _responses_grow, _responses_end, named),
    "cohere": (_cohere_start, _cohere_grow, _cohere_end, named),
    "mistral": (
        lambda _: [_mistral({"role": "assistant", "content": ""})],
        _mistral_grow,
        lambda kind: [_mistral({"content": ""}, "stop" if kind == "text" else "tool_calls")],
        sse,
    ),
    "ollama": (lambda _: (), _ollama_grow, lambda _: [_ollama({}, done=True, done_reason="stop")], line),
    "bedrock_converse": (_converse_start, _converse_grow, _converse_end, converse),
    "anthropic_bedrock_invoke": (_anthropic_start, _anthropic_grow, _anthropic_end, invoke),
}
