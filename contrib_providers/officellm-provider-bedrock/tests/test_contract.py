"""The suites that every provider passes: over replies in Bedrock's own shapes, and in an office."""

from __future__ import annotations

import json

import pytest

from officellm.testing.contracts import Exchange, ProviderContract, ProviderOfficeContract

from .eventstream import CONTENT_TYPE, block_stop, call_start, chunk, delta, error, exception, stream

USAGE = {"inputTokens": 4, "outputTokens": 7, "totalTokens": 27, "cacheReadInputTokens": 16, "cacheWriteInputTokens": 0}
CALLS = [("tooluse_1", "search", {"query": "Gezeiten–Tümpel"}), ("tooluse_2", "clock", {})]
SAID = "Low tide at 6 – bring boots."


def whole(*content, stop="end_turn", **fields):
    body = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": stop, **fields}
    return json.dumps({**body, "metrics": {"latencyMs": 1}}, ensure_ascii=False).encode()


def streamed(name, *frames, **fields):
    means = {key: fields.pop(key) for key in ("text", "calls", "fault", "retryable") if key in fields}
    usage = (20, 7) if "usage" in fields else None
    stop = {"tool_use": "tool_calls"}.get(fields.get("stop"), "stop")
    body = frames[0] if "fault" in means else stream(*frames, **fields)
    return Exchange(name=name, streamed=True, headers=CONTENT_TYPE, body=body, usage=usage, stop=stop, **means)


class TestConverse(ProviderContract):
    name = "bedrock_converse"
    exchanges = (
        Exchange(name="text", body=whole({"text": SAID}, usage=USAGE), text=SAID, usage=(20, 7)),
        streamed(
            "text",
            delta(0, text=""),
            delta(0, text="Low tide"),
            delta(0, text=" at 6 – bring boots."),
            block_stop(0),
            usage=USAGE,
            text=SAID,
        ),
        Exchange(
            name="calls",
            body=whole(
                {"text": "I look."},
                *({"toolUse": {"toolUseId": id, "name": name, "input": given}} for id, name, given in CALLS),
                stop="tool_use",
                usage=USAGE,
            ),
            text="I look.",
            calls=CALLS,
            stop="tool_calls",
            usage=(20, 7),
        ),
        streamed(
            "calls",
            delta(0, text="I look."),
            block_stop(0),
            call_start(1, "tooluse_1", "search"),
            delta(1, toolUse={"input": ""}),
            delta(1, toolUse={"input": '{"query": "Gezeiten'}),
            delta(1, toolUse={"input": '–Tümpel"}'}),
            block_stop(1),
            call_start(2, "tooluse_2", "clock"),
            delta(2, toolUse={"input": ""}),
            block_stop(2),
            stop="tool_use",
            usage=USAGE,
            text="I look.",
            calls=CALLS,
        ),
        Exchange(
            name="reasoning",
            body=whole(
                {"reasoningContent": {"reasoningText": {"text": "Tides.", "signature": "c2ln"}}},
                {"text": SAID},
                usage=USAGE,
            ),
            text=SAID,
            usage=(20, 7),
        ),
        streamed(
            "reasoning",
            delta(0, reasoningContent={"text": "Tid"}),
            delta(0, reasoningContent={"text": "es."}),
            delta(0, reasoningContent={"signature": "c2ln"}),
            block_stop(0),
            delta(1, text=SAID),
            block_stop(1),
            usage=USAGE,
            text=SAID,
        ),
        Exchange(name="no-counts", body=whole({"text": "fine"}), text="fine"),
        streamed("no-counts", delta(0, text="fine"), text="fine"),
        Exchange(
            name="cut",
            body=whole({"text": "Low"}, stop="max_tokens", usage=USAGE),
            text="Low",
            stop="length",
            usage=(20, 7),
        ),
        Exchange(
            name="too-long",
            status=400,
            headers={"x-amzn-errortype": "ValidationException:http://internal.amazon.com/"},
            body=b'{"message": "Input Tokens Exceeded: Number of input tokens exceeds maximum length."}',
            fault="context_overflow",
        ),
        Exchange(
            name="throttled",
            status=429,
            headers={"x-amzn-errortype": "ThrottlingException:http://internal.amazon.com/"},
            body=b'{"message": "Too many requests, please wait before trying again."}',
            fault="rate_limit",
            retryable=True,
        ),
        Exchange(
            name="error-in-200",
            body=b'{"Output": {"__type": "x"}, "__type": "com.amazon#ServiceUnavailableException", "message": "busy"}',
            fault="overloaded",
            retryable=True,
        ),
        streamed("exception", exception("throttlingException", "slow down"), fault="rate_limit", retryable=True),
        streamed("invalid", exception("validationException", "no such field"), fault="bad_request"),
        streamed("stream-error", error("InternalError", "lost the model"), fault="server", retryable=True),
    )


