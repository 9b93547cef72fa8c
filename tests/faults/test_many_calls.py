"""Several calls in one reply: identical ones, ones that share an id, more than the budget allows, on every wire."""

import pytest

from officellm import Limits, StopReason, Verdict, hookimpl
from officellm.testing import call, calls, reply

from .scenes import answers, both_ways, every_wire, play


@every_wire
@pytest.mark.parametrize("name", ["empty_ids", "duplicate_ids"])
@both_ways
async def test_identical_calls_without_ids_of_their_own_each_run(wire, name, streamed):
    ran = []

    def count(n: int) -> str:
        """Count."""
        ran.append(n)
        return f"{len(ran)} of {n}"

    same = reply(calls=[call("count", n=1), call("count", n=1)], fault=name)
    result, requests, _ = await play([same, "end"], wire, streamed, tools=[count])
    assert (result.content, ran) == ("end", [1, 1])
    assert sorted(answers(requests[1])) == ["1 of 1", "2 of 1"]


class Refusing:
    """Allows the first call that it sees, and no other."""

    def __init__(self):
        self.ids = []

    @hookimpl
    def judge(self, call, agent, run):
        self.ids.append(call.id)
        return Verdict("allow") if len(self.ids) == 1 else Verdict("refuse", "once is enough")


@every_wire
@both_ways
async def test_what_was_allowed_to_a_call_is_not_allowed_to_another_with_its_id(wire, streamed):
    ran = []

    def count(n: int) -> str:
        """Count."""
        ran.append(n)
        return str(n)

    guard = Refusing()
    twice = reply(calls=[call("count", n=1), call("count", n=2)], fault="duplicate_ids")
    again = call("count", {"n": 3}, id="call_same")
    result, _, _ = await play([twice, again, "end"], wire, streamed, tools=[count], guards=[guard])
    assert (result.content, ran) == ("end", [1])
    assert len(set(guard.ids)) == 3


@every_wire
@both_ways
async def test_of_more_calls_than_are_left_the_first_run_and_all_are_answered(wire, streamed):
    ran = []

    def count(n: int) -> str:
        """Count."""
        ran.append(n)
        return str(n)

    five = calls(*(call("count", n=n) for n in range(5)))
    result, requests, _ = await play(
        [five, "what there is"],
        wire,
        streamed,
        tools=[count],
        limits=Limits(max_tool_calls=2),
        on_limit="summarize",
    )
    assert (result.stop_reason, result.content) == (StopReason.TOOL_CALL_BUDGET, "what there is")
    assert sorted(ran) == [0, 1]
    assert len(requests) == 2
    first, second, *others = answers(requests[1])
    assert (first, second) == ("0", "1")
    assert len(others) == 3
    assert all("Not run" in other for other in others)
