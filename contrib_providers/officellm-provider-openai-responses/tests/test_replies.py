"""What a response means, whole or streamed, with all that servers do differently."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from officellm import CallDelta, Fault, FaultError, ReasoningDelta, Reply, Request, TextDelta, ToolSpec, loads

from .samples import (
    MODEL,
    USAGE,
    WIRE,
    function_call,
    message,
    read_stream,
    reasoning,
    reply_to,
    response,
    sse,
    streamed,
    whole,
)

REQUEST = Request(model=MODEL, messages=(), tools=[ToolSpec("files.read", "", {})], stream=True)


def fault_of(body: bytes, *, stream: bool) -> Any:
    def read() -> object:
        return read_stream(body, REQUEST) if stream else WIRE.parse(body, REQUEST)

    with pytest.raises(FaultError) as caught:
        read()
    return caught.value.fault


STOPS = {
    "done": ({}, [message("hi")], "stop"),
    "gateway": ({"status": "complete"}, [message("hi")], "stop"),
    "without-a-status": ({"status": None}, [message("hi")], "stop"),
    "calls": ({}, [function_call("c", "f")], "tool_calls"),
    "cut": ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, [message("h")], "length"),
    "cut-with-calls": (
        {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
        [function_call("c", "f", '{"a":')],
        "length",
    ),
    "filtered": ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, [], "refused"),
    "steered": ({"status": "incomplete", "incomplete_details": {"reason": "steered"}}, [], "other"),
    "incomplete-without-a-reason": ({"status": "incomplete", "incomplete_details": None}, [], "other"),
    "queued": ({"status": "queued"}, [], "pause"),
    "unknown": ({"status": "resting"}, [message("hi")], "other"),
}


@pytest.mark.parametrize(("fields", "output", "stop"), STOPS.values(), ids=STOPS)
def test_a_status_becomes_a_stop(fields: dict[str, Any], output: list[Any], stop: str) -> None:
    reply = reply_to(*output, **fields)

    assert (reply.stop, reply.raw_stop) == (stop, fields.get("status", "completed"))


def test_a_refusal_is_no_answer() -> None:
    refused = message("", content=[{"type": "refusal", "refusal": "I cannot help with that."}])

    for reply in (reply_to(refused), read_stream(sse(*streamed(refused)), REQUEST)[1]):
        assert (reply.stop, reply.refusal, reply.message.text) == ("refused", "I cannot help with that.", "")


CUT_CALLS = {
    "mid-json": ('{"a":', "completed"),
    "before-the-first": ("", "incomplete"),
    "two-values": ('{"a":1}{"a":2}', "completed"),
    "contradiction": ('{"a":1,"a":2}', "completed"),
    "not-an-object": ("[1]", "completed"),
}


@pytest.mark.parametrize(("arguments", "status"), CUT_CALLS.values(), ids=CUT_CALLS)
def test_arguments_that_are_none_are_a_problem_and_never_a_guess(arguments: str, status: str) -> None:
    [call] = reply_to(function_call("c", "f", arguments, status=status)).message.calls

    assert call.arguments is None
    assert call.problem
    assert call.raw == arguments


@pytest.mark.parametrize("arguments", ["", None, "null", "{}", {}], ids=["empty", "none", "null", "object", "mapping"])
def test_no_arguments_are_an_empty_object(arguments: Any) -> None:
    [call] = reply_to(function_call("c", "f", arguments)).message.calls

    assert (call.arguments, call.problem) == ({}, None)


def test_aliases_of_tools_lead_back_to_their_names() -> None:
    [tool] = loads(WIRE.build(REQUEST, "https://h").body)["tools"]

    deltas, reply = read_stream(sse(*streamed(function_call("c", tool["name"]))), REQUEST)

    assert [call.name for call in reply.message.calls] == ["files.read"]
    assert {delta.name for delta in deltas} == {"files.read"}


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (reasoning(summary=[{"text": "One."}, {"text": "Two."}]), "One.\n\nTwo."),
        (reasoning(content=[{"type": "reasoning_text", "text": "raw"}]), "raw"),
        (reasoning(content=[{"type": "reasoning_text", "text": "raw"}], summary=[{"text": "short"}]), "raw"),
        (reasoning(content=None, summary=None), ""),
    ],
    ids=["summary", "raw", "both", "neither"],
)
def test_reasoning_is_the_models_own_words_or_their_summary(item: dict[str, Any], text: str) -> None:
    assert reply_to(item, message("hi")).message.reasoning == text


USAGES = {
    "all": (USAGE, (20, 7, 16, 2, True)),
    "none": (None, (0, 0, 0, 0, False)),
    "no-details": ({"input_tokens": 3, "output_tokens": 2, "input_tokens_details": None}, (3, 2, 0, 0, True)),
    "half": ({"input_tokens": 3}, (3, 0, 0, 0, False)),
    "nonsense": ({"input_tokens": "3", "output_tokens": True}, (0, 0, 0, 0, False)),
    "too-many-parts": ({**USAGE, "output_tokens": 1, "input_tokens": 4}, (4, 1, 4, 1, True)),
}


@pytest.mark.parametrize(("raw", "counts"), USAGES.values(), ids=USAGES)
def test_counters_are_normalised(raw: Any, counts: tuple[Any, ...]) -> None:
    reply = reply_to(message("hi"), usage=raw)
    usage = reply.usage

    assert (usage.input, usage.output, usage.cached, usage.reasoning, usage.complete) == counts
    assert reply.raw_usage == raw


FAILURES = {
    "server": ({"code": "server_error", "message": "m"}, "server", True),
    "rate": ({"code": "rate_limit_exceeded", "message": "m"}, "rate_limit", True),
    "prompt": ({"code": "invalid_prompt", "message": "m"}, "refused", False),
    "image-policy": ({"code": "image_content_policy_violation", "message": "m"}, "refused", False),
    "image": ({"code": "image_too_large", "message": "m"}, "bad_request", False),
    "url": ({"code": "failed_to_download_image", "message": "m"}, "bad_request", False),
    "key": ({"code": "invalid_api_key", "message": "m"}, "auth", False),
    "overflow": ({"code": "context_length_exceeded", "message": "m"}, "context_overflow", False),
    "text": ("Internal trouble", "server", True),
    "nothing": (None, "server", True),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("error", "kind", "retryable"), FAILURES.values(), ids=FAILURES)
def test_a_failed_response_is_a_fault(error: Any, kind: str, retryable: bool, stream: bool) -> None:
    fields = {"status": "failed", "error": error}
    body = sse(*streamed(last="response.failed", **fields)) if stream else whole(**fields)

    fault = fault_of(body, stream=stream)

    assert (fault.kind, fault.retryable) == (kind, retryable)
    assert fault.message


IN_STREAM = {
    "flat": (b'data: {"type":"error","code":"server_error","message":"m","param":null}\n\n', "server"),
    "nested": (b'data: {"type":"error","error":{"type":"invalid_request_error","message":"m"}}\n\n', "bad_request"),
    "named-event": (b'event: error\ndata: {"code":"overloaded_error","message":"m"}\n\n', "overloaded"),
    "bare": (b'data: {"error":{"message":"m","code":529}}\n\n', "overloaded"),
    "text": (b'data: {"code":"invalid-argument","error":"m"}\n\n', "bad_request"),
    "list": (b'data: [{"error":{"code":503,"message":"m"}}]\n\n', "overloaded"),
}


@pytest.mark.parametrize(("body", "kind"), IN_STREAM.values(), ids=IN_STREAM)
def test_an_error_inside_a_stream_is_a_fault(body: bytes, kind: str) -> None:
    fault = fault_of(sse(*streamed(message("Low"))[:4]) + body, stream=True)

    assert (fault.kind, fault.message) == (kind, "m")


def test_a_body_that_only_says_something_is_a_fault_with_its_words() -> None:
    assert "not today" in fault_of(b'{"detail": "not today"}', stream=False).message


def test_a_stream_without_its_last_event_is_a_network_fault() -> None:
    events = streamed(message("Low tide"), usage=USAGE)

    for end in range(len(events)):
        fault = fault_of(sse(*events[:end]) + b"data: [DONE]\n\n", stream=True)
        assert (fault.kind, fault.retryable) == ("network", True)


def test_pieces_are_shown_in_order_and_padding_is_not() -> None:
    called = function_call("call_1", "f", '{"q":"tide"}')
    item = reasoning(summary=[{"text": "Look first."}])
    deltas, reply = read_stream(sse(*streamed(item, message("Let me look."), called)), REQUEST)

    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == "Let me look."
    assert "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta)) == "Look first."
    calls = [delta for delta in deltas if isinstance(delta, CallDelta)]
    assert "".join(delta.arguments for delta in calls) == '{"q":"tide"}'
    assert {(delta.index, delta.id, delta.name) for delta in calls} == {(0, "call_1", "f")}
    assert reply == reply_to(item, message("Let me look."), called)


def without(events: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    return [{key: value for key, value in event.items() if key not in names} for event in events]


def colliding(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**event, "output_index": 0} if "output_index" in event else event for event in events]


TWO_CALLS = (function_call("c1", "f", '{"a":1}', id="fc_1"), function_call("c2", "g", '{"b":2}', id="fc_2"))
KEYS = {
    "both": streamed(*TWO_CALLS),
    "no-index": without(streamed(*TWO_CALLS), "output_index"),
    "no-id": without(streamed(*TWO_CALLS), "item_id"),
    "one-index-for-all": colliding(streamed(*TWO_CALLS)),
}


@pytest.mark.parametrize("events", KEYS.values(), ids=KEYS)
def test_pieces_of_two_calls_are_told_apart(events: list[dict[str, Any]]) -> None:
    pieces = [event for event in events if event["type"].endswith(("added", "arguments.delta"))]
    order = [*events[:2], *sorted(pieces, key=lambda event: event["type"], reverse=True), events[-1]]
    deltas, reply = read_stream(sse(*order), REQUEST)

    shown = {id: "".join(delta.arguments for delta in deltas if delta.id == id) for id in ("c1", "c2")}
    assert shown == {"c1": '{"a":1}', "c2": '{"b":2}'}
    assert [(delta.index, delta.id) for delta in deltas][:2] == [(0, "c1"), (1, "c2")]
    assert reply.message.calls == reply_to(*TWO_CALLS).message.calls


def test_what_came_without_pieces_is_shown_whole() -> None:
    output = (message("Look."), function_call("c", "f", '{"a":1}'))
    events = [event for event in streamed(*output) if event["type"].endswith(("done", "completed"))]

    deltas, _ = read_stream(sse(*events), REQUEST)

    assert "".join(delta.arguments for delta in deltas if isinstance(delta, CallDelta)) == '{"a":1}'
    assert [delta.text for delta in deltas if isinstance(delta, TextDelta)] == ["Look."]


@pytest.mark.parametrize("last", [[], [None], [message("")], None], ids=["empty", "null", "no words", "missing"])
def test_items_stand_in_for_a_last_event_without_output(last: Any) -> None:
    output = (reasoning(), message("Look."), function_call("c", "f"))
    ending = {"type": "response.completed", "response": {**response(usage=USAGE), "output": last}}
    events = [*streamed(*output)[:-1], ending]

    assert read_stream(sse(*events), REQUEST)[1] == reply_to(*output, usage=USAGE)


def test_parts_of_reasoning_are_shown_apart() -> None:
    kind = "response.reasoning_summary_text.delta"
    events = [{"type": kind, "item_id": "rs_1", "summary_index": part, "delta": "One."} for part in (0, 0, 1)]

    deltas, _ = read_stream(sse(*events, *streamed()), REQUEST)

    assert [delta.text for delta in deltas] == ["One.", "One.", "\n\nOne."]


def test_comments_keep_alives_unknown_events_and_null_parts_do_not_matter() -> None:
    item = message("", content=[{"type": "output_text", "text": None}, {"type": "output_text", "text": "hi"}])
    events = sse(*streamed(message("hi"))[:3], {"type": "response.holiday", "error": None})
    last = sse({"type": "response.completed", "response": response(item)}, *streamed(message("late")))

    deltas, reply = read_stream(b": PROCESSING\n\ndata:\n\n" + events + last + b"data: [DONE]\n\n", REQUEST)

    assert (deltas, reply.message.text) == ([TextDelta("hi")], "hi")


KEYS_OF_ANY = st.sampled_from(
    ["type", "status", "output", "content", "text", "error", "code", "item", "delta", "summary", "usage"]
) | st.sampled_from(
    ["input_tokens", "arguments", "call_id", "response", "output_index", "item_id", "incomplete_details", "id", "name"]
)
WORDS = ["", "x", "error", "failed", "completed", "function_call", "message", "reasoning", "incomplete"]
JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS_OF_ANY, inner, max_size=5),
    max_leaves=25,
)
EVENTS = ["response.completed", "response.output_item.added", "response.output_item.done", "response.output_text.delta"]


def outcome(read: Callable[[], object]) -> object:
    """A reply, or the fault that was raised; anything else fails the test."""
    try:
        return read()
    except FaultError as error:
        return error.fault


@given(payload=JSON)
@example(payload={"output": [{"type": "message", "content": [1, None, {"text": 7}]}], "status": []})
@example(payload={"output": [{"type": "function_call", "call_id": {}, "name": [], "arguments": [1]}]})
def test_any_json_is_a_reply_or_a_fault(payload: Any) -> None:
    events = [{"type": kind, "response": payload, "item": payload, "delta": payload} for kind in EVENTS]
    bodies = [sse(event) + sse(*streamed()) for event in events]

    found = [outcome(lambda: WIRE.parse(json.dumps(payload).encode(), REQUEST))]
    found += [outcome(lambda body=body: read_stream(body, REQUEST)[1]) for body in bodies]  # type: ignore[misc]

    assert all(isinstance(one, (Fault, Reply)) for one in found)


@given(body=st.binary(max_size=60))
def test_any_bytes_are_a_fault(body: bytes) -> None:
    assert isinstance(outcome(lambda: WIRE.parse(body, REQUEST)), Fault)
    assert isinstance(outcome(lambda: read_stream(b"data: " + body + b"\n\n", REQUEST)), Fault)


@pytest.mark.parametrize(
    "listed",
    [{"data": [{"id": "a"}, {"id": 7}, None, {"id": "b"}]}, [{"id": "a"}, {"id": "b"}]],
    ids=["object", "list"],
)
def test_models_are_listed(listed: Any) -> None:
    assert WIRE.parse_models(json.dumps(listed).encode()) == ["a", "b"]
