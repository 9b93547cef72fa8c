"""What the Anthropic wire format reads, whole or streamed, and what of it goes back."""

from __future__ import annotations

import json

import pytest

from officellm import Assistant, ReasoningDelta, Request, TextDelta, ToolCall, ToolResult, ToolSpec, Usage, User

from .anthropic_samples import (
    BASE,
    MODEL,
    ORIGIN,
    THINKING,
    WIRE,
    body,
    check_legal,
    event,
    events,
    message,
    parsed,
    request,
    streamed,
)
from .recordings import each, exchanges, read
from .search_tool import TOOL


@pytest.mark.parametrize(
    "content",
    [
        pytest.param([{"type": "text", "text": "hello"}], id="text"),
        pytest.param(THINKING, id="thinking"),
        pytest.param(
            [
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
                {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"url": "u"}]},
                {"type": "text", "text": "found"},
            ],
            id="server tools",
        ),
        pytest.param([], id="nothing"),
    ],
)
def test_a_stream_and_a_whole_reply_are_the_same(content):
    assert streamed(events(content, "tool_use")) == parsed(content, "tool_use")


def test_a_field_that_only_whole_replies_have_and_that_says_nothing_makes_no_difference():
    content = [THINKING[0], {"type": "text", "text": "x"}]

    assert parsed([content[0], {**content[1], "citations": None}]) == streamed(events(content))


@pytest.mark.parametrize("kind", [{}, [], 1, None], ids=repr)
def test_a_block_of_a_kind_that_is_no_word_is_kept_like_any_unknown_one(kind):
    content = [{"type": kind}, {"type": "text", "text": "x"}]

    assert parsed(content).message.native == content


def test_thinking_is_sent_back_byte_for_byte_in_its_place_to_the_model_that_made_it():
    reply = parsed(THINKING, "tool_use")
    results = [ToolResult(call.id, call.name, "found") for call in reply.message.calls]

    sent = WIRE.build(request(User("go"), reply.message, *results, tools=[TOOL]), BASE).body

    assert json.dumps(THINKING, separators=(",", ":")).encode() in sent
    assert reply.message.reasoning == "moreagain"


@pytest.mark.parametrize(
    "origin", [("anthropic", "claude-other"), ("openai_compat", MODEL), None], ids=["model", "format", "unknown"]
)
def test_thinking_is_not_sent_to_another_model_or_format(origin):
    made = parsed(THINKING, "tool_use").message
    foreign = Assistant(made.text, made.calls, made.reasoning, made.native, origin)
    results = [ToolResult(call.id, call.name, "found") for call in made.calls]

    sent = body(User("go"), foreign, *results, tools=[TOOL])

    assert [block["type"] for block in sent["messages"][1]["content"]] == ["text", "tool_use", "tool_use"]
    check_legal(sent)


def test_a_turn_does_not_end_with_thinking():
    native = [{"type": "text", "text": "so"}, {"type": "thinking", "thinking": "t", "signature": "s"}]
    only = native[1:]

    sent = body(User("go"), Assistant("so", native=native, origin=ORIGIN), User("on"))
    assert sent["messages"][1]["content"] == native[:1]
    check_legal(body(User("go"), Assistant(native=only, origin=ORIGIN), User("on")))


def test_ids_that_were_made_unique_are_used_in_the_replayed_turn():
    made = parsed(THINKING, "tool_use").message
    renamed = tuple(ToolCall(f"{call.id}_2", call.name, call.arguments, call.raw) for call in made.calls)
    results = [ToolResult(call.id, call.name, "found") for call in renamed]

    sent = body(User("go"), Assistant(made.text, renamed, "", made.native, ORIGIN), *results, tools=[TOOL])

    content = sent["messages"][1]["content"]
    assert [block["id"] for block in content if block["type"] == "tool_use"] == ["toolu_1_2", "toolu_2_2"]
    assert [block["type"] for block in content] == [block["type"] for block in THINKING]


def test_a_paused_turn_is_sent_back_as_it_is():
    content = [{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}]
    reply = parsed(content, "pause_turn")

    sent = body(User("go"), reply.message)

    assert reply.stop == "pause"
    assert sent["messages"][-1] == {"role": "assistant", "content": content}


