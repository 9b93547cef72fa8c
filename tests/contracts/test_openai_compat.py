"""The built-in provider `openai_compat` keeps the provider contract."""

from __future__ import annotations

import json

from officellm.testing.contracts import Exchange, ProviderContract, ProviderOfficeContract

USAGE = {
    "prompt_tokens": 20,
    "completion_tokens": 7,
    "total_tokens": 27,
    "prompt_tokens_details": {"cached_tokens": 16},
    "completion_tokens_details": {"reasoning_tokens": 2},
}
HEAD = {"id": "chatcmpl-1", "model": "contract-model"}
CALLS = [("call_1", "search", {"query": "Gezeiten–Tümpel"}), ("call_2", "clock", {})]


def whole(message, finish="stop", **fields):
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return json.dumps({**HEAD, "object": "chat.completion", "choices": [choice], **fields}).encode()


def stream(*deltas, finish="stop", usage=True):
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if usage:
        chunks.append({"choices": [], "usage": USAGE})
    lines = [json.dumps({**HEAD, **chunk}, ensure_ascii=False) for chunk in chunks]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()


def piece(index, arguments, id=None, name=None):
    head = {"id": id, "type": "function"} if id else {}
    return {"tool_calls": [{"index": index, **head, "function": {"name": name, "arguments": arguments}}]}


def called(id, name, arguments):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


class TestOpenAICompat(ProviderContract):
    name = "openai_compat"
    exchanges = (
        Exchange(
            name="text",
            body=whole({"content": "Low tide at 6 – bring boots."}, usage=USAGE),
            text="Low tide at 6 – bring boots.",
            usage=(20, 7),
        ),
        Exchange(
            name="text",
            streamed=True,
            body=stream(
                {"role": "assistant", "content": ""}, {"content": "Low tide"}, {"content": " at 6 – bring boots."}
            ),
            text="Low tide at 6 – bring boots.",
            usage=(20, 7),
        ),
        Exchange(
            name="calls",
            body=whole({"content": None, "tool_calls": [called(*one) for one in CALLS]}, "tool_calls", usage=USAGE),
            calls=CALLS,
            stop="tool_calls",
            usage=(20, 7),
        ),
        Exchange(
            name="calls",
            streamed=True,
            body=stream(
                piece(0, "", "call_1", "search"),
                piece(0, '{"query": "Gezeiten'),
                piece(1, "{", "call_2", "clock"),
                piece(0, '–Tümpel"}'),
                piece(1, "}"),
                finish="tool_calls",
            ),
            calls=CALLS,
            stop="tool_calls",
            usage=(20, 7),
        ),
        Exchange(name="no-counts", body=whole({"content": "fine"}), text="fine"),
        Exchange(name="no-counts", streamed=True, body=stream({"content": "fine"}, usage=False), text="fine"),
        Exchange(
            name="cut", body=whole({"content": "Low"}, "length", usage=USAGE), text="Low", stop="length", usage=(20, 7)
        ),
        Exchange(
            name="quota",
            status=429,
            body=b'{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}',
            fault="quota",
        ),
        Exchange(
            name="too-long",
            status=400,
            body=b'{"error": {"message": "too long", "code": "context_length_exceeded"}}',
            fault="context_overflow",
        ),
        Exchange(
            name="error-in-200", body=b'{"error": {"message": "busy", "code": 503}}', fault="overloaded", retryable=True
        ),
        Exchange(
            name="error-in-stream",
            streamed=True,
            body=b'data: {"error": {"message": "busy", "code": 529}}\n\n',
            fault="overloaded",
            retryable=True,
        ),
    )


class TestOpenAICompatInAnOffice(ProviderOfficeContract):
    name = "openai_compat"

    def base_url(self, llm):
        return llm.openai_url
