"""Replies of Bedrock in Amazon's binary event stream, made of the frames that the fake server sends."""

from __future__ import annotations

from officellm.testing.wires import eventstream
from officellm.testing.wires.eventstream import EVENT_STREAM, chunk, exception, frame

__all__ = [
    "CONTENT_TYPE",
    "block_stop",
    "call_start",
    "chunk",
    "delta",
    "error",
    "event",
    "exception",
    "frame",
    "stream",
]

CONTENT_TYPE = {"content-type": EVENT_STREAM}


def event(kind, **payload):
    """A frame of Converse."""
    return eventstream.event(kind, payload)


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
