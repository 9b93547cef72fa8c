"""How the fake LLM server speaks Anthropic messages. What it refuses stands in `anthropic_rules.py`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from officellm.codec import dumps
from officellm.messages import Usage
from officellm.testing.replies import ScriptedCall, ScriptedReply
from officellm.testing.wires.anthropic_rules import complain
from officellm.testing.wires.speaker import (
    Answer,
    Heard,
    Said,
    Trouble,
    listed,
    mapped,
    pieces_of,
    said_text,
    signature_of,
    text_of,
)

_JSON = "application/json"
_SSE = "text/event-stream; charset=utf-8"
_STOP = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "refused": "refusal",
    "pause": "pause_turn",
}
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}

Event = tuple[str, dict[str, Any]]


class AnthropicSpeaker:
    """`POST .../messages`, streamed and not."""

    name = "anthropic"

    def listens_to(self, path: str) -> bool:
        """Any path that ends in `/messages`."""
        return path.endswith("/messages")

    def hear(self, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Mapping[str, Any]) -> Heard:
        """The request in neutral terms."""
        return Heard(
            wire=self.name,
            model=text_of(body.get("model", "")),
            stream=body.get("stream") is True,
            system=said_text(body.get("system")),
            said=tuple(_said([mapped(one) for one in listed(body.get("messages"))])),
            tools=tuple(text_of(mapped(one).get("name", "")) for one in listed(body.get("tools"))),
            body=body,
            headers=headers,
        )

    def complain(self, heard: Heard) -> Trouble | None:
        """What Anthropic would refuse."""
        return complain(heard.body, heard.headers)

    def say(self, heard: Heard, reply: ScriptedReply) -> Answer:
        """A message, or its events from `message_start` to `message_stop`."""
        if heard.stream:
            return _streamed(_events(heard, reply))
        return Answer((dumps(_message(heard, reply)),), _JSON)

    def refuse(self, trouble: Trouble) -> Answer:
        """`{"type": "error", "error": {type, message}, "request_id"}`."""
        status = 402 if trouble.code == "quota" else trouble.status
        headers = {"retry-after": f"{trouble.retry_after:g}"} if trouble.retry_after else {}
        return Answer((dumps(_error(status, _worded(trouble))),), _JSON, status, headers)

    def refuse_in_200(self, heard: Heard, trouble: Trouble) -> Answer:
        """The same object as a body, or as an `error` event after `message_start`."""
        inside = _error(trouble.status, trouble.message)
        if not heard.stream:
            return Answer((dumps(inside),), _JSON)
        start = {"type": "message_start", "message": {**_head(heard), "content": [], "usage": _usage(Usage())}}
        return _streamed([("message_start", start), ("error", inside)])

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
        """The `x-api-key` header, or a bearer token."""
        return headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ") or None

    def list_models(self, path: str, headers: Mapping[str, str], models: Sequence[str]) -> Answer | None:
        """`GET /v1/models` with Anthropic's own headers."""
        if path != "/v1/models" or not ("anthropic-version" in headers or "x-api-key" in headers):
            return None
        data = [
            {"type": "model", "id": one, "display_name": one, "created_at": "2026-01-01T00:00:00Z"} for one in models
        ]
        ends = {"first_id": models[0] if models else None, "last_id": models[-1] if models else None}
        return Answer((dumps({"data": data, "has_more": False, **ends}),), _JSON)


def _said(messages: Sequence[Mapping[str, Any]]) -> Iterator[Said]:
    for one in messages:
        content = one.get("content")
        blocks = [mapped(block) for block in listed(content)]
        if one.get("role") == "assistant":
            calls = [block for block in blocks if block.get("type") == "tool_use"]
            text = said_text([block for block in blocks if block.get("type") == "text"] if blocks else content)
            yield Said("assistant", text + (text_of(calls) if calls else ""))
            continue
        for block in blocks:
            if block.get("type") == "tool_result":
                yield Said("tool", said_text(block.get("content")))
        text = said_text([block for block in blocks if block.get("type") == "text"] if blocks else content)
        if text:
            yield Said("user", text)


