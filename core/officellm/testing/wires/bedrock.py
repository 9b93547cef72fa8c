"""How the fake LLM server speaks Amazon Bedrock's Converse, and what its other wire shares with it.

What Converse refuses stands in `bedrock_rules.py`; no signature of a request is verified.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from officellm.codec import dumps
from officellm.messages import Usage
from officellm.testing.replies import ScriptedCall, ScriptedReply
from officellm.testing.wires.anthropic import input_of
from officellm.testing.wires.bedrock_rules import complain
from officellm.testing.wires.completions import JSON, bearer
from officellm.testing.wires.eventstream import EVENT_STREAM, event, exception
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
    text_within,
)

_STOP = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "refused": "content_filtered"}
_ERRORS = {
    401: "UnrecognizedClientException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
    529: "ServiceUnavailableException",
}
_TOO_LONG = (
    "The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length. "
    "Please update the input to try again."
)
_PATH = re.compile(r".*/model/(.+)/(converse|converse-stream)")
_CREDENTIAL = re.compile(r"AWS4-HMAC-SHA256 .*?Credential=([^/,]+)/.*")

Event = tuple[str, dict[str, Any]]


class BedrockSpeaker:
    """`POST /model/{id}/converse` and `/converse-stream`."""

    name = "bedrock"

    def listens_to(self, path: str) -> bool:
        """Any path that ends in one of Converse's."""
        return _PATH.fullmatch(path) is not None

    def hear(self, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Mapping[str, Any]) -> Heard:
        """The request in neutral terms; the model and whether it streams stand in the path."""
        asked = _PATH.fullmatch(path)
        tools = listed(mapped(body.get("toolConfig")).get("tools"))
        return Heard(
            wire=self.name,
            model=asked[1] if asked else "",
            stream=asked is not None and asked[2] == "converse-stream",
            system="\n".join(filter(None, map(said_text, listed(body.get("system"))))),
            said=tuple(_said([mapped(one) for one in listed(body.get("messages"))])),
            tools=tuple(text_of(mapped(mapped(one).get("toolSpec")).get("name", "")) for one in tools),
            body=body,
            headers=headers,
        )

    def complain(self, heard: Heard) -> Trouble | None:
        """What Converse would refuse."""
        return complain(heard.body, heard.model)

    def say(self, heard: Heard, reply: ScriptedReply) -> Answer:
        """A message with its counts, or its events from `messageStart` to `metadata`."""
        if heard.stream:
            # `messageStop` makes the reply whole; only counts come after it.
            return streamed((event(kind, value) for kind, value in _events(heard, reply)), after=2)
        message = {"role": "assistant", "content": list(_content(heard, reply))}
        made = {"output": {"message": message}, "stopReason": _stop(reply), "metrics": {"latencyMs": 1}}
        return Answer((dumps(made | ({"usage": _usage(reply.usage)} if reply.usage else {})),), JSON)

    def refuse(self, trouble: Trouble) -> Answer:
        """`{"message"}`, with its kind in a header."""
        return refused(trouble, _TOO_LONG)

    def refuse_in_200(self, heard: Heard, trouble: Trouble) -> Answer:
        """A body that is an error; in a stream, a frame that is one."""
        if heard.stream:
            return failed(event("messageStart", {"role": "assistant"}), trouble)
        inside = {"__type": f"com.amazon.bedrock#{_kind(trouble.status)}", "message": trouble.message}
        return Answer((dumps(inside),), JSON)

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
        """The bearer token, or who signed the request."""
        return key_in(headers)

    def list_models(self, path: str, headers: Mapping[str, str], models: Sequence[str]) -> Answer | None:
        """`GET /foundation-models`."""
        if path != "/foundation-models":
            return None
        about = {"inputModalities": ["TEXT"], "outputModalities": ["TEXT"], "responseStreamingSupported": True}
        named = [{"modelId": one, "modelName": one, "providerName": "officellm", **about} for one in models]
        return Answer((dumps({"modelSummaries": named}),), JSON)


def key_in(headers: Mapping[str, str]) -> str | None:
    """The bearer token, or the id of the access key that signed the request."""
    signed = _CREDENTIAL.fullmatch(headers.get("authorization", ""))
    return signed[1] if signed else bearer(headers)


