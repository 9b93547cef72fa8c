"""What a wire format makes of a recorded exchange, as one JSON object; printing it is the command's work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from officellm.errors import OfficeError
from officellm.messages import Reply, ToolCall
from officellm.testing.exchanges import load_exchange, play
from officellm.wire import Fault, WireFormat, reported_usage
from officellm.wireformats import driver_of

_NO_REPLY: dict[str, Any] = {"text": "", "calls": [], "stop": None, "raw_stop": None}


def exchange_line(path: str, find: Callable[[str], WireFormat]) -> dict[str, Any]:
    """The line for this file; with `error` alone where it is malformed or its driver is not installed."""
    try:
        exchange = load_exchange(path)
        wire = find(driver_of(exchange.format))
        found = play(wire, exchange)
    except OfficeError as error:
        return {"file": path, "error": str(error)}
    if isinstance(found, Fault):
        usage = reported_usage(wire, None)
        fault = {"status": found.status, "retryable": found.retryable}
        return {"file": path, **_NO_REPLY, "usage": usage._asdict(), "fault": fault}
    return {"file": path, **_reply(found), "usage": reported_usage(wire, found.raw_usage)._asdict(), "fault": None}


def _reply(reply: Reply) -> dict[str, Any]:
    return {
        "text": reply.message.text,
        "calls": [_call(call) for call in reply.message.calls],
        "stop": reply.stop,
        "raw_stop": reply.raw_stop,
    }


def _call(call: ToolCall) -> dict[str, Any]:
    """The call as it came: no id where the service sent none, and the model's own text where it is no object."""
    arguments = call.raw if call.arguments is None else call.arguments
    return {"id": call.id or None, "name": call.name, "arguments": arguments}
