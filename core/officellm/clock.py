"""Time and chance, passed in where they are needed, so that tests and replays choose them."""

from __future__ import annotations

import asyncio
import random
import time
from typing import Protocol


class Clock(Protocol):
    """What officellm needs of time and chance."""

    def monotonic(self) -> float:
        """Seconds that never go backwards: deadlines and durations."""

    def wall(self) -> float:
        """Seconds since the epoch: what events are stamped with."""

    async def sleep(self, seconds: float) -> None:
        """Wait; cancellable."""

    def jitter(self) -> float:
        """A number in [0, 1)."""


class SystemClock:
    """The machine's own."""

    def monotonic(self) -> float:
        """`time.monotonic`."""
        return time.monotonic()

    def wall(self) -> float:
        """`time.time`."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """`asyncio.sleep`."""
        await asyncio.sleep(seconds)

    def jitter(self) -> float:
        """`random.random`."""
        return random.random()
