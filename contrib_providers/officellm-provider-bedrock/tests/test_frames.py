"""The binary framing: cuts, errors of both kinds, broken frames, arbitrary bytes."""

from __future__ import annotations

import json
import struct
import sys
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


def fed(decoder, body, cut):
    """The events of a body that comes in pieces of `cut` bytes."""
    return [one for at in range(0, len(body), cut) for one in decoder.feed(body[at : at + cut])]


def sealed(head, payload, total=0, head_size=0):
    """A frame with right checksums whose lengths are off by so much."""
    prelude = struct.pack("!II", len(head) + len(payload) + 16 + total, len(head) + head_size)
    begun = prelude + struct.pack("!I", zlib.crc32(prelude)) + head + payload
    return begun + struct.pack("!I", zlib.crc32(begun))


def header(name, kind, value):
    return bytes([len(name)]) + name + bytes([kind]) + value


BROKEN = {
    "a wrong checksum of the lengths": b"\0\0\0\x10\0\0\0\0\0\0\0\1",
    "less than a frame": sealed(b"", b"", total=-1),
    "headers longer than the frame": sealed(b"", b"", head_size=1),
    "a payload without end": sealed(b"", b"", total=24 * 1024 * 1024 + 1)[:12],
    "headers without end": sealed(b"", b"", total=1 << 20, head_size=1 << 20)[:12],
    "a length beyond all reason": sealed(b"", b"", total=0xFFFFFF00)[:12],
    "a header that is cut in its name": sealed(b"\x05ab", b"{}"),
    "a header without a type": sealed(b"\x02ab", b""),
    "a header of unknown type": sealed(header(b"a", 10, b""), b"{}"),
    "a text longer than the headers": sealed(header(b"a", 7, b"\0\x09b"), b"{}" * 20),
    "a number longer than the headers": sealed(header(b"a", 5, b"\0"), b"{}" * 20),
    "a name that is no text": sealed(header(b"\xff", 0, b""), b"{}"),
    "a value that is no text": sealed(header(b"a", 7, b"\0\x01\xff"), b"{}"),
    "a header twice": sealed(header(b"a", 0, b"") * 2, b"{}"),
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("cut", [1, 1000], ids=["byte by byte", "at once"])
def test_a_broken_frame_is_a_fault_as_soon_as_it_is_seen(body, cut):
    with pytest.raises(FaultError, match="broken frame") as caught:
        fed(FrameDecoder(), body, cut)
    assert caught.value.fault.kind == "malformed"
    assert caught.value.fault.retryable


@pytest.mark.parametrize("place", range(0, 120, 7))
def test_one_wrong_bit_anywhere_is_noticed(place):
    body = bytearray(event("messageStop", stopReason="end_turn"))
    body[place] ^= 4

    with pytest.raises(FaultError, match="broken frame"):
        FrameDecoder().feed(bytes(body))


def test_headers_of_every_type_are_passed_over():
    values = {0: b"", 1: b"", 2: b"a", 3: b"aa", 4: b"aaaa", 5: b"a" * 8, 6: b"\0\x03abc", 8: b"a" * 8, 9: b"a" * 16}
    head = b"".join(header(b"h%d" % kind, kind, value) for kind, value in values.items())
    named = header(b":event-type", 7, b"\0\x03new")

    assert FrameDecoder().feed(sealed(head + named, b"{}") + sealed(named, b"[]")) == [("new", "{}"), ("new", "[]")]


@pytest.mark.parametrize("cut", [1, 3, 50, 10_000])
def test_how_the_frames_are_cut_makes_no_difference(cut):
    body = stream(delta(0, text="Low"), delta(0, text=" tide"), stop="end_turn", usage={"inputTokens": 1})
    events = fed(FrameDecoder(), body, cut)

    assert events == FrameDecoder().feed(body)
    assert [one.name for one in events][-2:] == ["messageStop", "metadata"]


def test_a_large_frame_in_small_pieces_is_put_together_once():
    body = event("contentBlockDelta", text="x" * 100_000)
    joined = 0

    def seen(frame, kind, function):
        nonlocal joined
        joined += kind == "c_call" and function.__name__ == "join"

    sys.setprofile(seen)
    try:
        events = fed(FrameDecoder(), body, 10)
    finally:
        sys.setprofile(None)
    assert len(events) == 1
    assert joined <= 3


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
