"""A provider made of a wire format and HTTP: retries, deadlines, concurrency, the key. It knows no vendor."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ConfigDict, Field

from officellm.clock import Clock, SystemClock
from officellm.errors import ConfigError, ProviderError
from officellm.framing import decoder
from officellm.messages import Delta, Finished, OutputSchema, ReasoningDelta, Request, System, TextDelta
from officellm.protocols import HttpFactory, ToolMode
from officellm.wire import Fault, FaultError, HttpRequest, OutputMode, StreamEvent, WireFormat

if TYPE_CHECKING:
    import httpx

#: The largest body that is read, in bytes. Replies are some kilobytes; this only stops a server that never ends.
MAX_BODY = 64 * 1024 * 1024
_BACKOFF = (0.5, 1.0, 2.0, 4.0)
_REDIRECTS = 3
_HEADERS = {"content-type": "application/json", "accept": "*/*", "user-agent": "officellm"}


class ProviderSettings(BaseModel):
    """What every provider block of a team file may say. Wire formats add their own options."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base_url: str = ""
    api_key_env: str | None = None
    model: str | None = None
    settings: Mapping[str, Any] = Field(default_factory=dict)
    headers: Mapping[str, str] = Field(default_factory=dict)
    timeout: Annotated[float, Field(gt=0)] = 600.0
    connect_timeout: Annotated[float, Field(gt=0)] = 10.0
    max_concurrency: Annotated[int, Field(ge=1)] | None = None
    tool_mode: ToolMode | None = None
    output_mode: OutputMode | None = None


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
        if settings.tool_mode is not None:
            self.tool_mode = settings.tool_mode
        if not settings.base_url:
            raise ConfigError(f"provider {name!r} has no base_url")

    def __repr__(self) -> str:
        return f"HttpProvider({self.name!r}, {self.wire.name!r}, {self._settings.base_url!r})"

    def missing_key(self) -> str | None:
        """The environment variable that should hold the key and does not; None where all is well."""
        name = self._settings.api_key_env
        return name if name and not os.environ.get(name) and not _is_local(self._settings.base_url) else None

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Deltas of one reply. Retries what may be retried, until something was shown."""
        http_request = self._build(request)
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
        if request.deadline is not None and self._clock.monotonic() + seconds >= request.deadline:
            raise ProviderError(self.name, fault, attempts=attempt)
        if request.on_retry is not None:
            request.on_retry(attempt, fault, seconds)
        await self._clock.sleep(seconds)

    def _build(self, request: Request) -> HttpRequest:
        if request.output is not None:
            mode = self._settings.output_mode or self.wire.output_mode(request)
            if mode == "prompt":
                request = with_output_in_words(request)
        if self._settings.settings:
            request = _replace(request, settings={**self._settings.settings, **request.settings})
        return self.wire.build(request, self._settings.base_url)

    async def _attempt(self, http_request: HttpRequest, request: Request) -> AsyncGenerator[Delta, None]:
        """One exchange. Every failure is a `FaultError`."""
        try:
            async with self._gate(), self._exchange(http_request, request) as response:
                if not response.is_success:
                    headers = {name.lower(): value for name, value in response.headers.items()}
                    raise FaultError(self.wire.classify(response.status_code, headers, await _read(response)))
                content_type = response.headers.get("content-type", "")
                if request.stream and "json" not in content_type.replace("ndjson", "").replace("jsonl", ""):
                    async with aclosing(self._streamed(response, request)) as deltas:
                        async for delta in deltas:
                            yield delta
                else:
                    yield Finished(self.wire.parse(await _read(response), request))
        except FaultError:
            raise
        except Exception as error:
            raise FaultError(_network_fault(error)) from error

    async def _streamed(self, response: httpx.Response, request: Request) -> AsyncGenerator[Delta, None]:
        parser = self.wire.stream_parser(request)
        events = decoder(self.wire.framing)

        def fed(batch: list[StreamEvent]) -> list[Delta]:
            return [delta for event in batch for delta in parser.feed(event)]

        async for chunk in response.aiter_bytes():
            for delta in fed(events.feed(chunk)):
                yield delta
        for delta in fed(events.close()):
            yield delta
        yield Finished(parser.finish())

    @asynccontextmanager
    async def _exchange(self, http_request: HttpRequest, request: Request) -> AsyncIterator[httpx.Response]:
        import httpx

        client = self._http()
        url = _url(http_request.url)
        headers = {**_HEADERS, **http_request.headers, **self._settings.headers}
        missing = self.missing_key()
        if missing is not None:
            raise FaultError(Fault("auth", f"the environment variable {missing} is not set"))
        key = self._key()
        if key:
            headers.update(self.wire.auth(key))
        timeout = self._timeout(request)
        for _ in range(_REDIRECTS):
            # Not `client.build_request`: parsing and merging a URL that never changes is a tenth of a turn's cost.
            sent = httpx.Request(
                http_request.method, url, headers=headers, content=http_request.body, extensions={"timeout": timeout}
            )
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

    def _key(self) -> str:
        name = self._settings.api_key_env
        return os.environ.get(name, "") if name else ""

    def _redacted(self, fault: Fault) -> Fault:
        """Some servers echo the key in their errors."""
        key = self._key()
        if not key or key not in fault.message:
            return fault
        message = fault.message.replace(key, "[key]")
        return Fault(fault.kind, message, fault.status, fault.retryable, fault.retry_after, fault.code)

    def _gate(self) -> AbstractAsyncContextManager[Any]:
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
                body = await _read(response)
                if not response.is_success:
                    headers = {name.lower(): value for name, value in response.headers.items()}
                    raise FaultError(self.wire.classify(response.status_code, headers, body))
                return self.wire.parse_models(body)
        except FaultError as error:
            raise ProviderError(self.name, self._redacted(error.fault)) from None
        except Exception as error:
            raise ProviderError(self.name, self._redacted(_network_fault(error))) from error


@lru_cache(maxsize=256)
def _url(text: str) -> httpx.URL:
    """A parsed URL. Raises what `httpx.URL` raises."""
    import httpx

    return httpx.URL(text)


async def _read(response: httpx.Response) -> bytes:
    """The whole body, refused beyond `MAX_BODY`."""
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > MAX_BODY:
            raise FaultError(Fault("malformed", f"the body is larger than {MAX_BODY} bytes", response.status_code))
        chunks.append(chunk)
    return b"".join(chunks)


def _network_fault(error: Exception) -> Fault:
    """A fault for what the HTTP client raised; anything that is not the network's is raised on."""
    import httpx

    text = str(error) or type(error).__name__
    timed_out = isinstance(error.__cause__, TimeoutError) or isinstance(error, httpx.ReadTimeout)
    if timed_out:
        return Fault("timeout", f"no reply in time ({text})", retryable=True)
    if isinstance(error, (httpx.InvalidURL, httpx.UnsupportedProtocol)):
        return Fault("bad_request", f"the base_url cannot be used ({text})")
    if isinstance(error, (httpx.HTTPError, httpx.StreamError)):
        return Fault("network", f"the connection failed ({text})", retryable=True)
    raise error


def _is_local(base_url: str) -> bool:
    import httpx

    host = httpx.URL(base_url).host
    return host in ("localhost", "::1") or host.startswith("127.")


def _replace(request: Request, **changes: Any) -> Request:
    from dataclasses import replace

    return replace(request, **changes)


def with_output_in_words(request: Request) -> Request:
    """The same request, with the wanted JSON described in the instructions instead of by a vendor's parameter."""
    assert request.output is not None
    words = output_instructions(request.output)
    messages = list(request.messages)
    first = messages[0] if messages else None
    if isinstance(first, System):
        text = first.text
        messages[0] = first.encoded(("output", words), lambda: System(f"{text}\n\n{words}"))
    else:
        messages.insert(0, System(words))
    return _replace(request, messages=messages, output=None)


def output_instructions(output: OutputSchema) -> str:
    """What to tell a model that has no parameter for typed output."""
    from officellm.codec import dump_text

    return (
        "Your final answer must be one JSON value that satisfies this JSON Schema, with no other text around it:\n"
        + dump_text(output.schema)
    )
