"""Writes Amazon's binary event stream: the frames of the fake server's streams. What stands in them, the wires say.

A frame: its length, the length of its headers, a checksum of both, the headers, the payload, a checksum of all of it.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping
from typing import Any

from officellm.codec import dumps

EVENT_STREAM = "application/vnd.amazon.eventstream"

_PRELUDE = struct.Struct("!III")
_CHECKSUM = struct.Struct("!I")
_TEXT = b"\x07"


def frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    """One frame; all headers are texts."""
    return _framed(b"".join(_header(name.encode(), value.encode()) for name, value in headers.items()), payload)


def event(kind: str, value: Any) -> bytes:
    """A frame that is an event, padded like the service's."""
    headers = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    return frame(headers, dumps({**value, "p": "abcdefghijkl"}))


def chunk(value: Any) -> bytes:
    """A frame of InvokeModel around one of the model's own events."""
    return event("chunk", {"bytes": base64.b64encode(dumps(value)).decode()})


def exception(kind: str, message: str) -> bytes:
    """A frame that is an error of the API."""
    headers = {":exception-type": kind, ":content-type": "application/json", ":message-type": "exception"}
    return frame(headers, dumps({"message": message}))


def cut_payload(whole: bytes) -> bytes:
    """A frame like this one that is right in itself, with a third of its payload missing."""
    _, size, _ = _PRELUDE.unpack_from(whole)
    start = _PRELUDE.size + size
    payload = whole[start : -_CHECKSUM.size]
    return _framed(whole[_PRELUDE.size : start], payload[: len(payload) * 2 // 3])


def _header(name: bytes, value: bytes) -> bytes:
    return bytes([len(name)]) + name + _TEXT + struct.pack("!H", len(value)) + value


def _framed(head: bytes, payload: bytes) -> bytes:
    lengths = struct.pack("!II", len(head) + len(payload) + 16, len(head))
    begun = lengths + _CHECKSUM.pack(zlib.crc32(lengths)) + head + payload
    return begun + _CHECKSUM.pack(zlib.crc32(begun))
