"""The cases: a fault in the model's first reply, the rule for what must come of it, in words and as checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from officellm.testing import Heard, Rule, ScriptedReply, call, calls, fault, reply, rule
from probe.judge import DONE, Check, answers, legal, lives, ran, says_how_it_ended, stops, told, waited
from probe.peer import MODES, WIRES

_WAIT = 1.0
#: Where the endless call ends after all, for a peer that has no limit.
_PATIENCE = 40
_EVERYWHERE = dict.fromkeys(WIRES, MODES)
_ONE, _TWO = call("rec", x="one"), call("rec", x="two")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row."""

    name: str
    title: str
    rule: str
    first: Callable[[Heard], Any] | Any
    checks: tuple[Check, ...]
    #: The wires that can say it, and how.
    where: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _EVERYWHERE)

    def script(self) -> list[Rule]:
        """What the fake vendor plays: the first reply, then the end, by the order of requests."""
        return [rule(self.first, by="order")] if callable(self.first) else [rule(self.first, _done, by="order")]


def _done(heard: Heard) -> Any:
    # Some frameworks take nothing for an answer but a call of a tool of theirs.
    return call("final_answer", answer=DONE) if "final_answer" in heard.tools else DONE


def _endless(heard: Heard) -> Any:
    if heard.turns >= _PATIENCE:
        return _done(heard)
    if not heard.tools or heard.body.get("tool_choice") == "none":
        return "I could not finish."
    return _ONE


def _both(named: str | None = None) -> ScriptedReply:
    return reply(calls=[_ONE, _TWO], fault=named)


_BOTH_RUN = (lives, ran("rec(one)", "rec(two)"), legal, told("ok one"), told("ok two"), answers)
_NONE_RUN = (lives, ran(), legal, answers)

CASES = (
    Case(
        name="index_collision",
        title="two parallel calls in a stream, both with index 0, ids differ",
        rule="both run with their own arguments, both are answered, and the run goes on to the answer",
        first=_both("index_collision"),
        checks=_BOTH_RUN,
        where={"openai": ("streamed",)},
    ),
    Case(
        name="index_gap",
        title="two parallel calls in a stream with the indexes 1 and 3",
        rule="both run, no other call appears, and the run goes on to the answer",
        first=_both("index_gap"),
        checks=_BOTH_RUN,
        where={"openai": ("streamed",)},
    ),
    Case(
        name="unknown_tool",
        title="a call of a tool that does not exist",
        rule="it is answered with an error, and the run goes on to the answer",
        first=call("no_such_tool"),
        checks=_NONE_RUN,
    ),
    Case(
        name="error_in_200",
        title="HTTP 200, and the body is an error of the kind that passes (529, overloaded)",
        rule="it is tried again, and the run goes on to the answer",
        first=fault("error_in_200"),
        checks=(lives, answers),
        where=dict.fromkeys(WIRES, ("whole",)),
    ),
    Case(
        name="error_in_stream",
        title="the same in a stream",
        rule="the same",
        first=fault("error_in_200"),
        checks=(lives, answers),
        where=dict.fromkeys(WIRES, ("streamed",)),
    ),
    Case(
        name="cut_arguments",
        title="the token limit cuts the arguments of a call",
        rule="the tool does not run with a fragment, and the run does not end as a success with nothing to say",
        first=reply(calls=[call("rec", x="one")], fault="cut_arguments"),
        checks=(ran(), legal, says_how_it_ended),
    ),
    Case(
        name="empty_arguments",
        title='the arguments of a tool that takes none are ""',
        rule="the tool runs, and the run goes on to the answer",
        first=call("noargs", ""),
        checks=(lives, ran("noargs()"), legal, answers),
        where={"openai": MODES},
    ),
    Case(
        name="null_arguments",
        title="the arguments of a tool that takes none are null (Gemini: not there)",
        rule="the tool runs, and the run goes on to the answer",
        first=reply(calls=[call("noargs")], fault="null_arguments"),
        checks=(lives, ran("noargs()"), legal, answers),
    ),
    Case(
        name="glued_arguments",
        title="the arguments are two objects, one behind the other",
        rule="the tool does not run on a guess, the call is answered with an error, and the run goes on to the answer",
        first=call("rec", '{"x":"one"}{"x":"two"}'),
        checks=_NONE_RUN,
        # A whole message of Anthropic holds an object, not its text.
        where={"openai": MODES, "anthropic": ("streamed",), "gemini": MODES},
    ),
    Case(
        name="duplicate_ids",
        title="two calls share one id, their arguments differ",
        rule="both run once, both are answered under ids of their own, and the run goes on to the answer",
        first=_both("duplicate_ids"),
        checks=_BOTH_RUN,
    ),
    Case(
        name="tool_raises",
        title="one of two parallel tools raises while the other is still at work",
        rule="both calls are answered, the other's result is not lost, and the run goes on to the answer",
        first=calls(call("slow", x="one"), call("boom")),
        checks=(lives, ran("slow(one)", "boom()"), legal, told("ok one"), answers),
    ),
    Case(
        name="stop_with_calls",
        title="text and a call, and the finish reason says that the model is done",
        rule="the call runs, and the run goes on to the answer",
        first=reply("I will call a tool. ", calls=[_ONE], fault="stop_with_calls"),
        checks=(lives, ran("rec(one)"), legal, told("ok one"), answers),
        # Gemini's finish reason is the same with calls and without.
        where={"openai": MODES, "anthropic": MODES},
    ),
    Case(
        name="empty_reply",
        title="neither text nor calls, and the finish reason says that the model is done",
        rule="the model is asked again or the run ends with an error, but never as a success with nothing to say",
        first=fault("empty_reply"),
        checks=(legal, says_how_it_ended),
    ),
    Case(
        name="rate_limited",
        title=f"429 that says to come again in {_WAIT:g} s",
        rule="it is tried again, not sooner than told, and the run goes on to the answer",
        first=fault("429", retry_after=_WAIT),
        checks=(lives, waited(_WAIT), answers),
    ),
    Case(
        name="endless_call",
        title="the same call with the same arguments again and again; the agent's limit is 5 requests",
        rule="at most 5 requests and one to close, and the run does not end as a success with nothing to say",
        first=_endless,
        checks=(stops, legal, says_how_it_ended),
    ),
)
