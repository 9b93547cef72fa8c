"""What comes back: reasoning and its way back, the service's own tools, stops, refusals, counters."""

from __future__ import annotations

import json

import pytest
from officellm_provider_bedrock.converse import BedrockConverse
from officellm_provider_bedrock.invoke import AnthropicInvoke

from officellm import CallDelta, FaultError, ReasoningDelta, Request, TextDelta, ToolResult, ToolSpec, User
from officellm.testing import play_stream

from .eventstream import block_stop, call_start, chunk, delta, event, stream

MODEL = "us.anthropic.claude-3-7-sonnet-20250219-v1:0"
REQUEST = Request(model=MODEL, messages=(User("hello"),), stream=True)
WIRE = BedrockConverse()
SEALED = {"reasoningContent": {"reasoningText": {"text": "I look.", "signature": "c2ln"}}}
REDACTED = {"reasoningContent": {"redactedContent": "cmVk"}}
SERVER_USE = {"toolUse": {"toolUseId": "s", "name": "nova_grounding", "input": {"q": "x"}, "type": "server_tool_use"}}
SERVER_RESULT = {"toolResult": {"toolUseId": "s", "content": [{"text": "hidden"}], "status": "success"}}
CITED = {"citationsContent": {"content": [{"text": "low tide"}], "citations": [{"title": "t"}]}}


def use(id, **given):
    return {"toolUse": {"toolUseId": id, "name": "clock", "input": given, "type": "tool_use"}}


def whole(*content, stop="end_turn", usage=None):
    body = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": stop, "usage": usage}
    return WIRE.parse(json.dumps(body).encode(), REQUEST)


def streamed(*frames, **fields):
    return play_stream(WIRE, stream(*frames, **fields), REQUEST)


def sent_back(reply, model=MODEL):
    results = [ToolResult(call.id, call.name, "done") for call in reply.message.calls]
    request = Request(model=model, messages=(User("hello"), reply.message, *results))
    return json.loads(WIRE.build(request, "https://x.example").body)["messages"][1]["content"]


def test_a_stream_and_a_whole_reply_are_one_reply():
    content = [SEALED, {"text": "On it."}, REDACTED, SERVER_USE, SERVER_RESULT, use("a", h=6), CITED]
    frames = [
        delta(0, reasoningContent={"text": "I "}),
        delta(0, reasoningContent={"text": "look."}),
        delta(0, reasoningContent={"signature": "c2"}),
        delta(0, reasoningContent={"signature": "ln"}),
        block_stop(0),
        delta(1, text="On "),
        delta(1, text="it."),
        delta(2, reasoningContent={"redactedContent": "cmVk"}),
        call_start(3, "s", "nova_grounding", type="server_tool_use"),
        delta(3, toolUse={"input": '{"q": "x"}'}),
        event("contentBlockStart", contentBlockIndex=4, start={"toolResult": {"toolUseId": "s", "status": "success"}}),
        delta(4, toolResult=[{"text": "hidden"}]),
        call_start(5, "a", "clock", type="tool_use"),
        delta(5, toolUse={"input": '{ "h":'}),
        delta(5, toolUse={"input": " 6}"}),
        delta(6, text="low tide"),
        delta(6, citation={"title": "t"}),
    ]

    reply = streamed(*frames, stop="tool_use")

    assert reply == whole(*content, stop="tool_use")
    assert reply.message.text == "On it.low tide"
    assert reply.message.reasoning == "I look."
    assert [(call.id, call.arguments) for call in reply.message.calls] == [("a", {"h": 6})]


def test_events_and_pieces_that_are_not_known_are_skipped():
    reply = streamed(delta(0, text="fine"), event("somethingNew", value=1), delta(0, somethingNew={"x": 1}))

    assert (reply.message.text, reply.message.native) == ("fine", None)


def test_what_is_shown_comes_piece_by_piece():
    parser = WIRE.stream_parser(REQUEST)
    frames = [
        delta(0, reasoningContent={"text": "hm"}),
        delta(1, text="Low"),
        call_start(2, "s", "nova_grounding", type="server_tool_use"),
        delta(2, toolUse={"input": "{}"}),
        call_start(3, "a", "clock"),
        delta(3, toolUse={"input": ""}),
        delta(3, toolUse={"input": "{}"}),
    ]

    shown = [one for event in WIRE.decoder().feed(b"".join(frames)) for one in parser.feed(event)]

    assert shown == [ReasoningDelta("hm"), TextDelta("Low"), CallDelta(0, "a", "clock", ""), CallDelta(0, "", "", "{}")]


def test_sealed_blocks_go_back_unchanged_and_in_place():
    reply = whole(SEALED, {"text": "On it."}, REDACTED, SERVER_USE, SERVER_RESULT, use("a", h=6), stop="tool_use")
    call = {"toolUse": {"toolUseId": "a", "name": "clock", "input": {"h": 6}}}

    assert sent_back(reply) == [SEALED, {"text": "On it."}, REDACTED, SERVER_USE, SERVER_RESULT, call]
    assert sent_back(reply, "amazon.nova-lite-v1:0") == [{"text": "On it."}, call]


