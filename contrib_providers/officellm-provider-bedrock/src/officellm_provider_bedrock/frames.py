"""Cuts Amazon's binary event stream into events. What an event means, the wire format says.

A frame: its length, the length of its headers, a checksum of both, the headers, the payload, a checksum of all of it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from zlib import crc32

from officellm import FaultError, StreamEvent, dump_text, loads, malformed
from officellm_provider_bedrock.endpoint import EXCEPTION

#: Amazon's own bounds, in bytes.
_MOST_HEADERS = 128 * 1024
_MOST_PAYLOAD = 24 * 1024 * 1024
_PRELUDE = struct.Struct("!III")
_PRELUDE_SIZE = 12
_CHECKSUM = struct.Struct("!I")
_LENGTH = struct.Struct("!H")
#: How long the values of each type of header are; those of the two last ones begin with their length.
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_BYTES, _TEXT = 6, 7


class FrameDecoder:
    """A `StreamDecoder`. An error frame becomes an event `exception` with `{"error": {"type", "message"}}`."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        #: How many bytes there must be before there is anything to do.
        self._wanted = _PRELUDE_SIZE
        self._head = b""
        self._headers: Mapping[str, str] = {}
        self._name = ""
        self._fails = False
        self._broken: FaultError | None = None

    def feed(self, chunk: bytes) -> list[StreamEvent]:
        """The events that this chunk completes. Raises `FaultError` (kind `malformed`) for bytes that are no frames."""
        if self._broken is not None:
            raise self._broken
        self._pieces.append(chunk)
        self._size += len(chunk)
        if self._size < self._wanted:
            return []
        events: list[StreamEvent] = []
        try:
            rest = self._cut(b"".join(self._pieces), events)
        except (ValueError, LookupError, struct.error) as error:
            self._broken = malformed(f"the stream holds a broken frame ({error})")
            if not events:
                raise self._broken from None
        else:
            self._pieces, self._size = [rest], len(rest)
        return events

    def close(self) -> list[StreamEvent]:
        """Nothing: a frame is whole or it is cut, and a reply without its last frame is noticed by the parser."""
        if self._broken is not None:
            raise self._broken
        return []

    def _cut(self, data: bytes, events: list[StreamEvent]) -> bytes:
        """Adds the event of each whole frame; what is left of the bytes. Raises `ValueError` and others."""
        start, size = 0, len(data)
        while size - start >= _PRELUDE_SIZE:
            total, head_size, checksum = _PRELUDE.unpack_from(data, start)
            if crc32(data[start : start + 8]) != checksum:
                raise ValueError("wrong checksum of the lengths")
            if not 0 <= total - head_size - 16 <= _MOST_PAYLOAD or head_size > _MOST_HEADERS:
                raise ValueError(f"{total} bytes, {head_size} of them headers")
            end = start + total
            if end > size:
                self._wanted = total
                return data[start:]
            # The checksum of the whole frame goes on where that of its lengths ended.
            if crc32(data[start + 8 : end - 4], checksum) != _CHECKSUM.unpack_from(data, end - 4)[0]:
                raise ValueError("wrong checksum")
            body = start + _PRELUDE_SIZE + head_size
            head = data[start + _PRELUDE_SIZE : body]
            if head != self._head:
                # Most frames have the headers of the one before.
                self._head, self._headers = head, _headers(head)
                self._fails = self._headers.get(":message-type") in ("exception", "error")
                self._name = self._headers.get(":event-type", "")
            text = data[body : end - 4].decode("utf-8", "replace")
            events.append(_error(self._headers, text) if self._fails else StreamEvent((self._name, text)))
            start = end
        self._wanted = _PRELUDE_SIZE
        return data[start:]


def _headers(head: bytes) -> Mapping[str, str]:
    """The headers that are texts. Raises `ValueError` and others."""
    found: dict[str, str] = {}
    at = 0
    while at < len(head):
        start = at + 1 + head[at]
        name, kind = head[at + 1 : start].decode(), head[start]
        start += 1
        if kind in (_BYTES, _TEXT):
            at = start + 2 + _LENGTH.unpack_from(head, start)[0]
            start += 2
        else:
            at = start + _SIZES[kind]
        if at > len(head) or name in found:
            raise ValueError(f"header {name!r}")
        found[name] = head[start:at].decode() if kind == _TEXT else ""
    return found


def _error(headers: Mapping[str, str], text: str) -> StreamEvent:
    if headers[":message-type"] == "exception":
        code, words = headers.get(":exception-type"), _words(text)
    else:
        code, words = headers.get(":error-code"), headers.get(":error-message", "")
    error = {"type": code or "unknown error", "message": words or code or "unknown error"}
    return StreamEvent((EXCEPTION, dump_text({"error": error})))


def _words(data: str) -> str:
    try:
        payload = loads(data)
    except (ValueError, RecursionError):
        return data
    found = payload.get("message", payload.get("Message")) if isinstance(payload, Mapping) else None
    return found if isinstance(found, str) else data
