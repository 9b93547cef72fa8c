"""The `loops` limit policy: ends an agent run that goes in circles, after one warning to the model."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from pydantic import BaseModel

from officellm import LimitReached, Limits, Spend, Spent, StopReason, hookimpl

#: Longest cycle that is looked for, in calls.
_PERIOD = 4
#: How often a cycle of calls with the same results may repeat.
_REPEATS = 3


@dataclass(slots=True)
class _Step:
    """One call that may run; `result` is None until it has."""

    call: str
    result: int | None = None


@dataclass(slots=True)
class _Trail:
    """What one agent run called, newest last, in the order of the calls and not of their ends."""

    call: str = ""
    same: int = 0
    unusable: int = 0
    steps: list[_Step] = field(default_factory=list)


class Loops:
    """Sees identical calls in a row, a cycle of calls that brings nothing new, and unusable calls in a row."""

    def __init__(self, window: int | None) -> None:
        self._window = window
        self._trails: defaultdict[str, _Trail] = defaultdict(_Trail)

    def reserve(self, spend: Spend) -> _Step | None:
        """Raises `LimitReached` for the call that closes the loop, before it runs."""
        window = self._window
        if spend.kind != "tool_call" or window is None or spend.call is None:
            return None
        trail = self._trails[spend.scope]
        trail.same = trail.same + 1 if spend.call == trail.call else 1
        trail.call = spend.call
        trail.unusable = trail.unusable + 1 if spend.problem is not None else 0
        if trail.unusable >= window:
            raise self._end(spend, StopReason.INVALID_CALLS, f"{window} unusable calls in a row ({spend.problem})")
        if trail.same >= window:
            raise self._end(spend, StopReason.LOOP_DETECTED, f"{window} identical calls in a row: {spend.call}")
        if spend.problem is not None:
            return None
        cycle = _cycle(trail.steps)
        if cycle and cycle[0] == spend.call:
            shown = " -> ".join(cycle)
            raise self._end(spend, StopReason.LOOP_DETECTED, f"the same calls with the same results again: {shown}")
        step = _Step(spend.call)
        trail.steps.append(step)
        del trail.steps[: -_PERIOD * _REPEATS]
        return step

    def _end(self, spend: Spend, reason: StopReason, what: str) -> LimitReached:
        which = "loop_window"
        return LimitReached(
            which,
            self._window or 0,
            self._window or 0,
            reason,
            agent=spend.agent,
            detail=f"agent {spend.agent!r}: {what}",
        )

    def settle(self, reservation: object, spend: Spend, spent: Spent) -> str | None:
        """Remember the result; warn one call before the end."""
        if spend.kind != "tool_call" or self._window is None or spend.call is None:
            return None
        trail = self._trails[spend.scope]
        if spend.problem is not None:
            if trail.unusable == self._window - 1:
                return f"{trail.unusable} calls in a row could not be run; one more ends the run."
            return None
        if isinstance(reservation, _Step):
            reservation.result = hash(spent.result)
        if trail.same == self._window - 1 and spend.call == trail.call:
            return f"this same call was made {trail.same} times in a row; once more ends the run. Do something else."
        if _cycle(trail.steps):
            return f"the same calls gave the same results {_REPEATS} times; again ends the run. Do something else."
        return None


def _cycle(steps: list[_Step]) -> list[str]:
    """The calls of a cycle that has just been repeated `_REPEATS` times with the same results."""
    for period in range(2, _PERIOD + 1):
        tail = steps[-period * _REPEATS :]
        if len(tail) == period * _REPEATS and all(
            step.result is not None and step == tail[index % period] for index, step in enumerate(tail)
        ):
            return [step.call for step in tail[:period]]
    return []


@hookimpl
def settings_model(kind: str, name: str) -> type[BaseModel]:
    return Limits


@hookimpl
def make_limit_policy(name: str, settings: Limits) -> Loops:
    return Loops(settings.loop_window)
