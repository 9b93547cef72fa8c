"""A clock that a test turns: sleeping costs no time, and what was slept is kept."""

from __future__ import annotations

import asyncio


class FakeClock:
    """A `Clock` that stands still until someone sleeps or a test advances it; its jitter is always 0."""

    def __init__(self, start: float = 1000.0) -> None:
        self._now = start
        #: Every sleep so far, in seconds.
        self.slept: list[float] = []

    def monotonic(self) -> float:
        """Seconds since an arbitrary start."""
        return self._now

    def wall(self) -> float:
        """The same seconds, as if since the epoch."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Let the time pass at once, and others run."""
        self.slept.append(seconds)
        self._now += seconds
        await asyncio.sleep(0)

    def jitter(self) -> float:
        """No chance at all."""
        return 0.0

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now += seconds
