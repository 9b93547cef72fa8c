from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given, strategies as st

from officellm import (
    FaultError,
    Request,
    Usage,
    User,
)
from officellm.testing.exchanges import play_stream
from officellm_builtin.providers.openai_compat import OpenAICompat

from .openai_chat import BASE, CALL, REQUEST, STREAM, delta, streamed, whole

ARGUMENTS = {
    "empty": ("", {}),
    "blank": (" \n", {}),
    "null": (None, {}),
    "the word null": ("null", {}),
    "an object": ({"x": 1}, {"x": 1}),
    "a fragment": ('{"x":"on', None),
    "glued": ('{"x":1}{"x":2}', None),
    "a list": ([1], None),
}


@pytest.mark.parametrize(("arguments", "wanted"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments_are_an_object_or_a_problem_and_go_back_as_valid_json(arguments, wanted):
    reply = whole({"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": arguments}}]}, "tool_calls")
    [call] = reply.message.calls

    assert call.arguments == wanted
    assert (call.problem is None) == (wanted is not None)
    sent = json.loads(OpenAICompat().build(Request(model="m", messages=[User("u"), reply.message]), BASE).body)
    assert json.loads(sent["messages"][1]["tool_calls"][0]["function"]["arguments"]) == (wanted or {})


STOPS = {
    "stop": ({"content": "x"}, "stop", "stop"),
    "no reason": ({"content": "x"}, None, "stop"),
    "an empty reason": ({"content": "x"}, "", "stop"),
    "eos": ({"content": "x"}, "eos", "stop"),
    "cut": ({"content": "x"}, "length", "length"),
    "cut before anything was said": ({"content": None, "reasoning": "hm"}, "length", "length"),
    "cut in a call": ({"tool_calls": CALL}, "length", "length"),
    "calls": ({"tool_calls": CALL}, "tool_calls", "tool_calls"),
    "calls, says stop": ({"content": "x", "tool_calls": CALL}, "stop", "tool_calls"),
    "calls, says nothing": ({"tool_calls": CALL}, None, "tool_calls"),
    "says calls, has none": ({"content": "x", "tool_calls": []}, "tool_calls", "stop"),
    "filtered": ({"content": None}, "content_filter", "refused"),
    "refusal": ({"content": None, "refusal": "I will not."}, "stop", "refused"),
    "error with text": ({"content": "x"}, "error", "error"),
    "unknown": ({"content": "x"}, "banana", "other"),
    "not even text": ({"content": "x"}, 7, "other"),
}


@pytest.mark.parametrize(("message", "finish", "stop"), STOPS.values(), ids=STOPS)
def test_the_stop_is_honest(message, finish, stop):
    reply = whole(message, finish)

    assert reply.stop == stop
    assert reply.raw_stop == (finish if isinstance(finish, str) else None)
    assert reply.refusal == message.get("refusal")


@pytest.mark.parametrize("finish", ["error", "insufficient_system_resource"])
def test_an_error_without_content_is_a_fault_that_is_retried(finish):
    for attempt in (lambda: whole({"content": ""}, finish), lambda: streamed(delta(finish, content=""))):
        with pytest.raises(FaultError) as caught:
            attempt()
        assert caught.value.fault.retryable


ERRORS = {
    "a gateway's error": ({"error": {"code": 502, "message": "bad gateway"}, "choices": None}, 502, True),
    "no choices": ({"error": {"code": 429, "message": "slow"}}, 429, True),
    "beside choices": (
        {"error": {"code": 400, "message": "no"}, "choices": [{"index": 0, "delta": {"content": ""}}]},
        400,
        False,
    ),
    "inside the choice": (
        {"choices": [{"index": 0, "error": {"code": 502, "message": "x"}, "finish_reason": "error"}]},
        502,
        True,
    ),
    "text": ({"error": "overloaded"}, 200, True),
    "another shape": ({"object": "error", "message": "no", "code": 400}, 400, False),
    "a list": ([{"error": {"code": 503, "message": "x"}}], 503, True),
}


@pytest.mark.parametrize(("body", "status", "retryable"), ERRORS.values(), ids=ERRORS)
def test_an_error_inside_a_success_is_a_fault_and_never_an_answer(body, status, retryable):
    for attempt in (
        lambda: OpenAICompat().parse(json.dumps(body).encode(), REQUEST),
        lambda: streamed(delta(content="par"), body, delta("stop")),
    ):
        with pytest.raises(FaultError) as caught:
            attempt()
        assert (caught.value.fault.status, caught.value.fault.retryable) == (status, retryable)