@pytest.mark.parametrize(
    ("raw", "stop"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refused"),
        ("pause_turn", "pause"),
        ("brand_new", "other"),
    ],
)
def test_stop_reasons_have_neutral_words(raw, stop):
    reply = parsed([{"type": "text", "text": "x"}], raw)

    assert (reply.stop, reply.raw_stop) == (stop, raw)


def test_a_call_counts_whatever_the_stop_reason_says():
    reply = parsed([{"type": "tool_use", "id": "a", "name": "search", "input": {}}], "end_turn")

    assert reply.stop == "tool_calls"


def test_a_refusal_says_why():
    details = {"category": "cyber", "explanation": "Not this."}
    reply = parsed([], "refusal", stop_details=details)

    assert (reply.stop, reply.refusal) == ("refused", "Not this.")
    assert parsed([], "refusal").refusal
    assert parsed([{"type": "text", "text": "x"}]).refusal is None


def test_input_tokens_include_what_the_cache_held():
    assert parsed([]).usage == Usage(input=112, output=7, cached=100, reasoning=3, requests=1)
    assert parsed([], usage=None).usage == Usage(requests=1, complete=False)


@pytest.mark.parametrize("raw", ["", " \n"])
def test_blank_arguments_are_no_arguments(raw):
    start = {"type": "tool_use", "id": "a", "name": "search"}
    feed = [
        *events([])[:1],
        event("content_block_start", index=0, content_block=start),
        event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": raw}),
        event("message_delta", delta={"stop_reason": "tool_use"}),
        event("message_stop"),
    ]

    (made,) = streamed(feed).message.calls
    assert (made.arguments, made.problem) == ({}, None)


def test_arguments_that_the_token_limit_cut_are_a_problem_and_are_sent_back_as_an_object():
    start = {"type": "tool_use", "id": "a", "name": "search", "input": {}}
    feed = [
        *events([])[:1],
        event("content_block_start", index=0, content_block=start),
        event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": '{"q":"on'}),
        event("message_delta", delta={"stop_reason": "max_tokens"}),
        event("message_stop"),
    ]
    reply = streamed(feed)

    (made,) = reply.message.calls
    assert (reply.stop, made.arguments, made.raw) == ("length", None, '{"q":"on')
    assert made.problem
    assert body(User("go"), reply.message)["messages"][1]["content"][0]["input"] == {}


def test_a_name_that_had_to_change_comes_back_as_the_tools_own():
    tool = ToolSpec("board.create", "", {})
    sent = body(tools=[tool])["tools"][0]["name"]
    content = [{"type": "tool_use", "id": "a", "name": sent, "input": {}}]

    assert sent != tool.name
    assert WIRE.parse(message(content), request(tools=(tool,))).message.calls[0].name == tool.name
    assert streamed(events(content), (tool,)).message.calls[0].name == tool.name


def test_deltas_show_text_reasoning_and_calls_as_they_grow():
    parser = WIRE.stream_parser(request())
    deltas = [delta for one in events(THINKING) for delta in parser.feed(one)]

    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == "I look."
    assert "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta)) == "moreagain"
    pieces = [delta for delta in deltas if not isinstance(delta, (TextDelta, ReasoningDelta))]
    assert [(delta.index, delta.id) for delta in pieces if delta.id] == [(0, "toolu_1"), (1, "toolu_2")]
    assert "".join(delta.arguments for delta in pieces if delta.index == 0) == '{"q": "x"}'


@each([e for e in exchanges("anthropic") if "text" in e.expect])
def test_a_recorded_reply_keeps_its_reasoning_and_goes_back_with_its_blocks(exchange):
    reply = read(WIRE, exchange)
    history = [User("go"), reply.message, *(ToolResult(call.id, call.name, "x") for call in reply.message.calls)]
    again = json.loads(WIRE.build(Request(model=exchange.neutral.model, messages=history), BASE).body)

    assert reply.message.reasoning == exchange.expect.get("reasoning", "")
    kinds = [block["type"] for block in again["messages"][1]["content"]] if len(again["messages"]) > 1 else []
    signatures = [len(b["signature"]) for b in again["messages"][1]["content"] if b["type"] == "thinking"]
    assert signatures == exchange.expect.get("signature_lengths", [])
    assert set(exchange.expect["block_types"]) - {"text"} <= set(kinds)
