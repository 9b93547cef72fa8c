"""A script: rules that say which reply a request gets. Stable under concurrency; no files and no wire here.

The first rule whose conditions hold plays its replies. Which of them comes next is, by `by`:

- `turn` (usual): the number of turns that the model already has in the conversation that was sent. Workers that run at
  the same time cannot take each other's replies.
- `conversation`: replies that this rule has given in this conversation (known by its system text and first user text).
  Usual for rules with `turn`, `tool_results`, `user` or `matches`, and right for an agent that enters an ongoing one.
- `order`: the order in which requests come.

A reply that is no turn of the model (an error, a broken body, an empty reply) is given once a conversation; asking
again gets the next one. A function, or a reply with `repeat`, that comes last is used again and again. Texts and
arguments may hold `{task}` (the first user text), `{last_user}`, `{last_tool}` (the last tool result), `{tools}` (all
results, one a line), `{task_id}` and `{last_id}` (the first UUID in the first user text and in the last tool result);
nothing else is replaced.
"""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from officellm.errors import ConfigError, nearest
from officellm.testing.replies import ReplyFunction, ReplyLike, ScriptedReply, as_reply
from officellm.testing.wires.speaker import Heard

By = Literal["turn", "conversation", "order"]
#: The conditions of a rule: the type of each, and whether it holds.
CONDITIONS: Mapping[str, type] = {
    "system": str,
    "model": str,
    "user": str,
    "matches": str,
    "tool": str,
    "wire": str,
    "turn": int,
    "tool_results": int,
}
_HOLDS: Mapping[str, Callable[[Heard, Any], bool]] = {
    "system": lambda heard, wanted: wanted in heard.system,
    "model": lambda heard, wanted: wanted in heard.model,
    "user": lambda heard, wanted: wanted in heard.last_user,
    "matches": lambda heard, wanted: re.search(wanted, heard.last_user) is not None,
    "tool": lambda heard, wanted: wanted in heard.tools,
    "wire": lambda heard, wanted: wanted == heard.wire,
    "turn": lambda heard, wanted: wanted == heard.turns,
    "tool_results": lambda heard, wanted: wanted == heard.tool_results,
}
_WITHIN = ("turn", "tool_results", "user", "matches")


class ScriptExhausted(AssertionError):  # noqa: N818 - a failed expectation of the test that wrote the script
    """A request for which the script has no reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Replies for the requests that meet all conditions of `when`; the conditions are those of `rule()`."""

    replies: tuple[ScriptedReply | ReplyFunction, ...]
    when: Mapping[str, Any] = field(default_factory=dict)
    by: By | None = None
    #: A condition in code, beside `when`.
    test: Callable[[Heard], bool] | None = None

    def __post_init__(self) -> None:
        for key, value in self.when.items():
            if key not in CONDITIONS:
                raise ConfigError(f"unknown condition {key!r}.{nearest(key, CONDITIONS)}")
            wanted = CONDITIONS[key]
            if not isinstance(value, wanted) or isinstance(value, bool):
                what = "a text" if wanted is str else "a whole number"
                raise ConfigError(f"condition {key!r} must be {what}, not {value!r}")
        if self.by is not None and self.by not in get_args(By):
            raise ConfigError(f"unknown `by` {self.by!r}.{nearest(str(self.by), get_args(By))}")
        if not self.replies:
            raise ConfigError("a rule needs at least one reply")
        try:
            re.compile(self.when.get("matches", ""))
        except re.error as error:
            raise ConfigError(f"condition 'matches' is not a regular expression: {error}") from None

    @property
    def counts(self) -> By:
        """What decides the next reply."""
        return self.by or ("conversation" if any(key in self.when for key in _WITHIN) or self.test else "turn")

    def holds(self, heard: Heard) -> bool:
        """Whether this rule answers that request."""
        return all(_HOLDS[key](heard, wanted) for key, wanted in self.when.items()) and (
            self.test is None or self.test(heard)
        )

    def delivers(self, index: int) -> bool:
        """Whether the reply there, if there is one, is a turn of the model."""
        if index >= len(self.replies):
            return True
        said = self.replies[index]
        return not isinstance(said, ScriptedReply) or said.delivers

    def delivering(self, turn: int) -> int:
        """Where the replies of a turn begin, faults before it included, for a conversation seen for the first time."""
        index = 0
        for _ in range(turn):
            while not self.delivers(index):
                index += 1
            index += 1
        return index

    @property
    def endless(self) -> bool:
        """Whether the last reply is given again and again."""
        last = self.replies[-1]
        return not isinstance(last, ScriptedReply) or last.repeat


