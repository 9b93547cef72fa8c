"""A network that is not there: replies of a vendor, cut at will, played to a provider that thinks it speaks HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from officellm.messages import Stop
from officellm.testing.contracts.clock import FakeClock
from officellm.wire import FaultKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One reply of the vendor, byte for byte, and what it means in neutral terms.

    Two exchanges of one `name`, one streamed and one not, must mean the same. `request` holds further fields of the
    neutral request. `calls` are `(id, name, arguments)`; the id is None where the vendor sends none. `usage` is input
    and output tokens, None where the vendor sends no counts. An error reply has a `fault` and no more.
    """

    name: str
    body: bytes
    streamed: bool = False
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    request: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    calls: Sequence[tuple[str | None, str, Mapping[str, Any]]] = ()
    stop: Stop = "stop"
    usage: tuple[int, int] | None = None
    fault: FaultKind | None = None
    retryable: bool = False

    def __str__(self) -> str:
        return f"{self.name}-{'streamed' if self.streamed else 'whole'}"

    @property
    def all_headers(self) -> Mapping[str, str]:
        """The headers, with a content type where the author gave none."""
        return {"content-type": "text/event-stream" if self.streamed else "application/json", **self.headers}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What comes back on the wire: chunks, and then the end, an `error`, or silence (`hangs`)."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    chunks: Sequence[bytes] = ()
    error: Exception | None = None
    hangs: bool = False

    @classmethod
    def of(cls, exchange: Exchange, chunks: Sequence[bytes] | None = None, **changes: Any) -> Answer:
        """The exchange's reply, in one chunk or in these."""
        body = [exchange.body] if chunks is None else chunks
        return cls(status=exchange.status, headers=exchange.all_headers, chunks=body, **changes)


class PlayedBody(httpx.AsyncByteStream):
    """The body of one answer; `closed` once the client let go of it."""

    def __init__(self, answer: Answer, silent: asyncio.Event) -> None:
        self._answer = answer
        self._silent = silent
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._answer.chunks:
            yield chunk
        if self._answer.error is not None:
            raise self._answer.error
        if self._answer.hangs:
            self._silent.set()
            await asyncio.Event().wait()

    async def aclose(self) -> None:
        """The client let go."""
        self.closed = True


class Playback:
    """An `HttpFactory` without a network: gives its answers in order, the last one for good, and keeps what was sent.

    An exception instead of an answer is raised as httpx would; a function gets the request and returns one of these.
    """

    def __init__(self, *answers: Answer | Exception | Callable[[httpx.Request], Answer]) -> None:
        self.clock = FakeClock()
        self.sent: list[httpx.Request] = []
        #: Set once a body has fallen silent.
        self.silent = asyncio.Event()
        self.bodies: list[PlayedBody] = []
        self._answers = answers
        self._client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))

    def __call__(self) -> httpx.AsyncClient:
        """The client."""
        return self._client

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        answer = self._answers[min(len(self.sent), len(self._answers) - 1)]
        self.sent.append(request)
        await asyncio.sleep(0)
        if isinstance(answer, Exception):
            raise answer
        if not isinstance(answer, Answer):
            answer = answer(request)
        body = PlayedBody(answer, self.silent)
        self.bodies.append(body)
        return httpx.Response(answer.status, headers=dict(answer.headers), stream=body)


#: A body up to this many bytes is cut in two at every one of them, a longer one at as many places.
CUTS = 1024


def recut(body: bytes) -> Iterator[list[bytes]]:
    """The body in other chunks: byte by byte, in small pieces, and in two at every place."""
    for size in (1, 2, 3, 7, 64):
        yield [body[at : at + size] for at in range(0, len(body), size)]
    step = max(1, len(body) // CUTS)
    for at in range(1, len(body), step):
        yield [body[:at], body[at:]]
