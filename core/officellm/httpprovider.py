"""A provider made of a wire format and HTTP: retries, deadlines, concurrency, the key. It knows no vendor."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager, nullcontext
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from officellm.clock import Clock, SystemClock
from officellm.credentials import Credentials
from officellm.errors import ConfigError, ProviderError
from officellm.framing import new_decoder
from officellm.messages import Delta, Finished, ReasoningDelta, Request, TextDelta
from officellm.outputwords import with_output_in_words
from officellm.protocols import HttpFactory, ToolMode
from officellm.providersettings import ProviderSettings
from officellm.ratelimit import RateLimit, Slot
from officellm.responsebody import ResponseBody
from officellm.wire import Fault, FaultError, HttpRequest, StreamEvent, WireFormat

if TYPE_CHECKING:
    import httpx

_BACKOFF = (0.5, 1.0, 2.0, 4.0)
#: A server that asks for a longer wait, in seconds, is given up where the run has no deadline that decides.
_LONGEST_WAIT = 600.0
_REDIRECTS = 3
_REQUEST_IDS = ("x-request-id", "request-id", "x-amzn-requestid", "x-goog-request-id")
#: Content types of a body that is no stream, whatever was asked for: one JSON value, or a proxy's page.
_WHOLE = re.compile(r"html|json(?!l|-seq)(?<!ndjson)")
_HEADERS = {"content-type": "application/json", "accept": "*/*", "user-agent": "officellm"}


class HttpProvider:
    """`Provider` over HTTP. One instance serves any number of concurrent runs, on any event loop."""

    #: How tools are offered unless the settings say otherwise.
    tool_mode: ToolMode = "native"

    def __init__(self, name: str, wire: WireFormat, settings: ProviderSettings, http: HttpFactory) -> None:
        self.name = name
        self.wire = wire
        self._settings = settings
        self._http = http
        self._clock: Clock = getattr(http, "clock", None) or SystemClock()
        self._gates: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
        self._limit = RateLimit(self._clock, settings.requests_per_minute, settings.tokens_per_minute)
        if settings.tool_mode is not None:
            self.tool_mode = settings.tool_mode
        if not settings.base_url:
            raise ConfigError(f"provider {name!r} has no base_url")
        self._credentials = Credentials(name, settings.base_url, settings.api_key_env, settings.headers)

    def __repr__(self) -> str:
        return f"HttpProvider({self.name!r}, {self.wire.name!r}, {self._credentials.shown_url!r})"

    def missing_key(self) -> str | None:
        """The environment variable that should hold the key and does not; None where all is well."""
        return self._credentials.missing()

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Deltas of one reply. Retries what may be retried, until something was shown."""
        http_request = self.build(request)
        partial: list[str] = []
        attempt = 0
        while True:
            attempt += 1
            try:
                # A generator that is left but not closed keeps its connection until it is collected.
                async with aclosing(self._attempt(http_request, request)) as deltas:
                    async for delta in deltas:
                        if isinstance(delta, TextDelta):
                            partial.append(delta.text)
                        elif isinstance(delta, ReasoningDelta) and not partial:
                            partial.append("")
                        yield delta
                return
            except FaultError as error:
                fault = self._redacted(error.fault)
            retries = request.retries
            # A call that the server could not read is the model's slip: the next try may be right.
            if not (fault.retryable or fault.kind == "bad_call") or partial or attempt > retries:
                raise ProviderError(self.name, fault, attempts=attempt, partial="".join(partial))
            await self._wait(request, fault, attempt)

    async def _wait(self, request: Request, fault: Fault, attempt: int) -> None:
        seconds = fault.retry_after
        if seconds is None:
            step = _BACKOFF[min(attempt, len(_BACKOFF)) - 1]
            seconds = step * (1 - 0.25 * self._clock.jitter())
        left = _LONGEST_WAIT if request.deadline is None else request.deadline - self._clock.monotonic()
        if seconds >= left:
            raise ProviderError(self.name, fault, attempts=attempt)
        if request.on_retry is not None:
            request.on_retry(attempt, fault, seconds)
        await self._clock.sleep(seconds)

    def build(self, request: Request) -> HttpRequest:
        """What goes out for a request, without the key: with this provider's settings, and the output in its words."""
        if request.output is not None:
            mode = self._settings.output_mode or self.wire.output_mode(request)
            if mode == "prompt":
                request = with_output_in_words(request)
        if self._settings.settings:
            request = replace(request, settings={**self._settings.settings, **request.settings})
        return self.wire.build(request, self._settings.base_url)

    async def _attempt(self, http_request: HttpRequest, request: Request) -> AsyncGenerator[Delta, None]:
        """One exchange. Every failure is a `FaultError`."""
        try:
            async with self._turn(http_request, request) as slot, self._exchange(http_request, request) as response:
                self._limit.learn(request.model, response.headers.raw, slot)
                body = ResponseBody(response, self._clock, self._settings.timeout, request.deadline)
                if not response.is_success:
                    raise FaultError(await self._classified(response, body, request.model))
                if request.stream and not _WHOLE.search(response.headers.get("content-type", "")):
                    async with aclosing(self._streamed(body, request)) as deltas:
                        async for delta in deltas:
                            yield _counted(delta, slot)
                else:
                    yield _counted(Finished(self.wire.parse(await body.read(), request)), slot)
        except FaultError:
            raise
        except Exception as error:
            raise FaultError(_network_fault(error)) from error

    async def _classified(self, response: httpx.Response, body: ResponseBody, model: str) -> Fault:
        headers = {name.lower(): value for name, value in response.headers.items()}
        fault = self.wire.classify(response.status_code, headers, await body.read())
        if fault.kind == "rate_limit" and fault.retry_after is not None:
            self._limit.hold(model, fault.retry_after)
        named = next((headers[name] for name in _REQUEST_IDS if name in headers), None)
        return replace(fault, request_id=named[:100]) if named else fault

    async def _streamed(self, body: ResponseBody, request: Request) -> AsyncGenerator[Delta, None]:
        parser = self.wire.stream_parser(request)
        events = new_decoder(self.wire)

        def fed(batch: list[StreamEvent]) -> list[Delta]:
            return [delta for event in batch for delta in parser.feed(event)]

        async with aclosing(body.chunks()) as chunks:
            async for chunk in chunks:
                for delta in fed(events.feed(chunk)):
                    body.progressed()
                    yield delta
        for delta in fed(events.close()):
            yield delta
        yield Finished(parser.finish())

    def headers(self, http_request: HttpRequest) -> dict[str, str]:
        """All headers of this request, the key's among them; a driver that must sign the whole request overrides it.

        Called once for each attempt. Raises `FaultError` (kind `auth`) where there is no key to sign with.
        """
        missing = self.missing_key()
        if missing is not None:
            raise FaultError(Fault("auth", f"the environment variable {missing} is not set"))
        key = self._credentials.key()
        auth = self.wire.auth(key) if key else {}
        return {**_HEADERS, **http_request.headers, **self._settings.headers, **auth}

    @asynccontextmanager
    async def _exchange(self, http_request: HttpRequest, request: Request) -> AsyncIterator[httpx.Response]:
        import httpx

        client = self._http()
        url = _url(http_request.url)
        headers = self.headers(http_request)
        timeout = self._timeout(request)
        for _ in range(_REDIRECTS):
            # Not `client.build_request`: parsing and merging a URL that never changes is a tenth of a turn's cost.
            sent = httpx.Request(
                http_request.method, url, headers=headers, content=http_request.body, extensions={"timeout": timeout}
            )
            # Headers may come byte by byte, and each byte starts the transport's own timer again.
            async with asyncio.timeout(timeout["read"]):
                response = await client.send(sent, stream=True)
            if response.status_code not in (307, 308):
                break
            await response.aclose()
            target = url.join(response.headers.get("location", ""))
            if (target.scheme, target.host, target.port) != (url.scheme, url.host, url.port):
                # The key must never reach another host.
                raise FaultError(Fault("bad_request", f"redirect to another host refused: {target.host}", 307))
            url = target
        else:
            raise FaultError(Fault("bad_request", "too many redirects", 308))
        try:
            yield response
        finally:
            await response.aclose()

    def _timeout(self, request: Request) -> dict[str, float | None]:
        """httpx's own form of a timeout, in seconds."""
        read = self._settings.timeout
        if request.deadline is not None:
            read = max(0.001, min(read, request.deadline - self._clock.monotonic()))
        return {"connect": min(read, self._settings.connect_timeout), "read": read, "write": read, "pool": None}

    def _redacted(self, fault: Fault) -> Fault:
        """Some servers echo the key in their errors."""
        hide = self._credentials.hide
        named = fault.request_id and hide(fault.request_id)
        return replace(fault, message=hide(fault.message), code=fault.code and hide(fault.code), request_id=named)

    def _turn(self, http_request: HttpRequest, request: Request) -> AbstractAsyncContextManager[Slot | None]:
        """Holds the request's place among all others of this provider."""
        if self._settings.max_concurrency is None and self._limit.idle:
            return nullcontext()
        return self._queued(http_request, request)

    @asynccontextmanager
    async def _queued(self, http_request: HttpRequest, request: Request) -> AsyncIterator[Slot]:
        left = None if request.deadline is None else request.deadline - self._clock.monotonic()
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(left):
                await stack.enter_async_context(self._gate())
            slot = await self._limit.admit(request.model, len(http_request.body) // 4, request.deadline)
            stack.callback(self._limit.release, slot)
            yield slot

    def _gate(self) -> AbstractAsyncContextManager[object]:
        if self._settings.max_concurrency is None:
            return nullcontext()
        loop = asyncio.get_running_loop()
        gate = self._gates.get(loop)
        if gate is None:
            gate = self._gates[loop] = asyncio.Semaphore(self._settings.max_concurrency)
        return gate

    async def models(self) -> list[str]:
        """Names of the models that the endpoint lists. Raises `ProviderError`."""
        asked = self.wire.models_request(self._settings.base_url)
        request = Request(model="", messages=())
        try:
            async with self._exchange(asked, request) as response:
                body = ResponseBody(response, self._clock, self._settings.timeout, None)
                if not response.is_success:
                    raise FaultError(await self._classified(response, body, ""))
                return self.wire.parse_models(await body.read())
        except FaultError as error:
            raise ProviderError(self.name, self._redacted(error.fault)) from None
        except Exception as error:  # noqa: BLE001 - what is not the network's is raised on
            raise ProviderError(self.name, self._redacted(_network_fault(error))) from None


def _counted(delta: Delta, slot: Slot | None) -> Delta:
    """The same delta; where it ends a reply, its tokens take the place of the estimate."""
    if slot is not None and isinstance(delta, Finished):
        slot.tokens = delta.reply.usage.total or slot.tokens
    return delta


@lru_cache(maxsize=256)
def _url(text: str) -> httpx.URL:
    """A parsed URL. Raises what `httpx.URL` raises."""
    import httpx

    return httpx.URL(text)


def _network_fault(error: Exception) -> Fault:
    """A fault for what the HTTP client raised; anything that is not the network's is raised on."""
    import httpx

    text = str(error) or type(error).__name__
    timed_out = isinstance(error.__cause__, TimeoutError) or isinstance(error, (TimeoutError, httpx.ReadTimeout))
    if timed_out:
        return Fault("timeout", f"no reply in time ({text})", retryable=True)
    if isinstance(error, (httpx.InvalidURL, httpx.UnsupportedProtocol)):
        return Fault("bad_request", f"the base_url cannot be used ({text})")
    if isinstance(error, (httpx.HTTPError, httpx.StreamError)):
        return Fault("network", f"the connection failed ({text})", retryable=True)
    raise error
