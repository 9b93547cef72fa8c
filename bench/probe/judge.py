"""What can be wrong with a trial. Each check returns the reason, or None; none of them knows whose trial it is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

from probe.transcript import Exchange, exchanges
from probe.trial import LIMIT, Trial

Check = Callable[[Trial], str | None]
#: What the fake vendor's model says at the end.
DONE = "DONE"
EVERY_CASE = (
    "In every case the run must come to an end of its own, and in every request each call of the model is answered "
    "exactly once and has a name, an id of its own and arguments that are a JSON object (a blank text counts as one)."
)


def verdict(checks: tuple[Check, ...], trial: Trial) -> str | None:
    """The first thing that is wrong."""
    if trial.unended is not None:
        return trial.unended
    return next((reason for check in checks if (reason := check(trial)) is not None), None)


def lives(trial: Trial) -> str | None:
    """The run ends without an error."""
    return None if trial.error is None else f"the run died: {_short(trial.error)}"


def answers(trial: Trial) -> str | None:
    """The answer is the model's."""
    if DONE in trial.answer:
        return None
    return f"the answer is {_short(trial.answer)!r}, as a success" if trial.error is None else lives(trial)


def says_how_it_ended(trial: Trial) -> str | None:
    """No success without a word."""
    return None if trial.error is not None or trial.answer.strip() else "an empty answer, as a success"


def ran(*wanted: str) -> Check:
    """Exactly these calls reached the tools, such as `rec(one)`, in any order."""

    def check(trial: Trial) -> str | None:
        seen = [f"{name}({', '.join(map(str, arguments.values()))})" for name, arguments in trial.calls]
        if Counter(seen) == Counter(wanted):
            return None
        return f"the tools saw {_short(', '.join(seen)) or 'nothing'} instead of {', '.join(wanted) or 'nothing'}"

    return check


def told(words: str) -> Check:
    """A later request has the tool's result."""

    def check(trial: Trial) -> str | None:
        sent = any(words in json.dumps(record.body) for record in trial.requests[1:])
        return None if sent else f"the model was never told {words!r}"

    return check


def waited(seconds: float) -> Check:
    """The second request came after so long."""

    def check(trial: Trial) -> str | None:
        if len(trial.requests) < 2:
            return "it was not tried again"
        pause = trial.requests[1].at - trial.requests[0].at
        # Both moments are the server's: what the network takes lies between them too.
        return None if pause >= 0.95 * seconds else f"tried again after {pause:.2f} s, told to wait {seconds:g} s"

    return check


def stops(trial: Trial) -> str | None:
    """No more requests than the limit, and one to close."""
    made = len(trial.requests)
    return None if made <= LIMIT + 1 else f"{made} requests with a limit of {LIMIT}"


def legal(trial: Trial) -> str | None:
    """The histories that were sent are such as every server of that wire takes."""
    for record in trial.requests:
        ids: list[str] = []
        for one in exchanges(record):
            reason = _exchange(one)
            if reason is not None:
                return reason
            ids += [call.id for call in one.calls if call.id]
        if len(set(ids)) < len(ids):
            return "sends calls back that share an id"
    return None


def _exchange(one: Exchange) -> str | None:
    for call in one.calls:
        if not call.name:
            return "sends a call without a name back"
        if not isinstance(call.arguments, dict):
            shown = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
            return f"sends arguments back that are no JSON object: {_short(shown)}"
    if Counter(call.id or call.name for call in one.calls) == Counter(one.answered):
        return None
    return f"{len(one.calls)} calls with {len(one.answered)} answers in the history"


def _short(text: str, most: int = 110) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"
