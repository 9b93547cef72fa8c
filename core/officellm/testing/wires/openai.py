"""How the fake LLM server speaks OpenAI chat completions. What it refuses stands in `openai_rules.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from officellm.codec import dumps
from officellm.messages import Usage
from officellm.testing.replies import ScriptedCall, ScriptedReply
from officellm.testing.wires.completions import CREATED, FINISH, JSON, CompletionsSpeaker, bearer, streamed
from officellm.testing.wires.openai_rules import complain
from officellm.testing.wires.speaker import Answer, Heard, Trouble, mapped, pieces_of

_TYPES = {429: ("requests", "rate_limit_exceeded"), 401: ("invalid_request_error", "invalid_api_key")}


class OpenAISpeaker(CompletionsSpeaker):
    """`POST .../chat/completions`, streamed and not."""

    name = "openai"

    def listens_to(self, path: str) -> bool:
        """Any path that ends in `/chat/completions`."""
        return path.endswith("/chat/completions")

    def complain(self, heard: Heard) -> Trouble | None:
        """What OpenAI would refuse."""
        return complain(heard.body)

    def completion(self, heard: Heard, reply: ScriptedReply) -> dict[str, Any]:
        """The reply as a whole body."""
        return _completion(heard, reply)

    def chunks(self, heard: Heard, reply: ScriptedReply) -> Iterator[dict[str, Any]]:
        """The reply as the events of a stream."""
        return _chunks(heard, reply)

    def refuse(self, trouble: Trouble) -> Answer:
        """`{"error": {message, type, param, code}}`."""
        headers = {}
        if trouble.retry_after:
            headers = {
                "retry-after": f"{trouble.retry_after:g}",
                "retry-after-ms": f"{trouble.retry_after * 1000:g}",
            }
        return Answer((dumps({"error": _error(trouble)}),), JSON, trouble.status, headers)

    def refuse_in_200(self, heard: Heard, trouble: Trouble) -> Answer:
        """The same object inside a 200, as gateways do."""
        inside = {"error": {"message": trouble.message, "code": trouble.status}}
        return streamed([inside]) if heard.stream else Answer((dumps(inside),), JSON)

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
        """The bearer token, or Azure's header."""
        return bearer(headers) or headers.get("api-key")

    def list_models(self, path: str, headers: Mapping[str, str], models: Sequence[str]) -> Answer | None:
        """`GET /v1/models` and `/models`."""
        if path not in ("/v1/models", "/models"):
            return None
        data = [{"id": one, "object": "model", "created": CREATED, "owned_by": "officellm"} for one in models]
        return Answer((dumps({"object": "list", "data": data}),), JSON)


def _error(trouble: Trouble) -> dict[str, Any]:
    usual = "server_error" if trouble.status >= 500 else "invalid_request_error"
    kind, code = _TYPES.get(trouble.status, (usual, None))
    if trouble.code == "quota":
        kind = code = "insufficient_quota"
    elif trouble.code == "context_overflow":
        code = "context_length_exceeded"
    elif trouble.code:
        code = trouble.code
    return {"message": trouble.message, "type": kind, "param": trouble.param, "code": code}


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning, "audio_tokens": 0},
    }


def _head(heard: Heard, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{heard.mark()}",
        "object": kind,
        "created": CREATED,
        "model": heard.model,
        "service_tier": "default",
        "system_fingerprint": None,
    }


def _finish(reply: ScriptedReply) -> str:
    if reply.ending == "refused" and not reply.text:
        return "content_filter"
    return FINISH.get(reply.ending, reply.ending)


def _id(heard: Heard, one: ScriptedCall, index: int) -> str:
    return f"call_{heard.mark(20)}{index:02d}" if one.id is None else one.id


def _function(one: ScriptedCall) -> dict[str, Any]:
    return {"name": one.name, "arguments": None if one.arguments is None else one.raw}


def _completion(heard: Heard, reply: ScriptedReply) -> dict[str, Any]:
    refused = reply.ending == "refused" and bool(reply.text)
    content: str | None = None if refused or (reply.calls and not reply.text) else reply.text
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": reply.text if refused else None}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [
            {"id": _id(heard, one, index), "type": "function", "function": _function(one)}
            for index, one in enumerate(reply.calls)
        ]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(reply)}
    made = {**_head(heard, "chat.completion"), "choices": [choice]}
    if reply.usage:
        made["usage"] = _usage(reply.usage)
    return made


def _chunks(heard: Heard, reply: ScriptedReply) -> Iterator[dict[str, Any]]:
    head = _head(heard, "chat.completion.chunk")
    with_usage = mapped(heard.body.get("stream_options")).get("include_usage") is True and reply.usage is not None
    # OpenAI puts the key on every chunk only where counts were asked for.
    tail = {"usage": None} if with_usage else {}
    for delta in _deltas(heard, reply):
        yield {**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}], **tail}
    last = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": _finish(reply)}
    yield {**head, "choices": [last], **tail}
    if with_usage and reply.usage:
        yield {**head, "choices": [], "usage": _usage(reply.usage)}


def _deltas(heard: Heard, reply: ScriptedReply) -> Iterator[dict[str, Any]]:
    refused = reply.ending == "refused" and bool(reply.text)
    only_calls = bool(reply.calls) and not reply.text
    yield {"role": "assistant", "content": None if only_calls else "", "refusal": None}
    for piece in pieces_of(reply.reasoning):
        yield {"reasoning_content": piece}
    for piece in pieces_of(reply.text):
        yield {"refusal" if refused else "content": piece}
    for position, one in enumerate(reply.calls):
        yield from _call_deltas(heard, one, position, reply.fault_name)


def _call_deltas(heard: Heard, one: ScriptedCall, position: int, fault: str) -> Iterator[dict[str, Any]]:
    index = {"index_collision": 0, "index_gap": 2 * position + 1}.get(fault, position)
    id = _id(heard, one, position)
    first: dict[str, Any] = {"index": index, "id": id, "type": "function", "function": {**_function(one)}}
    if one.arguments is None:
        yield {"tool_calls": [first]}
        return
    first["function"]["arguments"] = ""
    yield {"tool_calls": [first]}
    for piece in pieces_of(one.raw):
        function = {"arguments": piece}
        again: dict[str, Any] = {"index": index, "function": function}
        if fault == "repeated_name_deltas":
            again = {"index": index, "id": id, "type": "function", "function": {"name": one.name, **function}}
        yield {"tool_calls": [again]}
