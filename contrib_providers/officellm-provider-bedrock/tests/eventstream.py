"""Writes AWS's binary event stream, as the service does."""

from __future__ import annotations

import base64
import json
import struct
import zlib

CONTENT_TYPE = {"content-type": "application/vnd.amazon.eventstream"}


def frame(headers, payload):
    """One frame; all headers are texts."""
    head = b"".join(
        struct.pack("!B", len(name)) + name.encode() + b"\x07" + struct.pack("!H", len(value.encode())) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack("!II", len(head) + len(payload) + 16, len(head))
    begun = prelude + struct.pack("!I", zlib.crc32(prelude)) + head + payload
    return begun + struct.pack("!I", zlib.crc32(begun))


def event(kind, **payload):
    """A frame of Converse, padded like the service's."""
    headers = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    return frame(headers, json.dumps({**payload, "p": "abcdefghijkl"}, ensure_ascii=False).encode())


def exception(kind, message):
    """A frame that is an error of the API."""
    headers = {":exception-type": kind, ":content-type": "application/json", ":message-type": "exception"}
    return frame(headers, json.dumps({"message": message}).encode())


def error(code, message):
    """A frame that is an error of the stream itself."""
    return frame({":message-type": "error", ":error-code": code, ":error-message": message}, b"")


def chunk(data):
    """A frame of InvokeModel around one of Anthropic's events."""
    packed = base64.b64encode(json.dumps(data, ensure_ascii=False).encode()).decode()
    headers = {":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}
    return frame(headers, json.dumps({"bytes": packed, "p": "abcd"}).encode())


def delta(index, **piece):
    """A piece of a content block."""
    return event("contentBlockDelta", contentBlockIndex=index, delta=piece)


def call_start(index, id, name, **more):
    """The beginning of a call."""
    return event(
        "contentBlockStart", contentBlockIndex=index, start={"toolUse": {"toolUseId": id, "name": name, **more}}
    )


def block_stop(index):
    """The end of a content block."""
    return event("contentBlockStop", contentBlockIndex=index)


def stream(*frames, stop="end_turn", usage=None):
    """A whole streamed reply."""
    counts = [event("metadata", usage=usage, metrics={"latencyMs": 1})] if usage else []
    return b"".join([event("messageStart", role="assistant"), *frames, event("messageStop", stopReason=stop), *counts])
