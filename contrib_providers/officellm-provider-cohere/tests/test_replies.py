"""What Cohere's replies mean, and what of them goes back to it."""

from __future__ import annotations

import json

import pytest
from officellm_provider_cohere.wire import Cohere

from officellm import FaultError, ReasoningDelta, Request, StreamEvent, TextDelta, ToolSpec, User

REQUEST = Request(model="command-a", messages=(User("Hi"),))
THINKING = {"type": "thinking", "thinking": "Six, or seven?"}
ANSWER = {"type": "text", "text": "Six."}


def parsed(message, finish="COMPLETE", request=REQUEST, **fields):
    body = {"id": "c1", "message": {"role": "assistant", **message}, "finish_reason": finish, **fields}
    return Cohere().parse(json.dumps(body).encode(), request)


def parser_after(*events):
    parser = Cohere().stream_parser(REQUEST)
    shown = [delta for event in events for delta in parser.feed(StreamEvent(("", json.dumps(event))))]
    return parser, shown


def event(kind, message=None, index=0, **delta):
    return {"type": kind, "index": index, "delta": {"message": message or {}, **delta}}


END = event("message-end", finish_reason="TOOL_CALL", usage={"tokens": {"input_tokens": 9.0, "output_tokens": 2.0}})


def call(id="search_1", name="search", arguments='{"q":"x"}'):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def sent_back(reply, model="command-a"):
    request = Request(model=model, messages=(User("Hi"), reply.message, User("Go on")))
    return json.loads(Cohere().build(request, "https://api.cohere.com").body)["messages"][1]


def test_a_plan_and_thoughts_are_reasoning_and_the_answer_is_text():
    assert parsed({"content": [THINKING, ANSWER]}).message.reasoning == "Six, or seven?"
    assert parsed({"tool_plan": "I will look.", "tool_calls": [call()]}).message.reasoning == "I will look."
    assert parsed({"content": [THINKING, ANSWER]}).message.text == "Six."


def test_a_plan_goes_back_to_the_model_that_made_it_and_to_no_other():
    reply = parsed({"tool_plan": "I will look.", "tool_calls": [call()]}, "TOOL_CALL")

    assert sent_back(reply)["tool_plan"] == "I will look."
    assert "tool_plan" not in sent_back(reply, "command-r")
    assert sent_back(reply, "command-r")["tool_calls"] == [call()]


def test_thoughts_go_back_as_they_came_to_the_model_that_had_them_and_to_no_other():
    reply = parsed({"content": [THINKING, ANSWER]})

    assert sent_back(reply) == {"role": "assistant", "content": [THINKING, ANSWER]}
    assert sent_back(reply, "command-r") == {"role": "assistant", "content": "Six."}


def test_a_streamed_reply_goes_back_like_a_whole_one():
    parser, shown = parser_after(
        event("message-start", {"content": [], "tool_calls": []}),
        event("content-start", {"content": {"type": "thinking", "thinking": ""}}),
        event("content-delta", {"content": {"thinking": "Six, "}}),
        event("content-delta", {"content": {"thinking": "or seven?"}}),
        event("content-end"),
        event("content-start", {"content": {"type": "text", "text": ""}}, 1),
        event("content-delta", {"content": {"text": "Six."}}, 1),
        event("tool-plan-delta", {"tool_plan": "I will look."}),
        event("tool-call-start", {"tool_calls": call(arguments="")}),
        event("tool-call-delta", {"tool_calls": {"function": {"arguments": '{"q": "x"}'}}}),
        event("tool-call-end"),
        END,
    )
    whole = {"content": [THINKING, ANSWER], "tool_plan": "I will look.", "tool_calls": [call()]}

    assert sent_back(parser.finish()) == sent_back(parsed(whole, "TOOL_CALL"))
    assert [delta for delta in shown if isinstance(delta, (TextDelta, ReasoningDelta))] == [
        ReasoningDelta("Six, "),
        ReasoningDelta("or seven?"),
        TextDelta("Six."),
        ReasoningDelta("I will look."),
    ]