def message(*content, stop="end_turn", usage=None):
    body = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": content}
    return json.dumps({**body, "stop_reason": stop, "usage": usage or {}}).encode()


CLAUDE_USAGE = {"input_tokens": 4, "cache_read_input_tokens": 16, "output_tokens": 7}


def claude(*events, stop="end_turn", usage=None):
    start = {
        "type": "message_start",
        "message": {"id": "msg_1", "role": "assistant", "content": [], "usage": usage or {}},
    }
    end = {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage or {}}
    return b"".join(map(chunk, [start, *events, end, {"type": "message_stop"}]))


def begun(index, **block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def grown(index, kind, **piece):
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **piece}}


class TestInvoke(ProviderContract):
    name = "anthropic_bedrock_invoke"
    exchanges = (
        Exchange(
            name="text",
            body=message({"type": "text", "text": SAID}, usage=CLAUDE_USAGE),
            text=SAID,
            usage=(20, 7),
        ),
        Exchange(
            name="text",
            streamed=True,
            headers=CONTENT_TYPE,
            body=claude(
                begun(0, type="text", text=""),
                grown(0, "text_delta", text="Low tide"),
                grown(0, "text_delta", text=" at 6 – bring boots."),
                usage=CLAUDE_USAGE,
            ),
            text=SAID,
            usage=(20, 7),
        ),
        Exchange(
            name="calls",
            body=message(
                *({"type": "tool_use", "id": id, "name": name, "input": given} for id, name, given in CALLS),
                stop="tool_use",
                usage=CLAUDE_USAGE,
            ),
            calls=CALLS,
            stop="tool_calls",
            usage=(20, 7),
        ),
        Exchange(
            name="calls",
            streamed=True,
            headers=CONTENT_TYPE,
            body=claude(
                begun(0, type="tool_use", id="tooluse_1", name="search", input={}),
                grown(0, "input_json_delta", partial_json='{"query": "Gezeiten'),
                grown(0, "input_json_delta", partial_json='–Tümpel"}'),
                begun(1, type="tool_use", id="tooluse_2", name="clock", input={}),
                stop="tool_use",
                usage=CLAUDE_USAGE,
            ),
            calls=CALLS,
            stop="tool_calls",
            usage=(20, 7),
        ),
        Exchange(
            name="exception",
            streamed=True,
            headers=CONTENT_TYPE,
            body=exception("throttlingException", "slow down"),
            fault="rate_limit",
            retryable=True,
        ),
        Exchange(
            name="overloaded-in-stream",
            streamed=True,
            headers=CONTENT_TYPE,
            body=chunk({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            fault="overloaded",
            retryable=True,
        ),
        Exchange(
            name="too-long",
            status=400,
            headers={"x-amzn-errortype": "ValidationException:http://internal.amazon.com/"},
            body=b'{"message": "prompt is too long: 208310 tokens > 200000 maximum"}',
            fault="context_overflow",
        ),
    )


class TestConverseInAnOffice(ProviderOfficeContract):
    name = "bedrock_converse"
    model_name = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"

    def base_url(self, llm):
        return llm.bedrock_url

    @pytest.mark.xfail(reason="Converse has no word for that and takes no history of calls without tools", strict=True)
    def test_a_closing_request_wants_no_call(self):
        super().test_a_closing_request_wants_no_call()


class TestInvokeInAnOffice(ProviderOfficeContract):
    name = "anthropic_bedrock_invoke"
    model_name = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"

    def base_url(self, llm):
        return llm.bedrock_url
