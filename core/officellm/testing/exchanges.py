"""Recorded HTTP exchanges: reads their files and plays one to a wire format. Nothing is judged here."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from officellm.codec import dumps, loads
from officellm.errors import ConfigError
from officellm.framing import new_decoder
from officellm.jsonfields import Fields, shown
from officellm.messages import Reply, Request
from officellm.wire import Fault, FaultError, WireFormat

#: Framings of a body that is read whole; a Gemini stream without `alt=sse` is one JSON array.
_WHOLE = ("json", "json-array", "text")
_FRAMINGS = (*_WHOLE, "sse", "ndjson", "eventstream")
_EVENT_LINE = re.compile(rb"^(?:data|event|id|retry)?:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """One request and the reply to it, byte for byte. `file` is the whole recording, with all else that it says."""

    format: str
    status: int
    headers: Mapping[str, str]
    framing: str
    body: bytes
    #: The recorded request as far as reading its reply depends on it; the whole of it is read by `testing.recorded`.
    request: Request
    file: Mapping[str, Any]

    @property
    def streamed(self) -> bool:
        """Whether the reply came as events."""
        return self.framing not in _WHOLE


def load_exchange(path: str | Path) -> RecordedExchange:
    """The exchange in this file. Raises `ConfigError` for one that cannot be read."""
    try:
        recorded = loads(Path(path).read_bytes())
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", place=str(path)) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"not valid JSON: {error}", place=str(path)) from None
    try:
        return read_exchange(recorded)
    except ConfigError as error:
        raise ConfigError(str(error), place=str(path)) from None


def read_exchange(recorded: object) -> RecordedExchange:
    """The exchange that this JSON stands for. Raises `ConfigError`."""
    if not isinstance(recorded, Mapping):
        raise ConfigError(f"must be an object, not {shown(recorded)}")
    fields = Fields(recorded, "exchange", tuple(recorded))
    at = "exchange.response"
    response = Fields(fields.mapping("response"), at, tuple(fields.mapping("response")))
    framing = response.get("framing", str, "json")
    if framing not in _FRAMINGS:
        raise ConfigError(f"unknown framing {framing!r}. Known: {', '.join(_FRAMINGS)}.", place=f"{at}.framing")
    headers = {key.lower(): str(value) for key, value in response.mapping("headers").items()}
    streamed = framing not in _WHOLE
    return RecordedExchange(
        format=fields.need("format", str),
        status=response.get("status", int, 200),
        headers=headers,
        framing=framing,
        body=_body(response, framing),
        request=_request(fields.mapping("request").get("body"), streamed),
        file=recorded,
    )


def play(
    wire: WireFormat, exchange: RecordedExchange, *, request: Request | None = None, chunk: int = 0
) -> Reply | Fault:
    """What the format makes of the exchange; a stream is served whole, or in pieces of `chunk` bytes."""
    request = request or exchange.request
    try:
        if not 200 <= exchange.status < 300:
            return wire.classify(exchange.status, exchange.headers, exchange.body)
        if not exchange.streamed:
            return wire.parse(exchange.body, request)
        return play_stream(wire, exchange.body, request, chunk=chunk)
    except FaultError as error:
        return error.fault


def play_stream(wire: WireFormat, body: bytes, request: Request, *, chunk: int = 0) -> Reply:
    """The reply of a streamed body. Raises `FaultError`."""
    events, parser = new_decoder(wire), wire.stream_parser(request)
    size = chunk or len(body) or 1
    for start in range(0, len(body), size):
        for event in events.feed(body[start : start + size]):
            parser.feed(event)
    for event in events.close():
        parser.feed(event)
    return parser.finish()


def looks_streamed(body: bytes) -> bool:
    """Whether bytes without a content type are a stream: not one JSON value, but events, frames or lines of JSON."""
    text = body.removeprefix(b"\xef\xbb\xbf").lstrip()
    try:
        loads(text)
    except (ValueError, RecursionError):
        return text[:1] in (b"{", b"\x00") or _EVENT_LINE.search(text) is not None
    return False


def _body(response: Fields, framing: str) -> bytes:
    if framing == "eventstream":
        try:
            return base64.b64decode(response.need("eventstream_b64", str), validate=True)
        except (binascii.Error, ValueError):
            raise ConfigError("must be base64", place=f"{response.place}.eventstream_b64") from None
    written = response.maybe("raw_text", str)
    if written is None and framing in ("sse", "ndjson"):
        # Some recorders keep the text, some its lines; a line that ends in CR shows CRLF.
        lines = response.raw(framing)
        if not isinstance(lines, str):
            lines = "\n".join(str(line) for line, _ in response.items(framing))
        written = lines
    if written is None:
        body = response.raw("body")
        if body is not None and not isinstance(body, str):
            return _dumped(body, response.place)
        written = body if body is not None else response.get("text", str, "")
    return written.encode("utf-8", "surrogatepass")


def _dumped(body: object, place: str) -> bytes:
    try:
        return dumps(body)
    except ValueError as error:
        raise ConfigError(f"not valid JSON: {error}", place=f"{place}.body") from None


def _request(body: object, streamed: bool) -> Request:
    model = body.get("model") if isinstance(body, Mapping) else None
    return Request(model=str(model or "m"), messages=(), stream=streamed)
