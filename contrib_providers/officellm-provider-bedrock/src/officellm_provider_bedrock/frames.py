"""Cuts AWS's binary event stream into events. What an event means, the wire format says."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from botocore.eventstream import EventStreamBuffer, EventStreamMessage, ParserError

from officellm import FaultError, StreamEvent, dump_text, loads, malformed
from officellm_provider_bedrock.endpoint import EXCEPTION

#: What the decoder raises for a frame whose checksums are right and whose headers are not.
_BAD_FRAME = (ParserError, ValueError, LookupError, struct.error)


class FrameDecoder:
    """A `StreamDecoder`. An error frame becomes an event `exception` with `{"error": {"type", "message"}}`."""

    def __init__(self) -> None:
        self._buffer = EventStreamBuffer()
        self._broken: FaultError | None = None

    def feed(self, chunk: bytes) -> list[StreamEvent]:
        """The events that this chunk completes. Raises `FaultError` (kind `malformed`) for bytes that are no frames."""
        if self._broken is not None:
            raise self._broken
        events: list[StreamEvent] = []
        self._buffer.add_data(chunk)
        try:
            for message in self._buffer:
                events.append(_event(message))
        except _BAD_FRAME as error:
            self._broken = malformed(f"the stream holds a broken frame ({error})")
            if not events:
                raise self._broken from None
        return events

    def close(self) -> list[StreamEvent]:
        """Nothing: a frame is whole or it is cut, and a reply without its last frame is noticed by the parser."""
        if self._broken is not None:
            raise self._broken
        return []


def _event(message: EventStreamMessage) -> StreamEvent:
    headers: Mapping[str, Any] = message.headers
    kind = headers.get(":message-type")
    data = message.payload.decode("utf-8", "replace")
    if kind == "exception":
        return _error(headers.get(":exception-type"), _words(data))
    if kind == "error":
        return _error(headers.get(":error-code"), headers.get(":error-message"))
    return StreamEvent((str(headers.get(":event-type", "")), data))


def _error(code: object, words: object) -> StreamEvent:
    error = {"type": str(code or "unknown error"), "message": str(words or code or "unknown error")}
    return StreamEvent((EXCEPTION, dump_text({"error": error})))


def _words(data: str) -> str:
    try:
        payload = loads(data)
    except (ValueError, RecursionError):
        return data
    found = payload.get("message", payload.get("Message")) if isinstance(payload, Mapping) else None
    return found if isinstance(found, str) else data
