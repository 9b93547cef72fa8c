"""A provider over real HTTP: its deadline, its rate limits, its place in the queue, and how it reaches a server."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import time
from contextlib import asynccontextmanager

import pytest

from officellm import (
    ConfigError,
    HttpProvider,
    HttpRequest,
    ProviderError,
    ProviderSettings,
    Request,
    StreamEvent,
    User,
)
from officellm.host import Host
from officellm.httpclient import HttpOptions
from officellm.providers import Providers
from officellm.testing import FakeLLM, reply
from officellm.testing.contracts import FakeClock
from officellm.transport import HttpPool
from officellm_builtin.providers.openai_compat import OpenAICompat

BODY = b'{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]}'
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\ncontent-length: %d\r\n\r\n"
WHOLE = HEAD % (b"application/json", len(BODY)) + BODY


class Got(list):
    """Requests; `first` is set with the first."""

    def __init__(self):
        self.first = asyncio.Event()


@asynccontextmanager
async def server(*pieces, pause=0.0, tls=None):
    """Answers every request with these bytes, piece by piece, then is silent. Yields its URL and what it got."""
    got = Got()

    async def answer(reader, writer):
        while head := await reader.readuntil(b"\r\n\r\n"):
            size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
            got.append(head + await reader.readexactly(size))
            got.first.set()
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(pause)

    async def quietly(reader, writer):
        try:
            await answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    listening = await asyncio.start_server(quietly, "127.0.0.1", 0, ssl=tls)
    async with listening:
        yield f"http{'s' if tls else ''}://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1", got


@asynccontextmanager
async def provider(url, http=None, make=HttpProvider, **settings):
    """A provider of this server, closed at the end."""
    http = http or HttpPool()
    yield make("p", OpenAICompat(), ProviderSettings(base_url=url, **settings), http)
    await http.aclose()


async def ask(one, seconds=None, **fields):
    deadline = None if seconds is None else one._clock.monotonic() + seconds
    asked = Request(model="m", messages=(User("hi"),), retries=0, deadline=deadline)
    for name, value in fields.items():
        setattr(asked, name, value)
    return [delta async for delta in one.stream(asked)][-1].reply


SSE = b'data: {"choices":[{"delta":{"content":"x"}}]}\n\n'


@pytest.mark.parametrize(
    ("pieces", "stream"),
    [
        ([], False),
        ([bytes([byte]) for byte in WHOLE[:40]], False),
        ([WHOLE[:-9]], False),
        ([WHOLE[:-40], *[bytes([byte]) for byte in WHOLE[-40:]]], False),
        ([HEAD % (b"text/event-stream", 10**6), *[SSE] * 40], True),
    ],
    ids=["silence", "slow-headers", "half-a-body", "slow-body", "endless-stream"],
)
async def test_the_deadline_holds_wherever_a_reply_stops(pieces, stream):
    async with server(*pieces, pause=0.05) as (url, _), provider(url) as one:
        begun = time.monotonic()
        with pytest.raises(ProviderError) as raised:
            await ask(one, 0.25, stream=stream, retries=3)
        assert time.monotonic() - begun < 0.6
    assert raised.value.fault.kind == "timeout"


async def test_waiting_for_a_place_ends_at_the_deadline():
    async with server(pause=0) as (url, got), provider(url, max_concurrency=1) as one:
        first = asyncio.create_task(ask(one))
        await got.first.wait()
        begun = time.monotonic()
        with pytest.raises(ProviderError) as raised:
            await ask(one, 0.1)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        assert (raised.value.fault.kind, len(got)) == ("timeout", 1)
        assert time.monotonic() - begun < 0.5


async def test_requests_wait_for_the_settings_limit_and_keep_the_deadline():
    clock = FakeClock()
    async with server(WHOLE) as (url, got), provider(url, HttpPool(clock), requests_per_minute=2) as one:
        for _ in range(3):
            await ask(one)
        assert clock.slept == [60]
        await ask(one)
        with pytest.raises(ProviderError) as raised:
            await ask(one, 30)
    assert (raised.value.fault.kind, len(got)) == ("rate_limit", 4)


async def test_tokens_of_replies_count_for_the_limit():
    clock = FakeClock()
    used = BODY[:-1] + b',"usage":{"prompt_tokens":900,"completion_tokens":90,"total_tokens":990}}'
    answer = HEAD % (b"application/json", len(used)) + used
    async with server(answer) as (url, _), provider(url, HttpPool(clock), tokens_per_minute=1000) as one:
        await ask(one)
        await ask(one)
    assert clock.slept == [60]


async def test_a_service_that_says_nothing_is_left_is_not_asked_before_it_has_something():
    clock = FakeClock()
    head = b"HTTP/1.1 200 OK\r\nX-RateLimit-Limit-Requests: 60\r\nX-RateLimit-Remaining-Requests: 0\r\n"
    answer = head + b"X-RateLimit-Reset-Requests: 60s\r\ncontent-length: %d\r\n\r\n" % len(BODY) + BODY
    async with server(answer) as (url, _), provider(url, HttpPool(clock)) as one:
        await ask(one)
        await ask(one)
    assert clock.slept == [pytest.approx(1)]


async def test_one_refusal_for_speed_holds_all_requests_to_the_model():
    clock = FakeClock()
    slow_down = b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 5\r\ncontent-length: 0\r\n\r\n"
    async with server(slow_down) as (url, _), provider(url, HttpPool(clock)) as one:
        for _ in range(2):
            with pytest.raises(ProviderError):
                await ask(one)
    assert clock.slept == [5]


class Signing(HttpProvider):
    """Signs what is sent, as some services demand."""

    def headers(self, http_request: HttpRequest) -> dict[str, str]:
        return {**super().headers(http_request), "x-signature": str(len(http_request.body))}


async def test_a_driver_may_sign_the_whole_request():
    async with server(WHOLE) as (url, got), provider(url, make=Signing) as one:
        await ask(one)
    head, _, body = got[0].partition(b"\r\n\r\n")
    assert b"x-signature: %d" % len(body) in head.lower()


class Backwards(OpenAICompat):
    """Frames its events in a way of its own."""

    framing = "eventstream"

    class decoder:
        def __init__(self):
            self._chunks = []

        def feed(self, chunk):
            self._chunks.append(chunk)
            return []

        def close(self):
            text = b"".join(self._chunks).decode()[::-1]
            return [StreamEvent(("", text)), StreamEvent(("", "[DONE]"))]


async def test_a_format_may_bring_its_own_decoder():
    event = b'{"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}'[::-1]
    answer = HEAD % (b"application/vnd.amazon.eventstream", len(event)) + event
    async with server(answer) as (url, _):
        http = HttpPool()
        one = HttpProvider("p", Backwards(), ProviderSettings(base_url=url), http)
        assert (await ask(one, stream=True)).message.text == "hello"
        await http.aclose()


def made(**block):
    return Providers(Host(), HttpPool(), {"p": {"format": "openai_compat", **block}}).provider("p")


async def test_a_proxy_gets_the_requests_and_nobody_else_does():
    async with server(WHOLE) as (url, got):
        one = made(base_url="http://unreachable.invalid/v1", proxy=url.removesuffix("/v1"))
        assert (await ask(one)).message.text == "hello"
        await one._http.aclose()
    assert got[0].startswith(b"POST http://unreachable.invalid/v1/chat/completions HTTP/1.1")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for 127.0.0.1 that nobody trusts, with its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl, which makes a certificate, is not installed")
    file = tmp_path_factory.mktemp("ca") / "own.pem"
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-subj", "/CN=own", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", file, "-out", f"{file}.crt"]
    subprocess.run(command, check=True, capture_output=True)
    file.write_bytes(file.read_bytes() + file.with_name("own.pem.crt").read_bytes())
    return file


async def test_a_certificate_of_ones_own_is_trusted_by_name_only(certificate):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    async with server(WHOLE, tls=context) as (url, got):
        trusting = made(base_url=url, ca_file=f"{certificate}.crt")
        assert (await ask(trusting)).message.text == "hello"
        await trusting._http.aclose()
        other = made(base_url=url)
        with pytest.raises(ProviderError) as raised:
            await ask(other)
        await other._http.aclose()
    assert (raised.value.fault.kind, len(got)) == ("network", 1)


async def test_providers_with_other_options_share_no_connections():
    pool = HttpPool()
    direct, proxied = pool.having(HttpOptions()), pool.having(HttpOptions(proxy="http://127.0.0.1:1"))

    assert direct is pool
    assert proxied is pool.having(HttpOptions(proxy="http://127.0.0.1:1"))
    assert proxied() is not pool()
    await pool.aclose()
    assert proxied() is not pool()
    await pool.aclose()


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"proxy": "squid:3128"}, "provider 'p': proxy must be an address"),
        ({"proxy": "socks5://127.0.0.1:1"}, "provider 'p': proxy must be an address"),
        ({"ca_file": "/no/such/file.pem"}, "provider 'p': ca_file '/no/such/file.pem' cannot be used"),
        ({"ca_file": __file__}, "cannot be used"),
        ({"requests_per_minute": 0}, "requests_per_minute"),
    ],
    ids=["proxy", "socks", "no-ca", "not-a-ca", "rpm"],
)
def test_options_that_cannot_work_are_refused_before_anything_is_sent(block, words):
    with pytest.raises(ConfigError, match=words):
        made(base_url="http://127.0.0.1:1", **block)


def test_http2_without_its_package_names_the_extra(monkeypatch):
    monkeypatch.setattr("officellm.httpclient.find_spec", lambda name: None)

    with pytest.raises(ConfigError, match=r"pip install 'officellm\[http2\]'"):
        made(base_url="http://127.0.0.1:1", http2=True)


async def test_with_its_package_http2_is_offered_and_http1_still_spoken():
    pytest.importorskip("h2", reason="the extra http2 is not installed")
    async with FakeLLM([reply("hello")]) as llm:
        one = made(base_url=llm.openai_url, http2=True)
        assert (await ask(one)).message.text == "hello"
        await one._http.aclose()


async def test_an_error_names_the_vendors_request_id_without_the_key(monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "sk-very-secret-0001")
    body = b'{"error": {"message": "no"}}'
    head = b"HTTP/1.1 400 Bad\r\nx-request-id: req-7-sk-very-secret-0001\r\ncontent-length: %d\r\n\r\n" % len(body)
    async with server(head + body) as (url, _), provider(url, api_key_env="SECRET_KEY") as one:
        with pytest.raises(ProviderError, match="request id req-7-") as raised:
            await ask(one)
    assert raised.value.fault.request_id.startswith("req-7-")
    assert "secret" not in str(raised.value)