def refused(trouble: Trouble, too_long: str) -> Answer:
    """An error with the name that Amazon has for it; `too_long` is said of a prompt that is."""
    status, message, kind = trouble.status, trouble.message, _kind(trouble.status)
    if trouble.code == "invalid_api_key":
        status, kind = 403, "UnrecognizedClientException"
        message = "The security token included in the request is invalid."
    elif trouble.code == "quota":
        status, kind = 400, "ServiceQuotaExceededException"
        message = "Your request exceeds the service quota for your account."
    elif trouble.code == "context_overflow":
        message = too_long
    headers = {
        "x-amzn-ErrorType": f"{kind}:http://internal.amazon.com/coral/com.amazon.bedrock/",
        "x-amzn-RequestId": "officellm",
    }
    if trouble.retry_after:
        headers["retry-after"] = f"{trouble.retry_after:g}"
    return Answer((dumps({"message": message}),), JSON, status, headers)


def failed(begun: bytes, trouble: Trouble) -> Answer:
    """A stream whose second frame is an error. There the names of errors begin with a small letter."""
    kind = _kind(trouble.status)
    return streamed([begun, exception(kind[0].lower() + kind[1:], trouble.message)])


def streamed(frames: Iterable[bytes], after: int = 0) -> Answer:
    """The frames of a stream, of which the last `after` come when the reply is whole."""
    every = tuple(frames)
    return Answer(every, EVENT_STREAM, streamed=True, unfinished=len(every) - after)


def _kind(status: int) -> str:
    return _ERRORS.get(status, "InternalServerException" if status >= 500 else "ValidationException")


def _said(messages: Sequence[Mapping[str, Any]]) -> Iterator[Said]:
    for one in messages:
        blocks = [mapped(block) for block in listed(one.get("content"))]
        text = "".join(said_text(block) for block in blocks if "text" in block)
        if one.get("role") == "assistant":
            calls = [block["toolUse"] for block in blocks if "toolUse" in block]
            yield Said("assistant", text + (text_of(calls) if calls else ""))
            continue
        for block in blocks:
            if "toolResult" in block:
                yield Said("tool", _result_text(mapped(block["toolResult"])))
        if text:
            yield Said("user", text)


def _result_text(result: Mapping[str, Any]) -> str:
    parts = [mapped(part) for part in listed(result.get("content"))]
    return "".join(text_within(part["json"]) if "json" in part else said_text(part) for part in parts)


def _stop(reply: ScriptedReply) -> str:
    return _STOP.get(reply.ending, reply.ending)


def _usage(usage: Usage) -> dict[str, Any]:
    counts = {"inputTokens": usage.input - usage.cached, "outputTokens": usage.output, "totalTokens": usage.total}
    return counts | ({"cacheReadInputTokens": usage.cached, "cacheWriteInputTokens": 0} if usage.cached else {})


def _named(heard: Heard, one: ScriptedCall, index: int) -> dict[str, Any]:
    id = f"tooluse_{heard.mark(20)}{index:02d}" if one.id is None else one.id
    return {"toolUseId": id, "name": one.name}


def _content(heard: Heard, reply: ScriptedReply) -> Iterator[dict[str, Any]]:
    if reply.reasoning:
        thought = {"text": reply.reasoning, "signature": signature_of(reply.reasoning)}
        yield {"reasoningContent": {"reasoningText": thought}}
    if reply.text:
        yield {"text": reply.text}
    for index, one in enumerate(reply.calls):
        yield {"toolUse": {**_named(heard, one, index), "input": input_of(one)}}


def _events(heard: Heard, reply: ScriptedReply) -> Iterator[Event]:
    yield "messageStart", {"role": "assistant"}
    for index, (start, deltas) in enumerate(_blocks(heard, reply)):
        place = {"contentBlockIndex": index}
        if start:
            yield "contentBlockStart", {**place, "start": start}
        for delta in deltas:
            yield "contentBlockDelta", {**place, "delta": delta}
        yield "contentBlockStop", place
    yield "messageStop", {"stopReason": _stop(reply)}
    counts = {"usage": _usage(reply.usage)} if reply.usage else {}
    yield "metadata", {**counts, "metrics": {"latencyMs": 1}}


def _blocks(heard: Heard, reply: ScriptedReply) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each block's start, which only calls have, and its pieces."""
    if reply.reasoning:
        pieces = [{"text": piece} for piece in pieces_of(reply.reasoning)]
        pieces.append({"signature": signature_of(reply.reasoning)})
        yield {}, [{"reasoningContent": piece} for piece in pieces]
    if reply.text:
        yield {}, [{"text": piece} for piece in pieces_of(reply.text)]
    for index, one in enumerate(reply.calls):
        # No piece but an empty one stands for `{}`.
        texts = ["", *(pieces_of(one.raw) if one.raw != "{}" else [])]
        inputs = [None] if one.arguments is None else texts
        yield {"toolUse": _named(heard, one, index)}, [{"toolUse": {"input": piece}} for piece in inputs]
