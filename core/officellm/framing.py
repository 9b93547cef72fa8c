"""Cuts the bytes of a streamed reply into events, whatever the chunks. What an event means, the wire format says."""

from __future__ import annotations

from officellm.errors import ConfigError
from officellm.faults import malformed
from officellm.wire import Framing, StreamDecoder, StreamEvent, WireFormat

#: An event of this size is no reply: without a cap a server that never ends its event fills the memory.
MAX_EVENT_BYTES = 32 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"


class _Lines:
    """Cuts chunks at LF, CR and CRLF. Neither byte occurs inside a UTF-8 sequence, so a whole line decodes alone."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._tail: list[bytes] = []
        self._tail_size = 0
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[bytes]:
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk[1:] if chunk[:1] == b"\n" else chunk
        if b"\n" not in chunk and b"\r" not in chunk:
            if chunk:
                self._tail.append(chunk)
                self._tail_size += len(chunk)
                self._check(self._tail_size)
            return []
        if self._tail:
            chunk = b"".join((*self._tail, chunk))
            self._tail.clear()
            self._tail_size = 0
        self._after_cr = chunk.endswith(b"\r")
        lines = chunk.splitlines()
        if not chunk.endswith((b"\n", b"\r")):
            self._tail.append(lines.pop())
            self._tail_size = len(self._tail[0])
            self._check(self._tail_size)
        return lines

    def close(self) -> list[bytes]:
        lines = [b"".join(self._tail)] if self._tail else []
        self._tail.clear()
        self._tail_size = 0
        return lines

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise malformed(f"one event of the stream is larger than {self._limit} bytes")


class SseDecoder:
    """Server-sent events. Comments, unknown fields and events without data are dropped; bad UTF-8 becomes U+FFFD."""

    def __init__(self, limit: int = MAX_EVENT_BYTES) -> None:
        self._limit = limit
        self._lines = _Lines(limit)
        self._first = True
        self._name = ""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[StreamEvent]:
        """The events that this chunk completes. Raises `FaultError` (kind `malformed`) for an event beyond the cap."""
        lines = self._lines.feed(chunk)
        if self._first and lines:
            self._first = False
            lines[0] = lines[0].removeprefix(_BOM)
        events: list[StreamEvent] = []
        for line in lines:
            if line[:5] == b"data:":
                self._add_data(line[6:] if line[5:6] == b" " else line[5:])
            elif not line:
                self._end_event(events)
            else:
                self._other_field(line)
        return events

    def close(self) -> list[StreamEvent]:
        """The last event, where the server closed without the blank line that ends it."""
        lines = self._lines.close()
        events = self.feed(lines[0] + b"\n") if lines else []
        self._end_event(events)
        return events

    def _add_data(self, data: bytes) -> None:
        self._data.append(data)
        self._size += len(data)
        if self._size > self._limit:
            raise malformed(f"one event of the stream is larger than {self._limit} bytes")

    def _end_event(self, events: list[StreamEvent]) -> None:
        if self._data:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            if data and not data.isspace():
                events.append(StreamEvent((self._name, data.decode("utf-8", "replace"))))
            self._data = []
            self._size = 0
        self._name = ""

    def _other_field(self, line: bytes) -> None:
        field, _, value = line.partition(b":")
        if field == b"event":
            self._name = value.removeprefix(b" ").decode("utf-8", "replace")
        elif field == b"data":
            self._add_data(b"")


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
    def _events(lines: list[bytes]) -> list[StreamEvent]:
        texts = [line.removeprefix(_BOM).decode("utf-8", "replace") for line in lines]
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
