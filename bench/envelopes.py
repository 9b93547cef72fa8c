"""How each service writes an event of a stream: the bytes of it, and the JSON texts in it."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from typing import Any


def compact(value: Any, separators: tuple[str, str] = (",", ":")) -> str:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=separators)


def sse(value: Any) -> tuple[bytes, str]:
    """A server-sent event."""
    text = compact(value)
    return f"data: {text}\n\n".encode(), text


def named(value: Any) -> tuple[bytes, str]:
    """One with its type as a name."""
    text = compact(value)
    return f"event: {value['type']}\ndata: {text}\n\n".encode(), text


def google(value: Any) -> tuple[bytes, str]:
    """One with the blanks and line ends that Google writes."""
    text = compact(value, (",", ": "))
    return f"data: {text}\r\n\r\n".encode(), text


def line(value: Any) -> tuple[bytes, str]:
    """A line."""
    text = compact(value)
    return f"{text}\n".encode(), text


def frame(kind: str, text: str) -> bytes:
    """Amazon's frame: lengths, checksum, headers, payload, checksum."""
    head = b""
    for key, value in ((":event-type", kind), (":content-type", "application/json"), (":message-type", "event")):
        head += bytes([len(key)]) + key.encode() + b"\x07" + struct.pack("!H", len(value)) + value.encode()
    payload = text.encode()
    prelude = struct.pack("!II", len(head) + len(payload) + 16, len(head))
    begun = prelude + struct.pack("!I", zlib.crc32(prelude)) + head + payload
    return begun + struct.pack("!I", zlib.crc32(begun))


def converse(event: tuple[str, Any]) -> tuple[bytes, str]:
    """A frame of Converse."""
    kind, value = event
    text = compact({**value, "p": "abcdefghijklmnopqrstuvwxyzABCDE"})
    return frame(kind, text), text


def invoke(value: Any) -> tuple[bytes, str, str]:
    """A frame of InvokeModel, around an event of its own."""
    inner = compact(value)
    outer = compact({"bytes": base64.b64encode(inner.encode()).decode(), "p": "abcdefghijklmnopqrstuvwxyzABCDE"})
    return frame("chunk", outer), outer, inner
