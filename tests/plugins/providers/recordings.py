"""Recorded exchanges for tests.

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
