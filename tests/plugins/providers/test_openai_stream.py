from __future__ import annotations

import json

import pytest

from officellm import (
    CallDelta,
    FaultError,
    StreamEvent,
    Usage,
)
from officellm_builtin.providers.openai_compat import OpenAICompat

from .openai_chat import STREAM, calls_of, delta, piece, streamed, whole

# Calls in streams. Each row: the pieces, one a chunk, and the calls they come to.
A, B = ("a", "f", {"x": 1}), ("b", "g", {"y": 2})
FOLDS = {
    "as documented": (
        [piece(0, "a", "f", ""), piece(0, arguments='{"x"'), piece(0, arguments=":1}"), piece(1, "b", "g", '{"y":2}')],
        [A, B],
    ),
    "interleaved": (
        [piece(0, "a", "f", '{"x"'), piece(1, "b", "g", '{"y"'), piece(0, arguments=":1}"), piece(1, arguments=":2}")],
        [A, B],
    ),
    "id and name repeated with every piece": (
        [piece(0, "a", "f", '{"x"'), piece(0, "a", "f", ":1}"), piece(1, "b", "g", '{"y":2}')],
        [A, B],
    ),
    "the whole call twice": (
        [piece(0, "a", "f", ""), piece(0, "a", "f", '{"x":1}'), piece(0, "a", "f", '{"x":1}')],
        [A],
    ),
    "empty id and name later on": (
        [piece(0, "a", "f", '{"x"'), piece(0, "", "", ":1}"), piece(1, "b", "g", '{"y":2}')],
        [A, B],
    ),
    "every index is 0": (
        [piece(0, "a", "f", '{"x"'), piece(0, arguments=":1}"), piece(0, "b", "g", '{"y"'), piece(0, arguments=":2}")],
        [A, B],
    ),
    "every index is 0, arguments absent": (
        [piece(0, "a", "f", ""), piece(0, "b", "f", "")],
        [("a", "f", {}), ("b", "f", {})],
    ),
    "no index": ([piece(None, "a", "f", '{"x":1}'), piece(None, "b", "g", '{"y":2}')], [A, B]),
    "no index and no id": (
        [piece(None, None, "f", '{"x":1}'), piece(None, "", "f", '{"x":1}')],
        [("", "f", {"x": 1}), ("", "f", {"x": 1})],
    ),
    "no id, one index, other arguments": (
        [piece(0, "", "f", '{"x":1}'), piece(0, "", "f", '{"x":2}')],
        [("", "f", {"x": 1}), ("", "f", {"x": 2})],
    ),
    "one id for two calls": (
        [piece(0, "a", "f", '{"x":1}'), piece(1, "a", "f", '{"x":2}')],
        [A, ("a", "f", {"x": 2})],
    ),
    "one id and one index for two calls": (
        [piece(0, "a", "f", '{"x":1}'), piece(0, "a", "f", '{"x":2}')],
        [A, ("a", "f", {"x": 2})],
    ),
    "a new id with every piece": (
        [piece(0, "a", "f", ""), piece(0, "q", None, '{"x"'), piece(0, "r", None, ":1}")],
        [A],
    ),
    "indexes 1 and 3": (
        [piece(1, "a", "f", '{"x":1}'), piece(3, "b", "g", ""), piece(3, arguments='{"y":2}')],
        [A, B],
    ),
    "index 1 before 0": ([piece(1, "a", "f", '{"x":1}'), piece(0, "b", "g", '{"y":2}')], [A, B]),
    "arguments null": ([{"index": 0, "id": "a", "function": {"name": "f", "arguments": None}}], [("a", "f", {})]),
    "no arguments": ([piece(0, "a", "f")], [("a", "f", {})]),
    "arguments as an object": ([piece(0, "a", "f", {"x": 1})], [A]),
    "a closing summary": ([piece(0, "a", "f", '{"x":'), piece(0, arguments="1}"), piece(0, arguments='{"x": 1}')], [A]),
    "the name comes late": ([piece(0, "a", ""), piece(0, None, "f", '{"x":1}')], [A]),
    "no name at all": ([piece(0, "a", "", '{"x":1}')], [("a", "", {"x": 1})]),
    "a number as id": ([piece(0, 7, "f", "{}")], [("7", "f", {})]),
    "glued objects": ([piece(0, "a", "f", '{"x":1}'), piece(0, arguments='{"x":2}')], [("a", "f", '{"x":1}{"x":2}')]),
}


@pytest.mark.parametrize(("pieces", "calls"), FOLDS.values(), ids=FOLDS)
def test_pieces_of_calls_come_to_the_calls_that_were_meant(pieces, calls):
    one_a_chunk = streamed(*(delta(tool_calls=[each]) for each in pieces), delta("tool_calls"))
    all_in_one = streamed(delta("stop", tool_calls=pieces))

    assert calls_of(one_a_chunk) == calls
    assert calls_of(all_in_one) == calls
    assert one_a_chunk.stop == all_in_one.stop == "tool_calls"


@pytest.mark.parametrize("tool_calls", [None, [], [None], "x", [{}], [{"index": 0, "function": None}]])
def test_what_is_no_call_is_no_phantom(tool_calls):
    reply = streamed(delta(content="x", tool_calls=tool_calls), delta("stop"))

    assert (reply.message.calls, reply.message.text, reply.stop) == ((), "x", "stop")


def test_the_oldest_form_of_a_call_is_read():
    message = {"content": None, "function_call": {"name": "f", "arguments": '{"x":1}'}}
    pieces = [delta(function_call={"name": "f", "arguments": ""}), delta(function_call={"arguments": '{"x":1}'})]

    for reply in (whole(message, "function_call"), streamed(*pieces, delta("function_call"))):
        assert (calls_of(reply), reply.stop) == ([("", "f", {"x": 1})], "tool_calls")


def test_what_is_shown_of_a_call_names_its_position():
    parser = OpenAICompat().stream_parser(STREAM)

    shown = parser.feed(StreamEvent(("", json.dumps(delta(tool_calls=[piece(3, "a", "f", "{")])))))

    assert shown == [CallDelta(0, "a", "f", "{")]


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_stream_that_is_cut_is_never_an_answer(cut):
    chunks = [delta(role="assistant"), delta(content="a"), delta(content="b"), delta("stop")]

    with pytest.raises(FaultError) as caught:
        streamed(*chunks[:cut], done=False)

    assert (caught.value.fault.kind, caught.value.fault.retryable) == ("network", True)


def test_a_stream_may_end_without_its_mark_once_it_said_why_it_stopped():
    assert streamed(delta(content="a"), delta("stop"), done=False).message.text == "a"


def test_chunks_without_choices_and_deltas_are_read_over():
    reply = streamed(
        {"id": "", "model": "", "choices": [], "prompt_filter_results": []},
        {"id": "r", "model": "m1", "choices": None},
        {"choices": [{"index": 0, "delta": None, "finish_reason": None}]},
        delta(content="a"),
        {"choices": [{"index": 1, "delta": {"content": "another answer"}}]},
        delta("stop", content="b", annotations=[{"type": "url_citation"}]),
        delta("stop"),
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}},
    )

    assert (reply.message.text, reply.stop, reply.id, reply.model) == ("ab", "stop", "r", "m1")
    assert reply.usage == Usage(3, 2, requests=1)


def test_a_stream_without_any_choice_is_malformed():
    with pytest.raises(FaultError) as caught:
        streamed({"choices": [], "usage": {}})

    assert caught.value.fault.kind == "malformed"
