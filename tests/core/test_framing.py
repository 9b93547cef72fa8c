from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from officellm.errors import ConfigError
from officellm.framing import NdjsonDecoder, SseDecoder, decoder
from officellm.wire import FaultError


def read(reader, body: bytes, size: int = 0) -> list[tuple[str, str]]:
    size = size or len(body) or 1
    events = [event for start in range(0, len(body), size) for event in reader.feed(body[start : start + size])]
    return [tuple(event) for event in [*events, *reader.close()]]


SSE = {
    "line feeds": (b"data: a\n\ndata: b\n\n", [("", "a"), ("", "b")]),
    "carriage returns and line feeds": (b"data: a\r\n\r\ndata: b\r\n\r\n", [("", "a"), ("", "b")]),
    "carriage returns": (b"data: a\r\rdata: b\r\r", [("", "a"), ("", "b")]),
    "several data lines": (b"data: a\ndata: b\n\n", [("", "a\nb")]),
    "one space is dropped": (b"data:  a\ndata:b\n\n", [("", " a\nb")]),
    "a data field without a colon": (b"data: a\ndata\ndata: b\n\n", [("", "a\n\nb")]),
    "comments and unknown fields": (b": OPENROUTER PROCESSING\n\nid: 7\nretry: 3\ndata: a\n\n", [("", "a")]),
    "named events": (b"event: error\ndata: a\n\ndata: b\n\n", [("error", "a"), ("", "b")]),
    "an event without data": (b"event: ping\n\ndata: \n\ndata: b\n\n", [("", "b")]),
    "a byte order mark": (b"\xef\xbb\xbfdata: a\n\n", [("", "a")]),
    "another field between": (b"event: e\nid: 7\ndata: a\n\n", [("e", "a")]),
    "the name between the data": (b"data: a\nevent: e\ndata: b\n\ndata: c\n\n", [("e", "a\nb"), ("", "c")]),
    "a comment between events": (b"event: e\ndata: a\n\n: c\n\ndata: b\n\n", [("e", "a"), ("", "b")]),
    "two names": (b"event: e\nevent: f\ndata: a\n\n", [("f", "a")]),
    "a field that ends like one": (b"xdata: a\n\nid: data: b\n\nxevent: e\ndata: c\n\n", [("", "c")]),
    "one line ended in each way": (b"event: e\rdata: a\r\ndata: b\n\r\n", [("e", "a\nb")]),
    "no blank line at the end": (b"data: a\n\ndata: [DONE]", [("", "a"), ("", "[DONE]")]),
    "characters of several bytes": ("data: é😀\u2028x\n\n".encode(), [("", "é😀\u2028x")]),
    "invalid bytes": (b"data: a\xff\xc3\n\n", [("", "a��")]),
    "nothing": (b"", []),
}


@pytest.mark.parametrize("size", [0, 1, 2, 7])
@pytest.mark.parametrize(("body", "events"), SSE.values(), ids=SSE)
def test_server_sent_events_are_cut_as_the_standard_says(body, events, size):
    assert read(SseDecoder(), body, size) == events


@given(
    body=st.lists(st.sampled_from([b"data: \xc3\xa9", b"\r", b"\n", b":x", b"event: e", b"data", b"\xff"])),
    size=st.integers(1, 9),
)
def test_how_the_bytes_are_cut_makes_no_difference(body, size):
    whole = b"".join(body)

    assert read(SseDecoder(), whole, size) == read(SseDecoder(), whole)
    assert read(NdjsonDecoder(), whole, size) == read(NdjsonDecoder(), whole)


def test_a_carriage_return_ends_its_line_at_once():
    assert SseDecoder().feed(b"data: a\r\r") == [("", "a")]


@pytest.mark.parametrize("size", [0, 1, 3])
def test_json_lines_are_events_without_a_name(size):
    assert read(NdjsonDecoder(), b'{"a":1}\n\r\n{"b":"\xc3\xa9"}\r\n{"c":3}', size) == [
        ("", '{"a":1}'),
        ("", '{"b":"é"}'),
        ("", '{"c":3}'),
    ]


@pytest.mark.parametrize("size", [0, 1, 64])
@pytest.mark.parametrize(
    ("reader", "body"),
    [
        pytest.param(SseDecoder, b"data: " + b"x" * 200, id="sse, one line without an end"),
        pytest.param(SseDecoder, b"data: xxxxxxxxxx\n" * 20, id="sse, many lines without an end"),
        pytest.param(SseDecoder, b"data: " + b"x" * 200 + b"\n\n", id="sse, one line with an end"),
        pytest.param(NdjsonDecoder, b"x" * 200, id="ndjson"),
    ],
)
def test_an_event_without_end_is_a_fault_and_not_a_full_memory(reader, body, size):
    with pytest.raises(FaultError) as caught:
        read(reader(limit=100), body, size)

    assert caught.value.fault.kind == "malformed"


def test_many_events_may_be_larger_than_one():
    assert len(read(SseDecoder(limit=100), b"data: 0123456789\n\n" * 50)) == 50


def test_a_framing_names_its_decoder():
    assert isinstance(decoder("sse"), SseDecoder)
    assert isinstance(decoder("ndjson"), NdjsonDecoder)
    with pytest.raises(ConfigError, match="'eventstream'"):
        decoder("eventstream")
