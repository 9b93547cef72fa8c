"""The built-in provider `gemini` keeps the provider contract."""

from __future__ import annotations

import json

from officellm.testing.contracts import Exchange, ProviderContract, ProviderOfficeContract
from officellm.testing.wires.speaker import signature_of

USAGE = {"promptTokenCount": 20, "candidatesTokenCount": 5, "thoughtsTokenCount": 2, "totalTokenCount": 27}
TEXT = "Low tide at 6 – bring boots."
CALLS = [("fc_1", "search", {"query": "Gezeiten–Tümpel"}), (None, "clock", {})]


def chunk(*parts, finish="STOP", **fields):
    candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": "contract-model", "responseId": "r1", **fields}


def whole(*parts, finish="STOP", usage=USAGE):
    return json.dumps(chunk(*parts, finish=finish, **({"usageMetadata": usage} if usage else {}))).encode()


def stream(*chunks):
    return "".join(f"data: {json.dumps(one, ensure_ascii=False)}\r\n\r\n" for one in chunks).encode()


def called(id, name, arguments):
    return {"functionCall": {"name": name, "args": arguments, **({"id": id} if id else {})}}


class TestGemini(ProviderContract):
    name = "gemini"
    exchanges = (
        Exchange(name="text", body=whole({"text": TEXT}), text=TEXT, usage=(20, 7)),
        Exchange(
            name="text",
            streamed=True,
            body=stream(
                chunk({"text": "Low tide"}, finish=None),
                chunk({"text": " at 6 – bring boots."}, finish=None),
                chunk({"text": ""}, usageMetadata=USAGE),
            ),
            text=TEXT,
            usage=(20, 7),
        ),
        Exchange(
            name="calls", body=whole(*(called(*one) for one in CALLS)), calls=CALLS, stop="tool_calls", usage=(20, 7)
        ),
        Exchange(
            name="calls",
            streamed=True,
            body=stream(chunk(called(*CALLS[0]), finish=None), chunk(called(*CALLS[1]), usageMetadata=USAGE)),
            calls=CALLS,
            stop="tool_calls",
            usage=(20, 7),
        ),
        Exchange(
            name="cut", body=whole({"text": "Low"}, finish="MAX_TOKENS"), text="Low", stop="length", usage=(20, 7)
        ),
        Exchange(name="no-counts", body=whole({"text": "fine"}, usage=None), text="fine"),
        Exchange(
            name="busy",
            status=429,
            body=json.dumps(
                {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Resource has been exhausted"}}
            ).encode(),
            fault="rate_limit",
            retryable=True,
        ),
        Exchange(
            name="bad-key",
            status=400,
            body=b'{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid."}}',
            fault="auth",
        ),
        Exchange(
            name="error-in-stream",
            streamed=True,
            body=b'data: {"error": {"code": 503, "status": "UNAVAILABLE", "message": "overloaded"}}\n\n',
            fault="overloaded",
            retryable=True,
        ),
    )


class TestGeminiInAnOffice(ProviderOfficeContract):
    name = "gemini"
    model_name = "gemini-3-flash"

    def base_url(self, llm):
        return llm.gemini_url

    def replayed(self, thought):
        """Not the thought, but what proves it, beside the call."""
        return f'"thoughtSignature":"{signature_of("ping")}"'
