"""httpx over aiohttp: whatever a server does to the protocol is an httpx error. No retries and no vendors here."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import aiohttp
import httpx
from aiohttp.http_exceptions import HttpProcessingError
from httpx_aiohttp import AiohttpTransport

from officellm.httpclient import KEEPALIVE

if TYPE_CHECKING:
    import ssl

#: httpx-aiohttp maps most of aiohttp's errors; these are the rest.
_BROKEN = (aiohttp.ClientError, HttpProcessingError)
#: Of a body beyond this size, in bytes, aiohttp warns where it is not a file.
_LARGE = 2**20


class Connections(AiohttpTransport):
    """The transport of every client: unlimited connections, as providers cap their own concurrency, and no cookies."""

    def __init__(self, context: ssl.SSLContext, proxy: httpx.Proxy | None = None) -> None:
        super().__init__(verify=context, client=lambda: _session(context), proxy=proxy)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One exchange. Raises `httpx.TransportError`."""
        if request.url.userinfo:  # httpx has made a header of it, and aiohttp would make another
            request.url = request.url.copy_with(userinfo=b"")
        if len(request.content) > _LARGE:
            request = _LargeRequest(
                request.method,
                request.url,
                headers=request.headers,
                content=request.content,
                extensions=request.extensions,
            )
        try:
            response = await super().handle_async_request(request)
        except _BROKEN as error:
            raise _as_httpx(error) from error
        response.stream = _Body(response.stream)
        return response


class Client(httpx.AsyncClient):
    """The client that drivers get. A streamed request that asks nothing of the client goes straight to its connections:
    cookies, redirects, authentication and log lines of httpx are a fifth of a turn's cost, and nothing here uses them.
    """

    def __init__(self, connections: Connections) -> None:
        super().__init__(transport=connections, timeout=60, headers={"user-agent": "officellm"})
        self._connections = connections

    async def send(self, request: httpx.Request, *, stream: bool = False, **options: Any) -> httpx.Response:
        """Like `httpx.AsyncClient.send`."""
        if options or not stream or request.url.userinfo or self.is_closed or any(self.event_hooks.values()):
            return await super().send(request, stream=stream, **options)
        return await self._connections.handle_async_request(request)


class _LargeRequest(httpx.Request):
    """A request whose body aiohttp sends in pieces."""

    @property
    def content(self) -> Any:
        return io.BytesIO(super().content)


class _Response(aiohttp.ClientResponse):
    """A response without a reason phrase: it may hold any bytes, it says nothing, and HTTP logs would show it."""

    async def start(self, connection: Any) -> aiohttp.ClientResponse:
        started = await super().start(connection)
        self.reason = None
        return started


class _Body(httpx.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._stream:
                yield chunk
        except _BROKEN as error:
            raise _as_httpx(error) from error

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        except _BROKEN as error:
            raise _as_httpx(error) from error


def _session(context: ssl.SSLContext) -> aiohttp.ClientSession:
    # 0 is aiohttp's word for unlimited.
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEPALIVE, ssl=context)
    return aiohttp.ClientSession(connector=connector, response_class=_Response, cookie_jar=aiohttp.DummyCookieJar())


def _as_httpx(error: Exception) -> httpx.RemoteProtocolError:
    """What is wrong, without the bytes that aiohttp quotes."""
    text = str(getattr(error, "message", "") or error).strip() or type(error).__name__
    return httpx.RemoteProtocolError(text.splitlines()[0].partition(": b'")[0].rstrip(":"))