def test_reasoning_without_a_signature_does_not_go_back():
    plain = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": ""}}}

    assert sent_back(whole(plain, {"text": "Low"})) == [{"text": "Low"}]
    assert sent_back(whole(SEALED, plain, {"text": "Low"})) == [SEALED, {"text": "Low"}]


def test_redacted_reasoning_in_pieces_is_joined_as_bytes():
    pieces = [delta(0, reasoningContent={"redactedContent": piece}) for piece in ("cg==", "ZWQ=")]

    assert streamed(*pieces, delta(1, text="x")).message.native == [REDACTED, {"text": "x"}]


STOPS = [
    ("end_turn", "stop"),
    ("stop_sequence", "stop"),
    ("tool_use", "tool_calls"),
    ("max_tokens", "length"),
    ("model_context_window_exceeded", "length"),
    ("guardrail_intervened", "refused"),
    ("content_filtered", "refused"),
    ("malformed_model_output", "error"),
    ("malformed_tool_use", "error"),
    ("something_new", "other"),
    (None, "stop"),
]


@pytest.mark.parametrize(("raw", "stop"), STOPS)
def test_stop_reasons_have_neutral_names(raw, stop):
    reply = whole({"text": "x"}, stop=raw)

    assert (reply.stop, reply.raw_stop) == (stop, raw)
    assert bool(reply.refusal) == (stop == "refused")


@pytest.mark.parametrize("raw", ["end_turn", "something_new", None])
def test_a_call_is_a_call_whatever_the_stop_says(raw):
    assert whole(use("a"), stop=raw).stop == "tool_calls"


def test_arguments_that_were_cut_are_a_problem_not_a_guess():
    (call,) = streamed(
        call_start(0, "a", "clock"), delta(0, toolUse={"input": '{"h": '}), stop="max_tokens"
    ).message.calls

    assert call.arguments is None
    assert call.raw == '{"h": '
    assert call.problem


def test_arguments_of_a_call_that_never_began_are_malformed():
    with pytest.raises(FaultError, match="never began"):
        streamed(delta(0, toolUse={"input": "{}"}))


def test_a_name_that_was_changed_comes_back_as_the_tools_own():
    tool = ToolSpec("board.create", "", {})
    alias = json.loads(WIRE.build(Request(model=MODEL, messages=(User("x"),), tools=[tool]), "https://x.example").body)
    name = alias["toolConfig"]["tools"][0]["toolSpec"]["name"]
    request = Request(model=MODEL, messages=(), tools=[tool])

    reply = play_stream(WIRE, stream(call_start(0, "a", name), stop="tool_use"), request)
    assert [call.name for call in reply.message.calls] == ["board.create"]


@pytest.mark.parametrize("read", [whole, lambda **fields: streamed(**fields)], ids=["whole", "streamed"])
def test_input_tokens_include_the_cache(read):
    counts = {"inputTokens": 2, "outputTokens": 5, "cacheReadInputTokens": 1300, "cacheWriteInputTokens": 22}

    usage = read(usage=counts).usage

    assert (usage.input, usage.output, usage.cached, usage.total) == (1324, 5, 1300, 1329)
    assert usage.complete


@pytest.mark.parametrize("counts", [None, {}, {"inputTokens": None, "outputTokens": "5"}, {"outputTokens": True}, []])
def test_counters_that_are_none_are_unknown(counts):
    usage = whole({"text": "x"}, usage=counts).usage

    assert (usage.total, usage.complete) == (0, False)


def claude(*events):
    start = {"type": "message_start", "message": {"id": "m", "content": [], "usage": {"input_tokens": 3}}}
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Low"}}
    return b"".join(map(chunk, [start, block, *events]))


def test_invoke_ends_with_its_stop_reason_where_the_last_event_is_missing():
    stopped = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}

    reply = play_stream(AnthropicInvoke(), claude(stopped), REQUEST)

    assert (reply.message.text, reply.stop, reply.usage.total) == ("Low", "stop", 4)
    with pytest.raises(FaultError, match="ended before"):
        play_stream(AnthropicInvoke(), claude(), REQUEST)


@pytest.mark.parametrize("payload", [{"bytes": "no base64!"}, {"bytes": "AAAA"}], ids=["no-base64", "no-json"])
def test_a_chunk_that_holds_no_event_is_malformed(payload):
    with pytest.raises(FaultError):
        play_stream(AnthropicInvoke(), event("chunk", **payload), REQUEST)


def test_invoke_takes_no_model_and_no_stream_from_the_settings():
    settings = {"model": "x", "top_k": 5, "extra": {"stream": True, "model": "y", "anthropic_beta": ["a"]}}
    request = Request(model=MODEL, messages=(User("hello"),), settings=settings, stream=True)

    sent = AnthropicInvoke().build(request, "https://x.example")

    assert json.loads(sent.body) == {
        "anthropic_version": "bedrock-2023-05-31",
        "max_tokens": 4096,
        "top_k": 5,
        "anthropic_beta": ["a"],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
    }
    assert sent.url == f"https://x.example/model/{MODEL.replace(':', '%3A')}/invoke-with-response-stream"
