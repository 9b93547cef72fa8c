"""What Mistral's replies mean, and what of them goes back to it."""

from __future__ import annotations

import json

import pytest
from officellm_provider_mistral.wire import Mistral

from officellm import FaultError, Request, StreamEvent, User

REQUEST = Request(model="magistral-medium", messages=(User("Hi"),))
THOUGHT = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "Six, or seven?"}], "closed": True},
    {"type": "text", "text": "Six."},
    {"type": "reference", "reference_ids": [1]},
]


def parsed(message, finish="stop", **fields):
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return Mistral().parse(json.dumps({"id": "m1", "choices": [choice], **fields}).encode(), REQUEST)


def streamed(*deltas, finish="stop"):
    parser = Mistral().stream_parser(REQUEST)
    for delta in deltas:
        chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        parser.feed(StreamEvent(("", json.dumps(chunk))))
    if finish:
        end = {"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": finish}]}
        parser.feed(StreamEvent(("", json.dumps(end))))
    return parser.finish()


def sent_back(reply, model="magistral-medium"):
    request = Request(model=model, messages=(User("Hi"), reply.message, User("Go on")))
    return json.loads(Mistral().build(request, "https://api.mistral.ai").body)["messages"][1]


def call(id, name="search", arguments='{"q": "x"}'):
    return {"id": id, "function": {"name": name, "arguments": arguments}}


def test_a_thought_is_reasoning_and_the_answer_is_text():
    message = parsed({"content": THOUGHT}).message

    assert (message.text, message.reasoning) == ("Six.", "Six, or seven?")
    assert message.origin == ("mistral", "magistral-medium")


def test_a_thought_goes_back_as_it_came_to_the_model_that_had_it():
    assert sent_back(parsed({"content": THOUGHT})) == {"role": "assistant", "content": THOUGHT}


def test_a_thought_does_not_go_to_another_model():
    assert sent_back(parsed({"content": THOUGHT}), "mistral-small") == {"role": "assistant", "content": "Six."}


def test_a_streamed_thought_goes_back_whole():
    reply = streamed(
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Six, "}]}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "or seven?"}]}]},
        {"content": "Six."},
    )

    assert sent_back(reply)["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Six, or seven?"}]},
        {"type": "text", "text": "Six."},
    ]


@pytest.mark.parametrize(
    ("finish", "stop"),
    [("stop", "stop"), ("length", "length"), ("model_length", "length"), ("error", "error"), ("new", "other")],
)
def test_a_finish_reason_has_its_neutral_stop(finish, stop):
    reply = parsed({"content": "Six"}, finish)

    assert (reply.stop, reply.raw_stop) == (stop, finish)


def test_a_model_that_gave_up_with_nothing_is_a_fault():
    with pytest.raises(FaultError) as caught:
        parsed({"content": ""}, "error")

    assert caught.value.fault.retryable


def test_whole_calls_without_index_are_one_call_each():
    reply = streamed({"tool_calls": [call("qDEcl0n92"), call("g6fVbXS8K")]}, finish="tool_calls")

    assert [one.id for one in reply.message.calls] == ["qDEcl0n92", "g6fVbXS8K"]


def test_calls_count_whatever_the_finish_reason_says():
    assert parsed({"content": None, "tool_calls": [call("qDEcl0n92")]}).stop == "tool_calls"


@pytest.mark.parametrize("read", [parsed, streamed], ids=["whole", "streamed"])
def test_the_id_null_of_older_models_is_no_id(read):
    # The same call twice: with a common id it would look like one that is repeated.
    reply = read({"tool_calls": [call("null"), call("null")]}, finish="tool_calls")

    assert [(one.id, one.arguments) for one in reply.message.calls] == [("", {"q": "x"})] * 2


def test_an_argument_of_null_in_words_stays():
    arguments = {"id": "null"}

    assert parsed({"tool_calls": [call("null", arguments=arguments)]}).message.calls[0].arguments == arguments


@pytest.mark.parametrize(
    "counted",
    [{"num_cached_tokens": 69}, {"prompt_tokens_details": {"cached_tokens": 69}}],
    ids=["beside", "in-the-details"],
)
def test_cached_tokens_are_read_wherever_they_stand(counted):
    usage = {"prompt_tokens": 70, "completion_tokens": 12, "total_tokens": 82, **counted}
    reply = parsed({"content": "Six"}, usage=usage)

    assert (reply.usage.input, reply.usage.output, reply.usage.cached) == (70, 12, 69)
    assert reply.raw_usage == usage


def test_a_stream_that_was_cut_is_a_fault():
    with pytest.raises(FaultError) as caught:
        streamed({"content": "Low"}, finish=None)

    assert (caught.value.fault.kind, caught.value.fault.retryable) == ("network", True)
