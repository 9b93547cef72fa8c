"""Recorded exchanges for tests, and what differs between a wire format's reading and the vendor's own SDK's.

The folder is `OFFICELLM_RECORDINGS`, or `../shared/recordings` beside the repository; tests skip where there is none.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from officellm import Fault, Reply, Request, WireFormat
from officellm.testing.exchanges import RecordedExchange, load_exchange, play
from officellm.wire import reported_usage

FOLDER = Path(
    os.environ.get("OFFICELLM_RECORDINGS") or Path(__file__).resolve().parents[3].parent / "shared" / "recordings"
)


@dataclass(frozen=True)
class Exchange:
    """One recorded request with its reply, and what it should come to."""

    name: str
    recorded: RecordedExchange

    @property
    def format(self) -> str:
        return self.recorded.format

    @property
    def status(self) -> int:
        return self.recorded.status

    @property
    def headers(self) -> dict[str, str]:
        return dict(self.recorded.headers)

    @property
    def body(self) -> bytes:
        return self.recorded.body

    @property
    def streamed(self) -> bool:
        return self.recorded.streamed

    @property
    def neutral(self) -> Request:
        """The recorded request, as far as parsing depends on it."""
        return self.recorded.request

    @property
    def expect(self) -> dict[str, Any]:
        return self.recorded.file["expect"]


def exchanges(*formats: str) -> list[Exchange]:
    """All recordings of these formats, sorted by name; empty where there is no folder."""
    paths = [path for name in formats for path in FOLDER.glob(f"*/{name}.*.json")]
    return [Exchange(path.stem, load_exchange(path)) for path in sorted(paths)]


def each(found: list[Exchange]) -> pytest.MarkDecorator:
    """A test for each exchange; without a folder one that is skipped, with the reason."""
    absent = pytest.mark.skip(reason=f"no recordings in {FOLDER} (set OFFICELLM_RECORDINGS)")
    cases = [pytest.param(one, id=one.name) for one in found] or [pytest.param(None, marks=absent, id="none")]
    return pytest.mark.parametrize("exchange", cases)


def read(wire: WireFormat, exchange: Exchange, *, chunk: int = 0) -> Reply | Fault:
    """What the format makes of the exchange, served whole or in pieces of `chunk` bytes."""
    return play(wire, exchange.recorded, chunk=chunk)


def differences(exchange: Exchange, result: Reply | Fault) -> list[str]:
    """Where `result` is not what the recording expects; empty where all is well."""
    expect = exchange.expect
    wanted = expect.get("error")
    if wanted is not None:
        if isinstance(result, Reply):
            return [f"a reply instead of an error: {result.message.text[:80]!r}"]
        found = {"status": result.status, "retryable": result.retryable}
        return [
            f"{key}: {found[key]!r}, not {wanted[key]!r}"
            for key in ("status", "retryable")
            if wanted.get(key) is not None and found[key] != wanted[key]
        ]
    if isinstance(result, Fault):
        return [f"a fault instead of a reply: {result}"]
    return _reply_differences(expect, result)


def usage_differences(wire: WireFormat, exchange: Exchange, result: Reply | Fault) -> list[str]:
    """Where the service's own counters were lost. An SDK does not see all: where it has none at all, ours may have."""
    usage = exchange.expect.get("usage")
    if usage is None or isinstance(result, Fault):
        return []
    found = reported_usage(wire, result.raw_usage)._asdict()
    return [f"{key}: {found[key]!r}, not {usage.get(key)!r}" for key in found if found[key] != usage.get(key)]


def _reply_differences(expect: dict[str, Any], reply: Reply) -> list[str]:
    pairs: dict[str, tuple[Any, Any]] = {
        "text": (reply.message.text, expect["text"]),
        "calls": (_calls(reply), _expected_calls(reply, expect)),
        "finish": (reply.raw_stop or None, str(expect["finish_reason"] or "") or None),
    }
    if expect.get("refusal"):
        pairs["refusal"] = (reply.refusal, expect["refusal"])
    return [f"{what}: {found!r}, not {want!r}" for what, (found, want) in pairs.items() if found != want]


def _calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {"id": call.id, "name": call.name, "arguments": call.raw if call.problem else dict(call.arguments or {})}
        for call in reply.message.calls
    ]


def _expected_calls(reply: Reply, expect: dict[str, Any]) -> list[dict[str, Any]]:
    """A recording has no id where the service sent none; a call in OpenAI's oldest form stands apart."""
    found = reply.message.calls
    legacy = expect.get("legacy_function_call") or {}
    calls = expect["tool_calls"] or ([legacy] if legacy.get("name") else [])
    return [
        {
            "id": call.get("id") or (found[place].id if place < len(found) else ""),
            "name": call["name"],
            "arguments": call["arguments"],
        }
        for place, call in enumerate(calls)
    ]
