"""HTTP clients: one an event loop, shared by all providers, closed with the loop. No retries and no vendors here."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from functools import cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from officellm.clock import Clock, SystemClock

if TYPE_CHECKING:
    import ssl

    import httpx


@cache
def _ssl_context() -> ssl.SSLContext:
    """One context for the process: loading the certificate bundle costs 28 ms each time."""
    import httpx

    return httpx.create_ssl_context()


def _new_client() -> httpx.AsyncClient:
    # Stock httpx pooling collapses above 20 connections (quadratic, and it reconnects); aiohttp's does not.
    import httpx
    from httpx_aiohttp import AiohttpTransport

    # 0 is aiohttp's word for unlimited: providers cap their own concurrency.
    limits = httpx.Limits(max_connections=0, keepalive_expiry=60)
    transport = AiohttpTransport(verify=_ssl_context(), limits=limits)
    return httpx.AsyncClient(transport=transport, timeout=60, headers={"user-agent": "officellm"})


class HttpPool:
    """The `HttpFactory` that drivers get: `pool()` is the client of the running event loop."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock: Clock = clock or SystemClock()
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()
        self._keepers: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncGenerator[None, None]] = WeakKeyDictionary()

    def __call__(self) -> httpx.AsyncClient:
        """The client of the running event loop; it is closed when the loop shuts down, or by `aclose`."""
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = _new_client()
            self._keepers[loop] = _close_with_loop(client)
        return client

    async def aclose(self) -> None:
        """Close the running loop's client now."""
        loop = asyncio.get_running_loop()
        self._clients.pop(loop, None)
        keeper = self._keepers.pop(loop, None)
        if keeper is not None:
            await keeper.aclose()


def _close_with_loop(client: httpx.AsyncClient) -> AsyncGenerator[None, None]:
    """An async generator that has been started: `asyncio.run` closes those before the loop, and with it the client."""

    async def keep() -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            await client.aclose()

    keeper = keep()
    with contextlib.suppress(StopIteration):
        keeper.__anext__().send(None)
    return keeper
