"""HTTP clients: one an event loop, shared by all providers, closed with the loop. No retries and no vendors here."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from officellm.clock import Clock, SystemClock
from officellm.httpclient import HttpOptions, new_client

if TYPE_CHECKING:
    import httpx


class HttpPool:
    """The `HttpFactory` that drivers get: `pool()` is the client of the running event loop."""

    def __init__(self, clock: Clock | None = None, options: HttpOptions | None = None) -> None:
        self.clock: Clock = clock or SystemClock()
        self._options = options or HttpOptions()
        self._others: dict[HttpOptions, HttpPool] = {}
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()
        self._keepers: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncGenerator[None, None]] = WeakKeyDictionary()

    def __call__(self) -> httpx.AsyncClient:
        """The client of the running event loop; it is closed when the loop shuts down, or by `aclose`."""
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = new_client(self._options)
            self._keepers[loop] = _close_with_loop(client)
            weakref.finalize(self, _outlived, client).atexit = False
        return client

    def having(self, options: HttpOptions) -> HttpPool:
        """The pool for these options: this one, or one that is closed with it."""
        if options == self._options:
            return self
        return self._others.setdefault(options, HttpPool(self.clock, options))

    async def aclose(self) -> None:
        """Close the running loop's client now."""
        for other in self._others.values():
            await other.aclose()
        loop = asyncio.get_running_loop()
        self._clients.pop(loop, None)
        keeper = self._keepers.pop(loop, None)
        if keeper is not None:
            await keeper.aclose()


def _outlived(client: httpx.AsyncClient) -> None:
    """Nothing: that this call is due holds a client that its pool did not close until the keeper can close it."""


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
