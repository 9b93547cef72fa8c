"""Models that fail: how long nobody asks them. Kept by one process, for all agents of a model together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from officellm_team.team.dispatch import Dispatched, Rules


@dataclass(slots=True)
class _Pause:
    failures: int
    since: float
    until: float
    setup: bool


class Pauses:
    """After a failure a model is left alone, each time twice as long; then one dispatch tries, and the others wait."""

    def __init__(self, now: Callable[[], float], jitter: Callable[[], float], passing: Rules, setup: Rules) -> None:
        self._now = now
        self._jitter = jitter
        self._rules = {False: passing, True: setup}
        self._pauses: dict[str, _Pause] = {}

    def may(self, model: str, at_work: int) -> bool:
        """Whether one more dispatch may ask this model, of which so many do."""
        pause = self._pauses.get(model)
        return pause is None or (self._now() >= pause.until and not at_work)

    def needs_setup(self, model: str) -> bool:
        """Whether the model waits for a person."""
        pause = self._pauses.get(model)
        return pause is not None and pause.setup

    def ended(self, model: str, begun: float, done: Dispatched) -> float | None:
        """Learn from a dispatch. Seconds of a pause that begins now, where the model worked until now."""
        if done.trouble:
            return self._failed(model, begun, done)
        if done.results:
            self._pauses.pop(model, None)
        return None

    def _failed(self, model: str, begun: float, done: Dispatched) -> float | None:
        now, setup = self._now(), done.trouble == "setup"
        before = self._pauses.get(model)
        if before is not None and begun < before.since:
            # It began before the pause, and says nothing that was not known then.
            before.until = max(before.until, now + done.retry_after)
            return None
        failures = 1 if before is None else before.failures + 1
        seconds = max(self._rules[setup].delay(failures, self._jitter()), done.retry_after)
        self._pauses[model] = _Pause(failures, now, now + seconds, setup)
        return seconds if before is None or before.setup != setup else None
