"""Replies of Bedrock in Amazon's binary event stream, made of the frames that the fake server sends."""

from __future__ import annotations

import base64
import json

from officellm.testing.wires.eventstream import EVENT_STREAM, exception, frame

__all__ = ["exception", "frame"]

CONTENT_TYPE = {"content-type": EVENT_STREAM}


def event(kind, **payload):
    """A frame of Converse around anything, padded like the service's."""
    headers = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    return frame(headers, json.dumps({**payload, "p": "abcdefghijkl"}, ensure_ascii=False).encode())


def chunk(data):
    """A frame of InvokeModel around one of Anthropic's events."""
    return event("chunk", bytes=base64.b64encode(json.dumps(data, ensure_ascii=False).encode()).decode())


def error(code, message):
    """A frame that is an error of the stream itself."""
    return frame({":message-type": "error", ":error-code": code, ":error-message": message}, b"")


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
