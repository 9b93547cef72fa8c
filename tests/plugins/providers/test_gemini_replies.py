"""What the Gemini wire format reads, whole or streamed, and what of it goes back."""

from __future__ import annotations

import json

import pytest

from officellm import (
    Assistant,
    Request,
    StreamEvent,
    TextDelta,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    User,
    unique_calls,
)

from .gemini_samples import (
    BASE,
    CALLS,
    DUMMY,
    MODEL,
    TEXTS,
    USAGE,
    WIRE,
    body,
    parsed,
    request,
    response,
    streamed,
)
from .recordings import each, exchanges, read
from .search_tool import TOOL


@pytest.mark.parametrize("parts", [CALLS, TEXTS, [{"executableCode": {"code": "1"}}, {"text": "1"}], []])
def test_a_stream_and_a_whole_reply_are_the_same_however_the_parts_are_spread(parts):
    apart = [response([part], None, usageMetadata={"promptTokenCount": 100}) for part in parts]

    assert streamed(*apart, response([])) == parsed(response(parts)) == parsed(*apart, response([]))


def test_signatures_are_sent_back_on_their_parts_in_their_place():
    reply = parsed(response(CALLS))
    named = tuple(
        ToolCall(c.id or f"made_{n}", c.name, c.arguments, c.raw, None, c.extra)
        for n, c in enumerate(reply.message.calls)
    )
    message = Assistant("", named, "", reply.message.native, reply.message.origin)
    results = [ToolResult(c.id, c.name, "found") for c in named]

    sent = body(User("go"), message, *results, tools=[TOOL])

    assert sent["contents"][1]["parts"] == [CALLS[1], CALLS[2], {"functionCall": {"name": "search", "args": {}}}]
    assert [part["functionResponse"].get("id") for part in sent["contents"][2]["parts"]] == ["srv1", None, None]
    text = body(User("go"), parsed(response(TEXTS)).message, User("on"))
    assert text["contents"][1]["parts"] == [{"text": "Hello"}, {"text": "", "thoughtSignature": "c2ln"}, {"text": "!"}]


def test_the_servers_id_goes_back_to_another_model_of_the_format_and_its_signature_does_not():
    reply = parsed(response(CALLS[1:2]), model=MODEL)
    result = ToolResult("srv1", "search", "found")

    sent = body(User("go"), reply.message, result, model="gemini-3-pro-preview")

    assert sent["contents"][1]["parts"][0]["thoughtSignature"] == DUMMY
    assert sent["contents"][1]["parts"][0]["functionCall"]["id"] == "srv1"
    assert sent["contents"][2]["parts"][0]["functionResponse"]["id"] == "srv1"


def test_an_id_that_the_server_gave_to_two_calls_goes_back_with_neither():
    ids = ("srv1", "same", "same")
    reply = parsed(response([{"functionCall": {"id": id, "name": "search", "args": {"q": id}}} for id in ids]))
    message = unique_calls(reply.message, [User("go")])
    results = [ToolResult(made.id, made.name, f"found {place}") for place, made in enumerate(message.calls)]

    sent = body(User("go"), message, *results, tools=[TOOL])

    assert [part["functionCall"].get("id") for part in sent["contents"][1]["parts"]] == ["srv1", None, None]
    answers = [part["functionResponse"] for part in sent["contents"][2]["parts"]]
    assert [(one.get("id"), one["response"]["result"]) for one in answers] == [
        ("srv1", "found 0"),
        (None, "found 1"),
        (None, "found 2"),
    ]


def test_thoughts_are_reasoning_and_not_text():
    reply = parsed(response([{"text": "hm", "thought": True}, {"text": "yes"}]))

    assert (reply.message.reasoning, reply.message.text) == ("hm", "yes")


def test_a_missing_id_stays_empty_and_missing_arguments_are_none():
    first, second, third = parsed(response(CALLS)).message.calls

    assert (first.id, first.extra, first.arguments) == ("srv1", {"id": "srv1"}, {"q": "x"})
    assert (second.id, second.extra) == ("", None)
    assert (third.arguments, third.problem) == ({}, None)