def rule(
    *replies: ReplyLike | ReplyFunction,
    by: By | None = None,
    test: Callable[[Heard], bool] | None = None,
    **when: Any,
) -> Rule:
    """A rule: `rule(call("search", query="x"), "done", system="You research")`.

    Conditions: `system`, `model`, `user` (parts of the system text, the model's name, the last user text), `matches` (a
    regular expression for the last user text), `tool` (a tool on offer), `wire`, `turn` (turns the model has had),
    `tool_results` (results in the conversation). `test` is a condition in code.
    """
    return Rule(replies=tuple(one if callable(one) else as_reply(one) for one in replies), when=when, by=by, test=test)


class Script:
    """Rules, and what they have given so far. Requests may come at the same time and from any thread."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self._lock = threading.Lock()
        self._given: dict[Any, dict[int, int]] = {}
        self._arrived: dict[int, int] = {}

    def reset(self) -> None:
        """Start again from the first reply."""
        with self._lock:
            self._given.clear()
            self._arrived.clear()

    async def choose(self, heard: Heard) -> ScriptedReply:
        """The reply to this request, with its texts filled in. Raises `ScriptExhausted`."""
        number, found = self._rule(heard)
        with self._lock:
            index = self._index(number, found, heard)
        if index >= len(found.replies):
            if not found.endless:
                raise ScriptExhausted(
                    f"rule {number} has {len(found.replies)} replies, and request {index + 1} came (by {found.counts}; "
                    f"the conversation has {heard.turns} turns; last user text: {heard.last_user[:80]!r})"
                )
            index = len(found.replies) - 1
        said = found.replies[index]
        if not isinstance(said, ScriptedReply):
            made = said(heard)
            said = as_reply(await made if inspect.isawaitable(made) else made)
        return fill_in(said, heard)

    def _rule(self, heard: Heard) -> tuple[int, Rule]:
        for number, one in enumerate(self.rules):
            if one.holds(heard):
                return number, one
        conditions = "; ".join(str(dict(one.when)) for one in self.rules) or "there are none"
        raise ScriptExhausted(
            f"no rule for this request (model {heard.model!r}, system {heard.system[:80]!r}, last user text "
            f"{heard.last_user[:80]!r}, turn {heard.turns}). Rules: {conditions}"
        )

    def _index(self, number: int, found: Rule, heard: Heard) -> int:
        if found.counts == "order":
            index = self._arrived.get(number, 0)
            self._arrived[number] = index + 1
            return index
        given = self._given.setdefault((number, heard.system, heard.task), {})
        turn = heard.turns
        earlier = [seen for seen in given if seen < turn]
        if turn in given:
            index = given[turn] + (not found.delivers(given[turn]))
        elif earlier:
            last = max(earlier)
            index = given[last] + turn - last
        else:
            index = found.delivering(turn) if found.counts == "turn" else 0
        given[turn] = index
        return index


_PLACES: Mapping[str, Callable[[Heard], str]] = {
    "task": lambda heard: heard.task,
    "last_user": lambda heard: heard.last_user,
    "last_tool": lambda heard: heard.last_tool,
    "tools": lambda heard: heard.all_tools,
    "task_id": lambda heard: _first_id(heard.task),
    "last_id": lambda heard: _first_id(heard.last_tool),
}
_PLACE = re.compile(rf"\{{({'|'.join(_PLACES)})\}}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def fill_in(said: ScriptedReply, heard: Heard) -> ScriptedReply:
    """The reply with its placeholders replaced, in texts and in arguments."""
    calls = tuple(replace(one, arguments=_filled(one.arguments, heard)) for one in said.calls)
    return replace(said, text=_filled(said.text, heard), reasoning=_filled(said.reasoning, heard), calls=calls)


def _filled(value: Any, heard: Heard) -> Any:
    if isinstance(value, str):
        return _PLACE.sub(lambda found: _PLACES[found[1]](heard), value)
    if isinstance(value, Mapping):
        return {key: _filled(one, heard) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, heard) for one in value]
    return value


def _first_id(text: str) -> str:
    found = _UUID.search(text)
    return found[0] if found else ""