def _worded(trouble: Trouble) -> str:
    # Anthropic has no code for a prompt that is too long: clients go by the words.
    return (
        "prompt is too long: 210000 tokens > 200000 maximum" if trouble.code == "context_overflow" else trouble.message
    )


def _error(status: int, message: str) -> dict[str, Any]:
    kind = _ERRORS.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_officellm"}


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input - usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
        "service_tier": "standard",
    }


def _head(heard: Heard) -> dict[str, Any]:
    return {
        "model": heard.model,
        "id": f"msg_{heard.mark()}",
        "type": "message",
        "role": "assistant",
        "stop_reason": None,
        "stop_sequence": None,
    }


def _id(heard: Heard, one: ScriptedCall, index: int) -> str:
    return f"toolu_{heard.mark(20)}{index:02d}" if one.id is None else one.id


def input_of(one: ScriptedCall) -> Any:
    """The arguments where a whole message must have an object: as much of a broken text as there is."""
    if one.arguments is None or isinstance(one.arguments, Mapping):
        return one.arguments
    try:
        value, _ = json.JSONDecoder().raw_decode(one.arguments)
    except ValueError:
        return {}
    return value


def _message(heard: Heard, reply: ScriptedReply) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if reply.reasoning:
        content.append({"type": "thinking", "thinking": reply.reasoning, "signature": signature_of(reply.reasoning)})
    if reply.text:
        content.append({"type": "text", "text": reply.text})
    content += [
        {"type": "tool_use", "id": _id(heard, one, index), "name": one.name, "input": input_of(one)}
        for index, one in enumerate(reply.calls)
    ]
    made = {**_head(heard), "content": content, "stop_reason": _STOP.get(reply.ending, reply.ending)}
    if reply.usage:
        made["usage"] = _usage(reply.usage)
    return made


def _events(heard: Heard, reply: ScriptedReply) -> Iterator[Event]:
    message = {**_head(heard), "content": []}
    if reply.usage:
        message["usage"] = {**_usage(reply.usage), "output_tokens": 1}
    yield "message_start", {"type": "message_start", "message": message}
    for index, (block, deltas) in enumerate(_blocks(heard, reply)):
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": block}
        if not index:
            yield "ping", {"type": "ping"}
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    ending: dict[str, Any] = {
        "type": "message_delta",
        "delta": {"stop_reason": _STOP.get(reply.ending, reply.ending), "stop_sequence": None},
    }
    if reply.usage:
        # Cumulative: the whole count, not what was added since `message_start`.
        counts = _usage(reply.usage)
        del counts["service_tier"]
        ending["usage"] = counts
    yield "message_delta", ending
    yield "message_stop", {"type": "message_stop"}


def _blocks(heard: Heard, reply: ScriptedReply) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    if reply.reasoning:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces_of(reply.reasoning)]
        deltas.append({"type": "signature_delta", "signature": signature_of(reply.reasoning)})
        yield {"type": "thinking", "thinking": "", "signature": ""}, deltas
    if reply.text:
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces_of(reply.text)]
    for index, one in enumerate(reply.calls):
        block = {"type": "tool_use", "id": _id(heard, one, index), "name": one.name}
        if one.arguments is None:
            yield block, []
            continue
        # The first piece is empty, and there is no other where the arguments are `{}`.
        pieces = ["", *(pieces_of(one.raw) if one.raw != "{}" else [])]
        yield {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


def _streamed(events: Iterable[Event]) -> Answer:
    every = list(events)
    pieces = [b"event: " + name.encode() + b"\ndata: " + dumps(data) + b"\n\n" for name, data in every]
    opening = sum(name not in ("message_delta", "message_stop") for name, _ in every)
    return Answer(tuple(pieces), _SSE, streamed=True, unfinished=opening)