@pytest.mark.parametrize("arguments", ['{"q":', [1], 7])
def test_arguments_that_are_no_object_are_a_problem(arguments):
    (made,) = parsed(response([{"functionCall": {"name": "search", "args": arguments}}])).message.calls

    assert made.arguments is None
    assert made.problem


def test_a_name_that_had_to_change_comes_back_as_the_tools_own():
    tool = ToolSpec("board create!", "", {})
    sent = body(tools=[tool])["tools"][0]["functionDeclarations"][0]["name"]
    answer = response([{"functionCall": {"name": sent}}])

    assert sent != tool.name
    assert parsed(answer, tools=(tool,)).message.calls[0].name == tool.name
    assert streamed(answer, tools=(tool,)).message.calls[0].name == tool.name


@pytest.mark.parametrize(
    ("raw", "stop"),
    [
        ("STOP", "stop"),
        (1, "stop"),
        (None, "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "refused"),
        ("PROHIBITED_CONTENT", "refused"),
        ("MODEL_ARMOR", "refused"),
        ("IMAGE_SAFETY", "refused"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("MISSING_THOUGHT_SIGNATURE", "error"),
        ("BRAND_NEW", "other"),
        (99, "other"),
    ],
)
def test_finish_reasons_have_neutral_words_and_content_may_be_missing(raw, stop):
    reply = parsed(response(None, raw))

    assert (reply.stop, reply.raw_stop) == (stop, None if raw is None else str(raw))
    assert (reply.refusal is None) == (stop != "refused")
    assert reply.usage.output == 25


@pytest.mark.parametrize(
    ("raw", "stop"), [("STOP", "tool_calls"), ("UNEXPECTED_TOOL_CALL", "tool_calls"), ("MAX_TOKENS", "length")]
)
def test_a_call_counts_because_it_is_there(raw, stop):
    reply = parsed(response([{"functionCall": {"name": "unknown"}}], raw))

    assert reply.stop == stop
    assert [made.name for made in reply.message.calls] == ["unknown"]


def test_a_blocked_prompt_is_a_refusal_with_its_usage():
    blocked = {"promptFeedback": {"blockReason": "MODEL_ARMOR", "blockReasonMessage": "No."}, "usageMetadata": USAGE}

    for reply in (parsed(blocked), streamed(blocked)):
        assert (reply.stop, reply.raw_stop, reply.refusal) == ("refused", "MODEL_ARMOR", "No.")
        assert reply.usage.input == 103


def test_thoughts_and_tool_prompts_are_added_to_what_they_belong_to():
    usage = parsed(response([])).usage

    assert usage == Usage(input=103, output=25, cached=40, reasoning=20, requests=1)
    assert usage.total == USAGE["totalTokenCount"]
    assert parsed(response([], usageMetadata=None)).usage == Usage(requests=1, complete=False)


def test_deltas_show_text_as_it_comes():
    parser = WIRE.stream_parser(request())
    deltas = [delta for part in TEXTS for delta in parser.feed(StreamEvent(("", json.dumps(response([part])))))]

    assert deltas == [TextDelta("Hel"), TextDelta("lo"), TextDelta("!")]


@each([e for e in exchanges("gemini") if "text" in e.expect])
def test_a_recorded_reply_keeps_its_reasoning_and_goes_back_with_its_signatures(exchange):
    reply = read(WIRE, exchange)
    history = [User("go"), reply.message, *(ToolResult(call.id, call.name, "x") for call in reply.message.calls)]
    again = WIRE.build(Request(model=exchange.neutral.model, messages=history), BASE).body.decode()

    assert reply.message.reasoning == exchange.expect.get("reasoning", "")
    assert reply.usage.total == exchange.expect["usage"]["total"]
    if exchange.neutral.model == "m":  # the model stands in the path, so history is this model's own
        assert again.count("thoughtSignature") == exchange.expect.get("n_thought_signatures", 0)