def test_calls_that_share_an_index_are_still_two_calls():
    start = [
        event("tool-call-start", {"tool_calls": call(f"search_{n}", arguments=json.dumps({"n": n}))}) for n in (1, 2)
    ]

    parser, _ = parser_after(*start, END)

    assert [one.arguments for one in parser.finish().message.calls] == [{"n": 1}, {"n": 2}]


def test_a_call_in_a_list_is_read_like_one_in_an_object():
    parser, _ = parser_after(event("tool-call-start", {"tool_calls": [call()]}), END)

    assert parser.finish().message.calls[0].arguments == {"q": "x"}


def test_arguments_that_were_cut_are_a_problem_and_no_call_that_runs():
    (cut,) = parsed({"tool_calls": [call(arguments='{"q": ')]}, "MAX_TOKENS").message.calls

    assert (cut.arguments, cut.raw) == (None, '{"q": ')
    assert cut.problem


def test_a_tool_with_an_illegal_name_comes_back_under_its_own():
    tool = ToolSpec("board.create", "", {})
    request = Request(model="m", messages=(User("Hi"),), tools=[tool])
    offered = json.loads(Cohere().build(request, "https://api.cohere.com").body)["tools"][0]["function"]["name"]

    assert parsed({"tool_calls": [call(name=offered)]}, request=request).message.calls[0].name == "board.create"


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("COMPLETE", "stop"),
        ("STOP_SEQUENCE", "stop"),
        ("MAX_TOKENS", "length"),
        ("TOOL_CALL", "stop"),
        ("ERROR_TOXIC", "refused"),
        ("ERROR", "error"),
        ("TIMEOUT", "error"),
        ("NEW", "other"),
    ],
)
def test_a_finish_reason_has_its_neutral_stop(finish, stop):
    reply = parsed({"content": [ANSWER]}, finish)

    assert (reply.stop, reply.raw_stop) == (stop, finish)


def test_calls_count_whatever_the_finish_reason_says():
    assert parsed({"tool_calls": [call()]}).stop == "tool_calls"


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (
            {
                "billed_units": {"input_tokens": 98.0, "output_tokens": 35.0},
                "tokens": {"input_tokens": 1508.0, "output_tokens": 67.0, "reasoning_tokens": 28.0},
                "cached_tokens": 1472.0,
            },
            (1508, 67, 1472, 28, True),
        ),
        ({"billed_units": {"input_tokens": 98, "output_tokens": 35}}, (98, 35, 0, 0, True)),
        ({"tokens": {"input_tokens": 9}}, (9, 0, 0, 0, False)),
        ({"tokens": {"input_tokens": "9", "output_tokens": None}}, (0, 0, 0, 0, False)),
        (None, (0, 0, 0, 0, False)),
    ],
    ids=["both", "billed-only", "half", "nonsense", "none"],
)
def test_usage_is_what_ran_and_not_what_is_billed(usage, counted):
    got = parsed({"content": [ANSWER]}, usage=usage).usage

    assert (got.input, got.output, got.cached, got.reasoning, got.complete) == counted


@pytest.mark.parametrize("content", ["Six.", [ANSWER, 7, None]], ids=["text", "odd-parts"])
def test_content_of_another_shape_is_read_as_far_as_it_can_be(content):
    assert parsed({"content": content}).message.text == "Six."


def test_a_stream_without_its_end_is_cut_short():
    parser, _ = parser_after(event("content-delta", {"content": {"text": "Low"}}))

    with pytest.raises(FaultError) as caught:
        parser.finish()

    assert (caught.value.fault.kind, caught.value.fault.retryable) == ("network", True)


def test_unknown_events_are_passed_over():
    parser, shown = parser_after({"type": "debug", "prompt": "x"}, {"type": "citation-start", "delta": None}, END)

    assert shown == []
    assert parser.finish().message.text == ""
