"""The suites that every provider passes: over replies in Cohere's own shapes, and in an office."""

from __future__ import annotations

import json

from officellm.testing.contracts import Exchange, ProviderContract, ProviderOfficeContract

USAGE = {
    "billed_units": {"input_tokens": 5.0, "output_tokens": 4.0},
    "tokens": {"input_tokens": 20.0, "output_tokens": 7.0},
    "cached_tokens": 16.0,
}
CALLS = [("search_vvavrb8p34fk", "search", {"query": "Gezeiten–Tümpel"}), ("clock_3p2j6ce4gxxx", "clock", {})]
PLAN = "I will look it up."


def whole(message, finish="COMPLETE", **fields):
    body = {"id": "c1", "message": {"role": "assistant", **message}, "finish_reason": finish, **fields}
    return json.dumps(body).encode()


def event(kind, index=None, message=None, **delta):
    place = {} if index is None else {"index": index}
    inner = {"message": message} if message is not None else delta
    body = {"type": kind, **place, "delta": inner} if inner else {"type": kind, **place}
    return f"event: {kind}\ndata: {json.dumps(body, ensure_ascii=False)}\n\n"


def stream(*events, finish="COMPLETE", **end):
    start = event("message-start", message={"role": "assistant", "content": [], "tool_plan": "", "tool_calls": []})
    return "".join([start, *events, event("message-end", finish_reason=finish, **end), "data: [DONE]\n\n"]).encode()


def spoken(*pieces, index=0, kind="text"):
    yield event("content-start", index, {"content": {"type": kind, kind: ""}})
    for piece in pieces:
        yield event("content-delta", index, {"content": {kind: piece}})
    yield event("content-end", index)


def called(id, name, *pieces, index=0):
    head = {"id": id, "type": "function", "function": {"name": name, "arguments": ""}}
    yield event("tool-call-start", index, {"tool_calls": head})
    for piece in pieces:
        yield event("tool-call-delta", index, {"tool_calls": {"function": {"arguments": piece}}})
    yield event("tool-call-end", index)


CITATION = event("citation-start", 0, {"citations": {"start": 0, "end": 3, "text": "Low", "sources": []}})


class TestCohere(ProviderContract):
    name = "cohere"
    exchanges = (
        Exchange(
            name="text",
            body=whole({"content": [{"type": "text", "text": "Low tide at 6 – bring boots."}]}, usage=USAGE),
            text="Low tide at 6 – bring boots.",
            usage=(20, 7),
        ),
        Exchange(
            name="text",
            streamed=True,
            body=stream(*spoken("Low tide", " at 6 – bring boots."), CITATION, usage=USAGE),
            text="Low tide at 6 – bring boots.",
            usage=(20, 7),
        ),
        Exchange(
            name="thought",
            body=whole(
                {"content": [{"type": "thinking", "thinking": "Tables say six."}, {"type": "text", "text": "At 6."}]},
                usage=USAGE,
            ),
            text="At 6.",
            usage=(20, 7),
        ),
        Exchange(
            name="thought",
            streamed=True,
            body=stream(*spoken("Tables", " say six.", kind="thinking"), *spoken("At", " 6.", index=1), usage=USAGE),
            text="At 6.",
            usage=(20, 7),
        ),
        Exchange(
            name="calls",
            body=whole(
                {
                    "tool_plan": PLAN,
                    "tool_calls": [
                        {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
                        for id, name, arguments in CALLS
                    ],
                },
                "TOOL_CALL",
                usage=USAGE,
            ),
            calls=CALLS,
            stop="tool_calls",
            usage=(20, 7),
        ),
        Exchange(
            name="calls",
            streamed=True,
            body=stream(
                event("tool-plan-delta", message={"tool_plan": "I will"}),
                event("tool-plan-delta", message={"tool_plan": " look it up."}),
                *called("search_vvavrb8p34fk", "search", '{\n    "query": "Gezeiten', '–Tümpel"}'),
                *called("clock_3p2j6ce4gxxx", "clock", index=1),
                finish="TOOL_CALL",
                usage=USAGE,
            ),
            calls=CALLS,
            stop="tool_calls",
            usage=(20, 7),
        ),
        Exchange(name="no-counts", body=whole({"content": [{"type": "text", "text": "fine"}]}), text="fine"),
        Exchange(name="no-counts", streamed=True, body=stream(*spoken("fine")), text="fine"),
        Exchange(
            name="cut",
            body=whole({"content": [{"type": "text", "text": "Low"}]}, "MAX_TOKENS", usage=USAGE),
            text="Low",
            stop="length",
            usage=(20, 7),
        ),
        Exchange(
            name="too-long",
            status=400,
            body=b'{"error_type": "TOO_MANY_TOKENS", "id": "x", "message": "too many tokens: size limit exceeded"}',
            fault="context_overflow",
        ),
        Exchange(name="bad-key", status=401, body=b'{"id": "x", "message": "invalid api token"}', fault="auth"),
        Exchange(name="error-in-200", body=b'{"id": "x", "message": "internal error"}', fault="server", retryable=True),
        Exchange(name="gave-up", body=whole({"content": []}, "ERROR"), fault="server", retryable=True),
        Exchange(
            name="error-at-the-end",
            streamed=True,
            body=stream(finish="ERROR", error="the model failed"),
            fault="server",
            retryable=True,
        ),
        Exchange(
            name="error-in-stream",
            streamed=True,
            body=b'data: {"id": "x", "message": "internal error"}\n\n',
            fault="server",
            retryable=True,
        ),
    )


class TestCohereInAnOffice(ProviderOfficeContract):
    name = "cohere"

    def base_url(self, llm):
        return llm.cohere_url
