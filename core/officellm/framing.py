"""Cuts the bytes of a streamed reply into events, whatever the chunks. What an event means, the wire format says."""

from __future__ import annotations

import re

from officellm.errors import ConfigError
from officellm.faults import malformed
from officellm.wire import FaultError, Framing, StreamDecoder, StreamEvent, WireFormat

#: An event of this size is no reply: without a cap a server that never ends its event fills the memory.
MAX_EVENT_BYTES = 32 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"
_CR = ord("\r")
#: What nearly all events are: a name or none, one line of data, a blank line.
_EVENT = re.compile(rb"^(?:event: ?(.*)\n)?data: ?(.*)\n\n", re.MULTILINE)


class _Lines:
    """Cuts chunks at LF, CR and CRLF. Neither byte occurs inside a UTF-8 sequence, so a whole line decodes alone."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._tail: list[bytes] = []
        self._tail_size = 0
        self._after_cr = False

    def feed(self, chunk: bytes) -> bytes:
        """The lines that this chunk completes, each with an LF at its end."""
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk[1:] if chunk[:1] == b"\n" else chunk
        if _CR in chunk:
            self._after_cr = chunk.endswith(b"\r")
            end = b"\n" if self._after_cr or chunk.endswith(b"\n") else b""
            chunk = b"\n".join(chunk.splitlines()) + end
        cut = chunk.rfind(b"\n") + 1
        if cut == len(chunk) and not self._tail:
            return chunk
        whole = b""
        if cut:
            whole = b"".join((*self._tail, chunk[:cut]))
            self._tail.clear()
            self._tail_size = 0
        self._tail.append(chunk[cut:])
        self._tail_size += len(chunk) - cut
        if self._tail_size > self._limit:
            raise _too_large(self._limit)
        return whole

    def close(self) -> bytes:
        """The last line, where nothing ended it."""
        tail = b"".join(self._tail)
        self._tail.clear()
        self._tail_size = 0
        return tail


def _too_large(limit: int) -> FaultError:
    return malformed(f"one event of the stream is larger than {limit} bytes")


class SseDecoder:
    """Server-sent events. Comments, unknown fields and events without data are dropped; bad UTF-8 becomes U+FFFD."""

    def __init__(self, limit: int = MAX_EVENT_BYTES) -> None:
        self._limit = limit
        self._lines = _Lines(limit)
        self._first = True
        #: What was read of an event whose blank line is still to come.
        self._name = b""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[StreamEvent]:
        """The events that this chunk completes. Raises `FaultError` (kind `malformed`) for an event beyond the cap."""
        lines = self._lines.feed(chunk)
        if self._first and lines:
            self._first = False
            lines = lines.removeprefix(_BOM)
        events: list[StreamEvent] = []
        # What stands before an event, its name, its data, what stands before the next one, and so on.
        pieces = iter(_EVENT.split(lines))
        for before in pieces:
            if before:
                self._read(before, events)
            name, data = next(pieces, None), next(pieces, None)
            if data is None:
                break
            if self._data or self._name or len(data) > self._limit:
                self._name = self._name if name is None else name
                self._add_data(data)
                self._end_event(events)
            elif data and not data.isspace():
                events.append(_event(name or b"", data))
        return events

    def close(self) -> list[StreamEvent]:
        """The last event, where the server closed without the blank line that ends it."""
        line = self._lines.close()
        events = self.feed(line + b"\n") if line else []
        self._end_event(events)
        return events

    def _read(self, lines: bytes, events: list[StreamEvent]) -> None:
        """Lines in any order, as the standard has them."""
        for line in lines.splitlines():
            field, _, value = line.partition(b":")
            if not line:
                self._end_event(events)
            elif field == b"data":
                self._add_data(value.removeprefix(b" "))
            elif field == b"event":
                self._name = value.removeprefix(b" ")

    def _add_data(self, data: bytes) -> None:
        self._data.append(data)
        self._size += len(data)
        if self._size > self._limit:
            raise _too_large(self._limit)

    def _end_event(self, events: list[StreamEvent]) -> None:
        data = b"\n".join(self._data)
        if data and not data.isspace():
            events.append(_event(self._name, data))
        self._name = b""
        self._data.clear()
        self._size = 0


def _event(name: bytes, data: bytes) -> StreamEvent:
    return StreamEvent((name.decode("utf-8", "replace"), data.decode("utf-8", "replace")))


class NdjsonDecoder:
    """One JSON text a line; blank lines are dropped."""

    def __init__(self, limit: int = MAX_EVENT_BYTES) -> None:
        self._lines = _Lines(limit)

    def feed(self, chunk: bytes) -> list[StreamEvent]:
        """The events that this chunk completes. Raises `FaultError` (kind `malformed`) for a line beyond the cap."""
        return self._events(self._lines.feed(chunk))

    def close(self) -> list[StreamEvent]:
        """The last line, where the server closed without ending it."""
        return self._events(self._lines.close())

    @staticmethod
    def _events(lines: bytes) -> list[StreamEvent]:
        texts = [line.removeprefix(_BOM).decode("utf-8", "replace") for line in lines.splitlines()]
        return [StreamEvent(("", text)) for text in texts if text and not text.isspace()]


def new_decoder(wire: WireFormat) -> StreamDecoder:
    """A fresh decoder for one stream: the format's own where it brings one (`wire.decoder()`), else of its framing."""
    own = getattr(wire, "decoder", None)
    return own() if own is not None else decoder(wire.framing)


def decoder(framing: Framing) -> StreamDecoder:
    """A fresh decoder for a wire format's framing. Raises `ConfigError` for one that is not built in."""
    if framing == "sse":
        return SseDecoder()
    if framing == "ndjson":
        return NdjsonDecoder()
    raise ConfigError(
        f"stream framing {framing!r} has no decoder here: the wire format must bring its own (`decoder`)."
    )
