"""Reads the body of an HTTP reply within bounds: of size, of patience, of the deadline. What it says is not read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING

from officellm.clock import Clock
from officellm.wire import Fault, FaultError

if TYPE_CHECKING:
    import httpx

#: The largest body that is read, in bytes. Replies are some kilobytes; this only stops a server that never ends.
MAX_BODY = 64 * 1024 * 1024
#: The same for a stream, whose events wrap every few characters in hundreds of bytes.
MAX_STREAM = 4 * MAX_BODY


class ResponseBody:
    """One reply's body. It must come to something within `patience` seconds, and end before `deadline`."""

    def __init__(self, response: httpx.Response, clock: Clock, patience: float, deadline: float | None) -> None:
        self._response = response
        self._clock = clock
        self._patience = patience
        self._deadline = deadline
        self._since = clock.monotonic()
        self._size = 0

    async def read(self) -> bytes:
        """All of it. Raises `FaultError`."""
        parts: list[bytes] = []
        pieces = self._response.aiter_bytes()
        if self._deadline is None:  # the usual case, and worth its own loop: every turn comes here
            async for chunk in pieces:
                self._check(len(chunk), MAX_BODY)
                parts.append(chunk)
            return b"".join(parts)
        while chunk := await self._next(pieces, MAX_BODY):
            parts.append(chunk)
        return b"".join(parts)

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """As it comes. Raises `FaultError`."""
        pieces = self._response.aiter_bytes()
        while chunk := await self._next(pieces, MAX_STREAM):
            yield chunk

    def progressed(self) -> None:
        """What came was worth waiting for, and not only bytes that keep a connection alive."""
        self._since = self._clock.monotonic()

    async def _next(self, pieces: AsyncIterator[bytes], most: int) -> bytes:
        """The next chunk, empty at the end."""
        if self._deadline is None:
            chunk = await anext(pieces, b"")
        else:
            async with asyncio.timeout(self._deadline - self._clock.monotonic()):
                chunk = await anext(pieces, b"")
        self._check(len(chunk), most)
        return chunk

    def _check(self, size: int, most: int) -> None:
        self._size += size
        if self._size > most:
            raise FaultError(Fault("malformed", f"the body is larger than {most} bytes", self._response.status_code))
        if self._clock.monotonic() - self._since > self._patience:
            raise FaultError(Fault("timeout", f"no reply within {self._patience:g} s", retryable=True))
