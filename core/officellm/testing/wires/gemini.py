"""How the fake LLM server speaks Gemini's generateContent. What it refuses stands in `gemini_rules.py`.

Models whose name starts with `gemini-3` send call ids and thought signatures, and want the signatures back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from officellm.codec import parse_arguments
from officellm.messages import Usage
from officellm.testing.replies import ScriptedCall, ScriptedReply
from officellm.testing.wires.gemini_rules import complain, either
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

_JSON = "application/json; charset=UTF-8"
_SSE = "text/event-stream"
_PATH = re.compile(r".*/models/([^/:]+):(generateContent|streamGenerateContent)")
_FINISH = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY", "error": "OTHER"}
_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class GeminiSpeaker:
    """`POST .../models/{model}:generateContent` and `:streamGenerateContent`, as SSE or as a JSON array."""

    name = "gemini"

    def listens_to(self, path: str) -> bool:
        """Any path that ends in a model and one of the two methods."""
        return _PATH.fullmatch(path) is not None

    def hear(self, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Mapping[str, Any]) -> Heard:
        """The request in neutral terms."""
        found = _PATH.fullmatch(path)
        model, method = (found[1], found[2]) if found else ("", "")
        return Heard(
            wire=self.name,
            model=model,
            stream=method == "streamGenerateContent",
            system=said_text(mapped(either(body, "systemInstruction")).get("parts")),
            said=tuple(_said([mapped(one) for one in listed(body.get("contents"))])),
            tools=tuple(
                text_of(mapped(declared).get("name", ""))
                for one in listed(body.get("tools"))
                for declared in listed(either(mapped(one), "functionDeclarations"))
            ),
            body=body,
            headers=headers,
            framing="sse" if query.get("alt") == "sse" else "array",
        )

    def complain(self, heard: Heard) -> Trouble | None:
        """What Gemini would refuse."""
        return complain(heard.body, heard.model)

    def say(self, heard: Heard, reply: ScriptedReply) -> Answer:
        """A response, or several with new parts in each."""
        if heard.stream:
            return _streamed(heard, list(_chunks(heard, reply)))
        return Answer((_spaced(_response(heard, reply, _parts(heard, reply))),), _JSON)

    def refuse(self, trouble: Trouble) -> Answer:
        """`{"error": {code, message, status, details}}`; how long to wait stands in the details, not in a header."""
        return Answer((_spaced(_error(trouble)),), _JSON, trouble.status)

    def refuse_in_200(self, heard: Heard, trouble: Trouble) -> Answer:
        """The same object as a body, or as an event of the stream."""
        inside = _error(trouble)
        return _streamed(heard, [inside]) if heard.stream else Answer((_spaced(inside),), _JSON)

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
        """The `x-goog-api-key` header, or the key in the address."""
        return headers.get("x-goog-api-key") or query.get("key")

    def list_models(self, path: str, headers: Mapping[str, str], models: Sequence[str]) -> Answer | None:
        """`GET /v1beta/models`."""
        if path not in ("/v1beta/models", "/v1/models") or (path == "/v1/models" and "x-goog-api-key" not in headers):
            return None
        methods = ["generateContent", "countTokens"]
        listing = [
            {"name": f"models/{one}", "displayName": one, "supportedGenerationMethods": methods} for one in models
        ]
        return Answer((_spaced({"models": listing}),), _JSON)


def _said(contents: Sequence[Mapping[str, Any]]) -> Iterator[Said]:
    for one in contents:
        parts = [mapped(part) for part in listed(one.get("parts"))]
        text = said_text([part for part in parts if not part.get("thought")])
        if one.get("role") == "model":
            calls = [called for part in parts if (called := either(part, "functionCall"))]
            yield Said("assistant", text + (text_of(calls) if calls else ""))
            continue
        for part in parts:
            response = either(part, "functionResponse")
            if response is not None:
                yield Said("tool", text_within(mapped(response).get("response")))
        if text:
            yield Said("user", text)


def _error(trouble: Trouble) -> dict[str, Any]:
    message = trouble.message
    details: list[dict[str, Any]] = []
    if trouble.code == "context_overflow":
        message = "The input token count (1250074) exceeds the maximum number of tokens allowed (1048576)."
    if trouble.code == "quota":
        quota = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}
        details.append({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [quota]})
    if trouble.retry_after:
        message += f"\nPlease retry in {trouble.retry_after:g}s."
        delay = f"{trouble.retry_after:g}s"
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
    if trouble.code == "invalid_api_key":
        kind = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
        details.append({**kind, "domain": "googleapis.com"})
    status = _STATUS.get(trouble.status, "INTERNAL" if trouble.status >= 500 else "FAILED_PRECONDITION")
    error: dict[str, Any] = {"code": trouble.status, "message": message, "status": status}
    if details:
        error["details"] = details
    return {"error": error}


def _usage(usage: Usage) -> dict[str, Any]:
    made = {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "totalTokenCount": usage.total,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.input}],
    }
    if usage.cached:
        made["cachedContentTokenCount"] = usage.cached
    if usage.reasoning:
        made["thoughtsTokenCount"] = usage.reasoning
    return made


def _readable(reply: ScriptedReply) -> bool:
    """Whether all calls have arguments that can be an object: Gemini sends no others."""
    return all(parse_arguments(one.raw)[0] is not None for one in reply.calls)


def _parts(heard: Heard, reply: ScriptedReply) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    if reply.reasoning:
        parts.append({"text": reply.reasoning, "thought": True})
    if reply.text:
        parts.append({"text": reply.text})
    newer = heard.model.startswith("gemini-3")
    for index, one in enumerate(reply.calls if _readable(reply) else ()):
        part: dict[str, Any] = {"functionCall": _function_call(heard, one, index, with_id=newer)}
        if newer and not index:
            part["thoughtSignature"] = signature_of(one.name)
        parts.append(part)
    return parts


def _function_call(heard: Heard, one: ScriptedCall, index: int, *, with_id: bool) -> dict[str, Any]:
    made: dict[str, Any] = {"name": one.name}
    if one.arguments is not None:
        made["args"] = parse_arguments(one.raw)[0]
    if one.id:
        made["id"] = one.id
    elif one.id is None and with_id:
        made["id"] = f"{heard.mark(8)}{index:02d}"
    return made


def _finish(reply: ScriptedReply) -> str:
    if not _readable(reply) and reply.ending != "length":
        return "MALFORMED_FUNCTION_CALL"
    return _FINISH.get(reply.ending, "OTHER")


def _response(
    heard: Heard, reply: ScriptedReply, parts: list[dict[str, Any]], *, finished: bool = True
) -> dict[str, Any]:
    usage = {"usageMetadata": _usage(reply.usage)} if reply.usage else {}
    tail = {**usage, "modelVersion": heard.model, "responseId": heard.mark(22)}
    if reply.ending == "refused" and not reply.text:
        return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, **tail}
    # A reply with nothing to say has no `parts`.
    content = {"parts": parts, "role": "model"} if parts else {"role": "model"}
    candidate: dict[str, Any] = {"content": content, "index": 0}
    if finished:
        candidate["finishReason"] = _finish(reply)
    return {"candidates": [candidate], **tail}


def _chunks(heard: Heard, reply: ScriptedReply) -> Iterator[dict[str, Any]]:
    pieces: list[dict[str, Any]] = []
    for part in _parts(heard, reply):
        if "text" in part:
            pieces += [{**part, "text": piece} for piece in pieces_of(part["text"])]
        else:
            pieces.append(part)
    for piece in pieces[:-1]:
        yield _response(heard, reply, [piece], finished=False)
    yield _response(heard, reply, pieces[-1:])


def _spaced(value: Any) -> bytes:
    # Google's JSON has a blank after each colon; a parser that goes by bytes should meet it here.
    return json.dumps(value, ensure_ascii=False, separators=(",", ": ")).encode("utf-8", "replace")


def _streamed(heard: Heard, chunks: Sequence[dict[str, Any]]) -> Answer:
    if heard.framing == "array":
        bodies = [_spaced(chunk) for chunk in chunks]
        pieces = [b"[" + bodies[0], *(b",\r\n" + body for body in bodies[1:]), b"]"]
        return Answer(tuple(pieces), _JSON, streamed=True, unfinished=len(chunks) - 1)
    pieces = [b"data: " + _spaced(chunk) + b"\r\n\r\n" for chunk in chunks]
    return Answer(tuple(pieces), _SSE, streamed=True, unfinished=len(chunks) - 1)
