"""A stream of twice the length is twice the work. Work is counted, not timed: calls, and the texts that they search."""

from __future__ import annotations

import json
import sys

import pytest

from officellm import StreamDecoder, WireFormat
from officellm.framing import NdjsonDecoder, SseDecoder, decoder
from officellm_builtin.providers.anthropic import Anthropic
from officellm_builtin.providers.gemini import Gemini
from officellm_builtin.providers.openai_compat import OpenAICompat, OpenAICompatSettings

from .openai_chat import STREAM, delta, piece


def work(act) -> int:
    """Calls of functions, and the lengths of the texts whose methods they are."""
    done = 0

    def seen(frame, kind, function):
        nonlocal done
        if kind in ("call", "c_call"):
            holder = getattr(function, "__self__", None)
            done += 1 + (len(holder) if isinstance(holder, (str, bytes)) else 0)

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        act()
    finally:
        sys.setprofile(before)
    return done


def grows(act, size: int) -> float:
    """How much more work `act(2 * size)` is than `act(size)`."""
    act(size)  # caches are filled, modules are loaded
    return work(lambda: act(2 * size)) / work(lambda: act(size))


def call_piece(arguments, **more):
    return delta(tool_calls=[piece(0, arguments=arguments, **more)])


def anthropic_piece(**fields):
    return {"type": "content_block_delta", "index": 0, "delta": fields}


def anthropic_start(**block):
    start = {"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}}
    return [start, {"type": "content_block_start", "index": 0, "content_block": block}]


def gemini_piece(**part):
    return {"candidates": [{"content": {"parts": [part]}}], "usageMetadata": {"promptTokenCount": 1}}


OPENAI, TAGS = OpenAICompat(), OpenAICompat(OpenAICompatSettings(think_tags=True))
OPENAI_END = [delta("stop")]
OPENAI_CALL = [delta(tool_calls=[piece(0, "a", "f", '{"x":[')])]
ANTHROPIC_END = [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]
GEMINI_END = [{"candidates": [{"finishReason": "STOP"}]}]

# Each row: the format, how the reply begins, what comes again and again, how it ends.
STREAMS = {
    "openai, text": (OPENAI, [], delta(content="word "), OPENAI_END),
    "openai, text with tags": (TAGS, [], delta(content="<a> word <"), OPENAI_END),
    "openai, text in parts": (OPENAI, [], delta(content=[{"type": "text", "text": "word "}]), OPENAI_END),
    "openai, thoughts": (OPENAI, [], delta(reasoning="why ", reasoning_details=[{"text": "why "}]), OPENAI_END),
    "openai, arguments": (OPENAI, OPENAI_CALL, call_piece('"word", '), OPENAI_END),
    "openai, arguments that look whole": (OPENAI, OPENAI_CALL, call_piece('{"y":1}'), OPENAI_END),
    "openai, arguments with the name each time": (OPENAI, OPENAI_CALL, call_piece('{"y":1},', name="f"), OPENAI_END),
    "openai, arguments with a new id each time": (OPENAI, OPENAI_CALL, call_piece('{"y":1},', id="b"), OPENAI_END),
    "anthropic, text": (
        Anthropic(),
        anthropic_start(type="text", text=""),
        anthropic_piece(type="text_delta", text="word "),
        ANTHROPIC_END,
    ),
    "anthropic, arguments": (
        Anthropic(),
        anthropic_start(type="tool_use", id="a", name="f", input={}),
        anthropic_piece(type="input_json_delta", partial_json='{"y":1},'),
        ANTHROPIC_END,
    ),
    "gemini, text": (Gemini(), [], gemini_piece(text="word "), GEMINI_END),
    "gemini, thoughts": (Gemini(), [], gemini_piece(text="why ", thought=True), GEMINI_END),
    "gemini, calls": (Gemini(), [], gemini_piece(functionCall={"name": "f", "args": {"x": 1}}), GEMINI_END),
}


@pytest.mark.parametrize("cut", [7, 16_384], ids=["small chunks", "large chunks"])
@pytest.mark.parametrize(("wire", "start", "again", "end"), STREAMS.values(), ids=STREAMS)
def test_twice_the_events_are_twice_the_work(wire: WireFormat, start, again, end, cut):
    def read(count: int) -> None:
        events = [*start, *[again] * count, *end]
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()
        framing, parser = decoder(wire.framing), wire.stream_parser(STREAM)
        for at in range(0, len(body), cut):
            for event in framing.feed(body[at : at + cut]):
                parser.feed(event)
        parser.finish()

    assert grows(read, 200) < 2.2


EVENTS = {
    "sse": (SseDecoder, lambda size: b"event: e\ndata: " + b"x" * size + b"\n\n"),
    "sse, carriage returns": (SseDecoder, lambda size: b"event: e\r\ndata: " + b"x" * size + b"\r\n\r\n"),
    "sse, many lines": (SseDecoder, lambda size: b"data: x\n" * (size // 8) + b"\n"),
    "sse, many comments": (SseDecoder, lambda size: b": ping\n" * (size // 7) + b"data: x\n\n"),
    "json lines": (NdjsonDecoder, lambda size: b"x" * size + b"\n"),
}


@pytest.mark.parametrize("cut", [10, 4096], ids=["small chunks", "large chunks"])
@pytest.mark.parametrize(("make", "event"), EVENTS.values(), ids=EVENTS)
def test_an_event_in_many_pieces_is_not_read_again_with_each(make, event, cut):
    def read(size: int) -> None:
        framing: StreamDecoder = make()
        body = event(size)
        found = [one for at in range(0, len(body), cut) for one in framing.feed(body[at : at + cut])]
        assert len(found) == 1

    assert grows(read, 8_000) < 2.2


def test_work_that_is_not_linear_is_noticed():
    def quadratic(count: int) -> None:
        text = ""
        for _ in range(count):
            text += "word "
            text.find("!")

    assert grows(quadratic, 200) > 3
