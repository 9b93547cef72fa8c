"""Waits before a request is sent, so that a service's rate limits are kept. Nothing here sends or retries."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from officellm.clock import Clock
from officellm.ratelimitheaders import Budget, read_budgets
from officellm.wire import Fault, FaultError

_MINUTE = 60.0


@dataclass(slots=True, eq=False)
class Slot:
    """One request's place: when it may be sent, and its tokens, estimated until the reply says."""

    at: float
    model: str
    tokens: int


@dataclass(slots=True)
class _Bucket:
    """What a service says is left, refilled as time passes."""

    left: float
    limit: float
    per_second: float
    at: float

    def earliest(self, at: float, amount: float) -> float:
        missing = min(amount, self.limit) - self._left(at)
        return at if missing <= 0 else at + missing / self.per_second

    def take(self, at: float, amount: float) -> None:
        self.left, self.at = self._left(at) - amount, at

    def _left(self, at: float) -> float:
        return min(self.limit, self.left + (at - self.at) * self.per_second)


@dataclass(slots=True)
class _Learned:
    """What a service said of one model's limits, and what is on its way to it."""

    held_until: float = 0.0
    requests: _Bucket | None = None
    tokens: _Bucket | None = None
    pending: set[Slot] = field(default_factory=set)

    def earliest(self, at: float, tokens: int) -> float:
        at = max(at, self.held_until)
        if self.requests is not None:
            at = self.requests.earliest(at, 1)
        return at if self.tokens is None else self.tokens.earliest(at, tokens)

    def take(self, slot: Slot) -> None:
        self.pending.add(slot)
        if self.requests is not None:
            self.requests.take(slot.at, 1)
        if self.tokens is not None:
            self.tokens.take(slot.at, slot.tokens)


class RateLimit:
    """The limits of one provider: those of its settings, for all its models, and those that its replies tell, by model.

    Requests are let through in the order in which they came. It may be used on any event loop and in any thread.
    """

    def __init__(self, clock: Clock, requests_per_minute: int | None, tokens_per_minute: int | None) -> None:
        self._clock = clock
        self._requests = requests_per_minute
        self._tokens = tokens_per_minute
        self._limited = requests_per_minute is not None or tokens_per_minute is not None
        self._slots: deque[Slot] = deque()
        self._learned: dict[str, _Learned] = {}
        self._lock = threading.Lock()

    @property
    def idle(self) -> bool:
        """Whether there is nothing to wait for and nothing to count."""
        return not self._limited and not self._learned

    async def admit(self, model: str, tokens: int, deadline: float | None) -> Slot:
        """Wait for the request's turn. Raises `FaultError` at once where that would be after the deadline.

        The slot must be given to `release` when the request has ended.
        """
        slot = self._reserve(model, tokens, deadline)
        try:
            while (wait := self._due(slot) - self._clock.monotonic()) > 0:
                if deadline is not None and self._due(slot) >= deadline:
                    raise FaultError(_too_late(wait))
                await self._clock.sleep(wait)
        except BaseException:
            with self._lock:
                if slot in self._slots:
                    self._slots.remove(slot)
            self.release(slot)
            raise
        return slot

    def release(self, slot: Slot) -> None:
        """The request has ended."""
        with self._lock:
            if slot.model in self._learned:
                self._learned[slot.model].pending.discard(slot)

    def learn(self, model: str, headers: Iterable[tuple[bytes, bytes]], slot: Slot | None) -> None:
        """Take in what the headers of a reply say of the limits; `slot` is the request's own, which they count."""
        budgets = read_budgets(headers, self._clock.wall())
        if budgets is None:
            return
        with self._lock:
            now = self._clock.monotonic()
            learned = self._learned.setdefault(model, _Learned())
            # The service has not seen yet what is on its way.
            pending = [one for one in learned.pending if one is not slot]
            requests, tokens = budgets
            if requests is not None:
                learned.requests = _bucket(requests, now, len(pending))
            if tokens is not None:
                learned.tokens = _bucket(tokens, now, sum(one.tokens for one in pending))

    def hold(self, model: str, seconds: float) -> None:
        """The service asked to wait: nothing is sent to this model for so long, a minute at most."""
        with self._lock:
            learned = self._learned.setdefault(model, _Learned())
            learned.held_until = max(learned.held_until, self._clock.monotonic() + min(seconds, _MINUTE))

    def _due(self, slot: Slot) -> float:
        learned = self._learned.get(slot.model)
        return slot.at if learned is None else max(slot.at, learned.held_until)

    def _reserve(self, model: str, tokens: int, deadline: float | None) -> Slot:
        with self._lock:
            now = self._clock.monotonic()
            while self._slots and self._slots[0].at <= now - _MINUTE:
                self._slots.popleft()
            at = self._earliest(now, tokens)
            learned = self._learned.get(model)
            if learned is not None:
                at = learned.earliest(at, tokens)
            if deadline is not None and at >= deadline:
                raise FaultError(_too_late(at - now))
            slot = Slot(at, model, tokens)
            if self._limited:
                self._slots.append(slot)
            if learned is not None:
                learned.take(slot)
            return slot

    def _earliest(self, now: float, tokens: int) -> float:
        """When no minute would hold too much. What is too much by itself waits until it is alone."""
        at = max(now, self._slots[-1].at) if self._slots else now
        count, total = len(self._slots), sum(slot.tokens for slot in self._slots)
        for slot in self._slots:
            fits = self._requests is None or count < self._requests
            fits = fits and (self._tokens is None or total + tokens <= self._tokens)
            if fits and slot.at > at - _MINUTE:
                break
            count, total, at = count - 1, total - slot.tokens, max(at, slot.at + _MINUTE)
        return at


def _bucket(budget: Budget, now: float, pending: float) -> _Bucket:
    return _Bucket(budget.left - pending, budget.limit, budget.per_second, now)


def _too_late(seconds: float) -> Fault:
    message = f"the rate limit leaves no room before the deadline: {seconds:.1f} s to wait"
    return Fault("rate_limit", message, retryable=True, retry_after=seconds)
