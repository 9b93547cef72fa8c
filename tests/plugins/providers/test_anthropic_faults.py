"""Errors of Anthropic's API, wherever they come, are faults of their own kind."""

from __future__ import annotations

import json
import re

import pytest

from officellm import FaultError, StreamEvent

from .anthropic_samples import WIRE, events, request
from .recordings import each, exchanges


@pytest.mark.parametrize(
    ("kind", "fault", "status", "retryable"),
    [
        ("overloaded_error", "overloaded", 529, True),
        ("api_error", "server", 500, True),
        ("rate_limit_error", "rate_limit", 429, True),
        ("timeout_error", "timeout", 504, True),
        ("invalid_request_error", "bad_request", 400, False),
        ("authentication_error", "auth", 401, False),
        ("billing_error", "quota", 402, False),
        ("brand_new_error", "server", 200, True),
    ],
)
def test_an_error_event_inside_a_stream_is_a_fault_of_its_own_kind(kind, fault, status, retryable):
    payload = {"type": "error", "error": {"type": kind, "message": "Sorry"}}
    parser = WIRE.stream_parser(request())
    parser.feed(events([])[0])

    with pytest.raises(FaultError) as streamed_error:
        parser.feed(StreamEvent(("error", json.dumps(payload))))
    with pytest.raises(FaultError) as whole_error:
        WIRE.parse(json.dumps(payload).encode(), request())

    for found in (streamed_error.value.fault, whole_error.value.fault):
        assert (found.kind, found.status, found.retryable) == (fault, status, retryable)
        assert "Sorry" in found.message


def test_an_error_with_a_status_is_read_from_its_body():
    body = b'{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}'

    assert WIRE.classify(400, {}, body).kind == "context_overflow"
    assert WIRE.classify(529, {}, b"").kind == "overloaded"


@pytest.mark.parametrize(
    "raw",
    [b"", b"<html>", b"[]", b"null", b"{}", b'{"content":"text"}', b'{"content":null}', b"[" * 100_000],
    ids=["empty", "html", "list", "null", "object", "text", "no content", "deep"],
)
def test_a_body_of_another_shape_is_a_malformed_reply(raw):
    with pytest.raises(FaultError) as error:
        WIRE.parse(raw, request())

    assert (error.value.fault.kind, error.value.fault.retryable) == ("malformed", True)


@each([e for e in exchanges("anthropic") if e.streamed])
def test_a_stream_that_is_cut_anywhere_is_never_a_clean_reply(exchange):
    starts = [found.start() for found in re.finditer(rb"event: ", exchange.body)]
    for start in starts:
        parser = WIRE.stream_parser(exchange.neutral)
        for line in exchange.body[:start].decode().splitlines():
            if line.startswith("data:"):
                parser.feed(StreamEvent(("", line[5:].strip())))
        with pytest.raises(FaultError) as error:
            parser.finish()
        assert (error.value.fault.kind, error.value.fault.retryable) == ("network", True)
