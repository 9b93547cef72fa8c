"""Servers that break HTTP, never end, trickle or lie: each is one honest outcome, retried where that can help."""

import asyncio
import gzip
import itertools
import time

import pytest

from officellm import Limits, StopReason
from officellm.testing import FakeClock

from .scenes import Liar, both_ways, office_at, run, says, sends

OK = "HTTP/1.1 200 OK\r\nContent-Type: application/json"
SSE = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream"


class RealClock(FakeClock):
    """Time that passes."""

    def monotonic(self):
        return time.monotonic()


def bytes_only(data):
    async def act(writer):
        writer.write(data)
        await writer.drain()

    return act


def endless(head, piece, pause=None):
    """An act that sends the same piece for ever."""

    async def act(writer):
        writer.write(head.encode() + b"\r\n\r\n")
        while True:
            writer.write(piece)
            await writer.drain()
            if pause is not None:
                await asyncio.sleep(pause)

    return act


async def trickled_headers(writer):
    writer.write(b"HTTP/1.1 200 OK\r\n")
    for byte in itertools.cycle(b"X-Header: y\r\n"):
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0.01)


BROKEN = {
    "nothing": bytes_only(b""),
    "no HTTP at all": bytes_only(b"\x00\xff hello\r\n\r\n"),
    "half a status line": bytes_only(b"HTTP/1.1 20"),
    "another version": bytes_only(b"HTTP/3.7 200 OK\r\n\r\n"),
    "a status of two digits": sends("HTTP/1.1 99 what", b"{}"),
    "half the headers": bytes_only(b"HTTP/1.1 200 OK\r\nContent-Ty"),
    "a header without a colon": sends(f"{OK}\r\nno colon here", b"{}"),
    "a header with NUL": sends(f"{OK}\r\nX: a\x00b", b"{}"),
    "a header that is too long": sends(f"{OK}\r\nX: {'y' * 20_000}", b"{}"),
    "headers without end": bytes_only(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000),
    "a reason that is no text": sends("HTTP/1.1 500 \xff\xfe", b"{}"),
    "a negative length": sends(f"{OK}\r\nContent-Length: -5", b"{}", length=False),
    "a length that is no number": sends(f"{OK}\r\nContent-Length: abc", b"{}", length=False),
    "two lengths": sends(f"{OK}\r\nContent-Length: 3", b"{}"),
    "a length that is too long": sends(f"{OK}\r\nContent-Length: 500", b"{", length=False),
    "a length that is too short": sends(f"{OK}\r\nContent-Length: 1", b"{}", length=False),
    "a bad chunk": sends(f"{OK}\r\nTransfer-Encoding: chunked", b"zzz\r\nx\r\n0\r\n\r\n", length=False),
    "half a chunk": sends(f"{OK}\r\nTransfer-Encoding: chunked", b"ff\r\nhello", length=False),
    "gzip that is none": sends(f"{OK}\r\nContent-Encoding: gzip", b"garbage" * 10),
    "half of gzip": sends(f"{OK}\r\nContent-Encoding: gzip", gzip.compress(b"{}" * 1000)[:20]),
    "an empty body": sends(OK),
    "no content": bytes_only(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "a page": sends("HTTP/1.1 200 OK\r\nContent-Type: text/html", b"<html><title>Log in</title></html>"),
    "plain words": sends("HTTP/1.1 200 OK\r\nContent-Type: text/plain", b"hello"),
    "null": sends(OK, b"null"),
    "a list": sends(OK, b"[]"),
    "no choices": sends(OK, b'{"id": "x", "choices": []}'),
    "choices of null": sends(OK, b'{"id": "x", "choices": null}'),
    "choices that are missing": sends(OK, b'{"id": "x", "object": "chat.completion"}'),
    "an event with choices of null": sends(SSE, b'data: {"choices": null}\n\ndata: [DONE]\n\n'),
    "nesting without end": sends(OK, b"[" * 200_000),
    "a number without end": sends(OK, b'{"choices":' + b"9" * 5000 + b"}"),
    "bytes that are no text": sends(OK, b'{"choices":[{"message":{"content":"\xff\xfe"}}]}'),
}


@pytest.mark.parametrize("act", BROKEN.values(), ids=BROKEN)
@both_ways
async def test_what_is_no_reply_is_sent_for_again_and_then_is_a_failure(act, streamed, caplog):
    clock = FakeClock()
    async with Liar(act, says()) as server, office_at(server.url, clock=clock) as office:
        result, _ = await run(office, streamed)
        assert (result.content, len(server.requests), clock.slept) == ("fine", 2, [0.5])
    async with Liar(act) as server, office_at(server.url, limits=Limits(provider_retries=0)) as office:
        result, _ = await run(office, streamed)
        assert (result.stop_reason, len(server.requests)) == (StopReason.PROVIDER_ERROR_5XX_EXHAUSTED, 1)
        assert (result.content, result.error_type, result.usage.requests) == ("", "ProviderError", 1)
    assert [record for record in caplog.records if record.exc_info] == []


@pytest.mark.parametrize(
    "act",
    [
        endless(OK, b" " * 100_000),
        sends(f"{OK}\r\nContent-Encoding: gzip", gzip.compress(b" " * 80_000_000)),
    ],
    ids=["plain", "zipped"],
)
async def test_a_body_without_end_is_given_up(act):
    async with Liar(act) as server, office_at(server.url) as office:
        result, _ = await run(office)
    assert "larger than" in result.error
    assert len(server.requests) == 1


TRICKLES = {
    "a body": endless(OK, b" ", 0.01),
    "comments": endless(SSE, b": still here\n\n", 0.01),
    "empty deltas": endless(SSE, b'data: {"choices":[{"delta":{}}]}\n\n', 0.01),
    "headers": trickled_headers,
}


@pytest.mark.parametrize("act", TRICKLES.values(), ids=TRICKLES)
async def test_a_reply_that_trickles_is_no_reply(act):
    limits = Limits(provider_retries=0)
    async with Liar(act) as server, office_at(server.url, timeout=0.1, limits=limits, clock=RealClock()) as office:
        result, _ = await run(office, streamed=True)
    assert result.stop_reason == StopReason.PROVIDER_ERROR_5XX_EXHAUSTED
    assert "timeout: no reply" in result.error


@pytest.mark.parametrize("act", [*TRICKLES.values(), endless(OK, b"", 0.01)], ids=[*TRICKLES, "nothing"])
@both_ways
async def test_the_runs_time_holds_against_any_of_them(act, streamed):
    async with Liar(act) as server, office_at(server.url, limits=Limits(max_seconds=0.1), clock=RealClock()) as office:
        result, _ = await run(office, streamed)
    assert (result.stop_reason, len(server.requests)) == (StopReason.TIMEOUT, 1)


@pytest.mark.parametrize("asked", ["99999999999", "Fri, 31 Dec 9999 23:59:59 GMT"], ids=["seconds", "date"])
async def test_a_wait_of_centuries_is_not_waited(asked):
    clock = FakeClock()
    act = sends(f"HTTP/1.1 429 X\r\nRetry-After: {asked}", b"{}")
    async with Liar(act) as server, office_at(server.url, clock=clock) as office:
        result, _ = await run(office)
    assert (result.stop_reason, clock.slept) == (StopReason.PROVIDER_ERROR_5XX_EXHAUSTED, [])


@pytest.mark.parametrize("asked", ["-5", "0", "nan", "1e400", "soon", ""])
async def test_a_wait_that_is_none_is_the_usual_one(asked):
    clock = FakeClock()
    act = sends(f"HTTP/1.1 429 X\r\nRetry-After: {asked}", b"{}")
    async with Liar(act, says()) as server, office_at(server.url, clock=clock) as office:
        result, _ = await run(office)
    assert (result.content, clock.slept) == ("fine", [0.5])


@pytest.mark.parametrize("status", [307, 308])
async def test_a_redirect_on_the_same_host_is_followed_and_no_other(status):
    async with Liar(sends(f"HTTP/1.1 {status} X\r\nLocation: /elsewhere"), says()) as server:
        async with office_at(server.url) as office:
            result, _ = await run(office)
        assert (result.content, server.requests[0]) == ("fine", server.requests[1])


@pytest.mark.parametrize(
    ("location", "sent"),
    [("/again", 3), ("", 3), ("http://localhost:1/x", 1), ("ftp://127.0.0.1/x", 1), ("https://127.0.0.1/x", 1)],
)
async def test_any_other_redirect_ends_the_run_at_once(location, sent):
    async with Liar(sends(f"HTTP/1.1 307 X\r\nLocation: {location}")) as server, office_at(server.url) as office:
        result, _ = await run(office)
    assert (result.stop_reason, len(server.requests)) == (StopReason.PROVIDER_ERROR_4XX, sent)
    assert "redirect" in result.error


COUNTED = {
    "openai_compat": ('{"choices":[{"message":{"content":"hi"}}],"usage":U}', ("prompt_tokens", "completion_tokens")),
    "anthropic": ('{"content":[{"type":"text","text":"hi"}],"usage":U}', ("input_tokens", "output_tokens")),
    "gemini": (
        '{"candidates":[{"content":{"parts":[{"text":"hi"}]}}],"usageMetadata":U}',
        ("promptTokenCount", "candidatesTokenCount"),
    ),
}


@pytest.mark.parametrize("count", ["-5", "1e308", "1e999", "9" * 400, '"ten"', "null", "[1]", "NaN", "true"])
@pytest.mark.parametrize("wire", COUNTED)
async def test_counts_that_count_nothing_break_no_run_and_no_budget(wire, count):
    body, names = COUNTED[wire]
    usage = "{" + ",".join(f'"{name}":{count}' for name in names) + "}"
    act = sends(OK, body.replace("U", usage).encode())
    async with Liar(act) as server, office_at(server.url, format=wire, limits=Limits(max_total_tokens=50)) as office:
        result, _ = await run(office)
    assert (result.content, result.usage.total) == ("hi", 0)