def test_an_error_event_is_a_fault():
    failed = {"error": {"message": "Tool call validation failed", "code": "tool_use_failed", "status_code": 400}}

    with pytest.raises(FaultError) as caught:
        play_stream(OpenAICompat(), b"event: error\ndata: " + json.dumps(failed).encode() + b"\n\n", STREAM)

    assert (caught.value.fault.kind, caught.value.fault.status) == ("bad_call", 400)


MALFORMED = {
    "empty": b"",
    "html": b"<html></html>",
    "cut": b'{"choices": [',
    "a number": b"7",
    "no choices": b"{}",
    "choices null": b'{"choices": null}',
    "choices empty": b'{"choices": []}',
    "a choice of another type": b'{"choices": ["x"]}',
    "no message": b'{"choices": [{"index": 0}]}',
    "endless nesting": b"[" * 100_000,
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_a_body_of_another_shape_is_a_fault_that_is_retried(body):
    with pytest.raises(FaultError) as caught:
        OpenAICompat().parse(body, REQUEST)

    assert (caught.value.fault.kind, caught.value.fault.retryable) == ("malformed", True)


def test_spaces_that_kept_the_connection_alive_are_no_matter():
    body = b"\n \n\n" + json.dumps({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}).encode()

    assert OpenAICompat().parse(body, REQUEST).message.text == "x"


USAGES = {
    "plain": ({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}, Usage(3, 2, requests=1)),
    "details": (
        {
            "prompt_tokens": 9,
            "completion_tokens": 8,
            "prompt_tokens_details": {"cached_tokens": 4},
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
        Usage(9, 8, 4, 5, requests=1),
    ),
    "deepseek": (
        {"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 6, "prompt_tokens_details": None},
        Usage(9, 1, 6, requests=1),
    ),
    "hidden reasoning": (
        {"prompt_tokens": 35, "completion_tokens": 12, "total_tokens": 109},
        Usage(35, 74, 0, 62, requests=1),
    ),
    "more cached than sent": (
        {"prompt_tokens": 3, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 5}},
        Usage(3, 1, 3, requests=1),
    ),
    "nulls": ({"prompt_tokens": None, "completion_tokens": None}, Usage(requests=1, complete=False)),
    "half": ({"prompt_tokens": 3}, Usage(3, requests=1, complete=False)),
    "nonsense": ({"prompt_tokens": "3", "completion_tokens": True}, Usage(requests=1, complete=False)),
    "none": (None, Usage(requests=1, complete=False)),
}


@pytest.mark.parametrize(("raw", "usage"), USAGES.values(), ids=USAGES)
def test_usage_is_normalised_and_its_absence_is_not_zero(raw, usage):
    for reply in (
        whole({"content": "x"}, usage=raw),
        streamed(delta("stop", content="x"), {"choices": [], "usage": raw}),
    ):
        assert reply.usage == usage
        assert reply.raw_usage == raw


def test_the_last_cumulative_usage_counts_wherever_it_stands():
    first = {**delta(content="x"), "usage": {"prompt_tokens": 3, "completion_tokens": 1}}
    last = {**delta("stop"), "x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 2}}}

    assert streamed(first, last).usage == Usage(3, 2, requests=1)


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
KEYS = ["choices", "delta", "message", "content", "tool_calls", "function", "name", "arguments", "id", "index", "usage"]
KEYS += ["finish_reason", "reasoning_details", "type", "text", "thinking", "prompt_tokens", "function_call", "x_groq"]
ANY = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner))
CHUNK = st.builds(lambda fields, finish: delta(finish, **fields), st.dictionaries(st.sampled_from(KEYS), ANY), ANY)


@given(chunks=st.lists(CHUNK | ANY, max_size=4))
def test_no_chunk_of_any_shape_raises_anything_but_a_fault(chunks):
    with contextlib.suppress(FaultError):
        assert streamed(*chunks).usage.requests == 1


@given(message=ANY, finish=ANY)
def test_no_body_of_any_shape_raises_anything_but_a_fault(message, finish):
    with contextlib.suppress(FaultError):
        assert whole(message, finish).usage.requests == 1
