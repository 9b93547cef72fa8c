"""The built-in provider `anthropic` keeps the provider contract."""

from __future__ import annotations

import json

from officellm.testing.contracts import Exchange, ProviderContract, ProviderOfficeContract

USAGE = {"input_tokens": 4, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 6, "output_tokens": 7}
CALLS = [("toolu_1", "search", {"query": "Gezeiten–Tümpel"}), ("toolu_2", "clock", {})]


def whole(*content, stop="end_turn", usage=USAGE):
    head = {"type": "message", "id": "msg_1", "role": "assistant", "model": "contract-model"}
    return json.dumps({**head, "content": content, "stop_reason": stop, "usage": usage}).encode()


def event(kind, **fields):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields}, ensure_ascii=False)}\n\n"


def block(index, start, *deltas):
    yield event("content_block_start", index=index, content_block=start)
    for delta in deltas:
        yield event("content_block_delta", index=index, delta=delta)
    yield event("content_block_stop", index=index)


def stream(*blocks, stop="end_turn"):
    message = {"id": "msg_1", "role": "assistant", "model": "contract-model", "content": [], "stop_reason": None}
    lines = [event("message_start", message={**message, "usage": {**USAGE, "output_tokens": 1}}), event("ping")]
    for one in blocks:
        lines.extend(one)
    lines.append(event("message_delta", delta={"stop_reason": stop}, usage={"output_tokens": 7}))
    lines.append(event("message_stop"))
    return "".join(lines).encode()


def texts(*pieces):
    return block(0, {"type": "text", "text": ""}, *({"type": "text_delta", "text": piece} for piece in pieces))


def call(index, id, name, *pieces):
    start = {"type": "tool_use", "id": id, "name": name, "input": {}}
    return block(index, start, *({"type": "input_json_delta", "partial_json": piece} for piece in pieces))


TEXT = "Low tide at 6 – bring boots."


class TestAnthropic(ProviderContract):
    name = "anthropic"
    exchanges = (
        Exchange(name="text", body=whole({"type": "text", "text": TEXT}), text=TEXT, usage=(20, 7)),
        Exchange(
            name="text", streamed=True, body=stream(texts("Low tide", " at 6 – bring boots.")), text=TEXT, usage=(20, 7)
        ),
        Exchange(
            name="calls",
            body=whole(
                *({"type": "tool_use", "id": id, "name": name, "input": arguments} for id, name, arguments in CALLS),
                stop="tool_use",
            ),
            calls=CALLS,
            stop="tool_calls",
            usage=(20, 7),
        ),
        Exchange(
            name="calls",
            streamed=True,
            body=stream(
                call(0, "toolu_1", "search", '{"query": "Gezeiten', '–Tümpel"}'),
                call(1, "toolu_2", "clock", ""),
                stop="tool_use",
            ),
            calls=CALLS,
            stop="tool_calls",
            usage=(20, 7),
        ),
        Exchange(
            name="cut",
            body=whole({"type": "text", "text": "Low"}, stop="max_tokens"),
            text="Low",
            stop="length",
            usage=(20, 7),
        ),
        Exchange(name="no-counts", body=whole({"type": "text", "text": "fine"}, usage=None), text="fine"),
        Exchange(
            name="too-long",
            status=400,
            body=b'{"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}}',
            fault="context_overflow",
        ),
        Exchange(
            name="overloaded-in-stream",
            streamed=True,
            body=event("error", error={"type": "overloaded_error", "message": "Overloaded"}).encode(),
            fault="overloaded",
            retryable=True,
        ),
    )


class TestAnthropicInAnOffice(ProviderOfficeContract):
    name = "anthropic"

    def base_url(self, llm):
        return llm.anthropic_url
