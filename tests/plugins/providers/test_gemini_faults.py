"""Errors of Gemini's API, wherever they come, are faults of their own kind."""

from __future__ import annotations

import json

import pytest

from officellm import FaultError, StreamEvent

from .gemini_samples import WIRE, parsed, request, response, streamed
from .recordings import each, exchanges


@pytest.mark.parametrize("wrap", [lambda error: error, lambda error: [error]], ids=["object", "list"])
def test_an_error_inside_a_success_is_a_fault(wrap):
    error = {"error": {"code": 503, "message": "overloaded, try later", "status": "UNAVAILABLE"}}

    for read_it in (parsed, streamed):
        with pytest.raises(FaultError) as found:
            read_it(wrap(error))
        fault = found.value.fault
        assert (fault.kind, fault.status, fault.retryable) == ("overloaded", 503, True)


@pytest.mark.parametrize(
    ("status", "error", "kind", "retryable", "wait"),
    [
        (400, {"message": "API key not valid.", "details": [{"reason": "API_KEY_INVALID"}]}, "auth", False, None),
        (400, {"message": "The input token count (9) exceeds the maximum"}, "context_overflow", False, None),
        (
            429,
            {
                "status": "RESOURCE_EXHAUSTED",
                "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "48s"}],
            },
            "rate_limit",
            True,
            48.0,
        ),
        (
            429,
            {"details": [{"violations": [{"quotaId": "RequestsPerDayPerProject"}]}]},
            "quota",
            False,
            None,
        ),
    ],
    ids=["key", "overflow", "retry info", "daily quota"],
)
def test_the_vendors_errors_are_told_apart(status, error, kind, retryable, wait):
    fault = WIRE.classify(status, {}, json.dumps({"error": {"code": status, **error}}).encode())

    assert (fault.kind, fault.retryable, fault.retry_after) == (kind, retryable, wait)


@pytest.mark.parametrize(
    "raw",
    [b"", b"<html>", b"[]", b"null", b"{}", b"[1]", b'{"candidates":[]}', b"[" * 100_000],
    ids=["empty", "html", "list", "null", "object", "number", "no candidates", "deep"],
)
def test_a_body_of_another_shape_is_a_malformed_reply(raw):
    with pytest.raises(FaultError) as error:
        WIRE.parse(raw, request())

    assert (error.value.fault.kind, error.value.fault.retryable) == ("malformed", True)


def test_a_stream_that_ends_without_a_reason_is_cut():
    with pytest.raises(FaultError) as error:
        streamed(response([{"text": "Hel"}], None))

    assert (error.value.fault.kind, error.value.fault.retryable) == ("network", True)


@each([e for e in exchanges("gemini") if e.streamed])
def test_a_recorded_stream_that_is_cut_before_its_last_event_is_never_a_clean_reply(exchange):
    lines = [line for line in exchange.body.decode().splitlines() if line.startswith("data:")]
    parser = WIRE.stream_parser(exchange.neutral)
    for line in lines[:-1]:
        parser.feed(StreamEvent(("", line[5:])))

    with pytest.raises(FaultError) as error:
        parser.finish()
    assert error.value.fault.kind == "network"
