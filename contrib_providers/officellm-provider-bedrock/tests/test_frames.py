"""The binary framing: cuts, errors of both kinds, broken frames, arbitrary bytes."""

from __future__ import annotations

import json
import struct
import zlib

import pytest
from hypothesis import given, strategies as st
from officellm_provider_bedrock.converse import BedrockConverse
from officellm_provider_bedrock.frames import FrameDecoder
from officellm_provider_bedrock.invoke import AnthropicInvoke

from officellm import Fault, FaultError, Reply, Request
from officellm.testing import play_stream

from .eventstream import call_start, chunk, delta, error, event, exception, frame, stream

REQUEST = Request(model="anthropic.claude", messages=(), stream=True)
WIRES = [BedrockConverse(), AnthropicInvoke()]
each_wire = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)


def fault_of(wire, body):
    with pytest.raises(FaultError) as caught:
        play_stream(wire, body, REQUEST)
    return caught.value.fault


def test_a_frame_is_an_event_with_the_services_name():
    (one,) = FrameDecoder().feed(event("messageStop", stopReason="end_turn"))

    assert one.name == "messageStop"
    assert json.loads(one.data)["stopReason"] == "end_turn"


EXCEPTIONS = [
    ("throttlingException", "rate_limit", 429, True),
    ("serviceUnavailableException", "overloaded", 503, True),
    ("internalServerException", "server", 500, True),
    ("modelStreamErrorException", "server", 500, True),
    ("modelTimeoutException", "timeout", 408, True),
    ("validationException", "bad_request", 400, False),
    ("accessDeniedException", "auth", 403, False),
    ("somethingNewException", "server", 200, True),
]


@each_wire
@pytest.mark.parametrize(("kind", "fault_kind", "status", "retryable"), EXCEPTIONS)
def test_an_exception_frame_is_an_error_in_a_200(wire, kind, fault_kind, status, retryable):
    fault = fault_of(wire, exception(kind, "in the service's words"))

    assert (fault.kind, fault.status, fault.retryable) == (fault_kind, status, retryable)
    assert (fault.code, fault.message) == (kind, "in the service's words")


@each_wire
def test_an_error_frame_is_one_too(wire):
    fault = fault_of(wire, error("InternalError", "An internal server error occurred"))

    assert (fault.code, fault.message, fault.retryable) == ("InternalError", "An internal server error occurred", True)


@pytest.mark.parametrize("payload", [b"", b"not json", b"[1]", b"\xff", b'{"Message": "big"}'])
def test_an_exception_without_words_still_has_its_kind(payload):
    body = frame({":message-type": "exception", ":exception-type": "throttlingException"}, payload)

    fault = fault_of(BedrockConverse(), body)
    assert fault.kind == "rate_limit"
    assert fault.message


def test_events_before_a_broken_frame_count_in_one_chunk_too():
    broken = bytearray(event("messageStop", stopReason="end_turn"))
    broken[-1] ^= 1
    decoder = FrameDecoder()

    assert [one.name for one in decoder.feed(delta(0, text="Low") + bytes(broken))] == ["contentBlockDelta"]
    with pytest.raises(FaultError, match="broken frame"):
        decoder.feed(b"")
    with pytest.raises(FaultError, match="broken frame"):
        decoder.close()


@each_wire
@given(body=st.binary(max_size=200))
def test_arbitrary_bytes_are_a_fault(wire, body):
    assert fault_of(wire, body).retryable


@each_wire
@given(
    head=st.binary(max_size=40),
    payload=st.binary(max_size=40),
    sizes=st.tuples(st.integers(-20, 20), st.integers(-20, 20)),
)
def test_frames_with_right_sums_and_wrong_contents_are_a_fault(wire, head, payload, sizes):
    lengths = [max(0, len(head) + len(payload) + 16 + sizes[0]), max(0, len(head) + sizes[1])]
    prelude = struct.pack("!II", *lengths)
    begun = prelude + struct.pack("!I", zlib.crc32(prelude)) + head + payload

    assert fault_of(wire, begun + struct.pack("!I", zlib.crc32(begun))).retryable


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = ["messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata", "new"]
KEYS = [
    "contentBlockIndex",
    "delta",
    "start",
    "stopReason",
    "usage",
    "text",
    "toolUse",
    "toolResult",
    "reasoningContent",
]
KEYS += ["input", "toolUseId", "name", "signature", "redactedContent", "citation", "type"]
FIELDS = st.recursive(
    JSON, lambda inner: st.dictionaries(st.sampled_from(KEYS), inner, max_size=4), max_leaves=12
).filter(lambda value: isinstance(value, dict))


def made_of(read, *arguments):
    """What comes of it: a reply, or the fault that it is."""
    try:
        return read(*arguments)
    except FaultError as error:
        return error.fault


@given(events=st.lists(st.tuples(st.sampled_from(NAMES), FIELDS), max_size=6))
def test_events_of_any_shape_become_a_reply_or_a_fault(events):
    frames = [*(event(name, **fields) for name, fields in events), event("messageStop", stopReason="end_turn")]

    assert isinstance(made_of(play_stream, BedrockConverse(), b"".join(frames), REQUEST), Reply | Fault)


@given(fields=FIELDS)
def test_a_whole_body_of_any_shape_becomes_a_reply_or_a_fault(fields):
    body = json.dumps({"output": {"message": {"content": [fields, fields.get("delta")]}}, **fields}).encode()

    assert isinstance(made_of(BedrockConverse().parse, body, REQUEST), Reply | Fault)


@given(fields=FIELDS)
def test_a_chunk_of_any_shape_becomes_a_reply_or_a_fault(fields):
    assert isinstance(made_of(play_stream, AnthropicInvoke(), chunk(fields), REQUEST), Reply | Fault)


def test_a_stream_without_its_stop_is_cut_short():
    whole = [event("messageStart", role="assistant"), delta(0, text="Low"), call_start(1, "a", "search")]

    assert fault_of(BedrockConverse(), b"".join(whole)).kind == "network"


def test_a_reply_cut_behind_its_stop_is_whole_and_uncounted():
    reply = play_stream(BedrockConverse(), stream(delta(0, text="Low")) + event("metadata", usage={})[:20], REQUEST)

    assert reply.message.text == "Low"
    assert not reply.usage.complete
