"""What happens in one moment: nodes that end together, a quorum beside a way back, a stop while results come in."""

import asyncio

import pytest

from officellm import Back, Limits, Node, Workflow, parallel
from officellm.testing import call

from .crew import Crew, states


async def name(context):
    return context.id


async def fail(context):
    raise ValueError(context.id)


def after(turns, ran=None):
    """A function that takes so many turns of the loop, in each round; `ran` gets its name and round."""

    async def work(context):
        for _ in range(turns[min(context.round, len(turns)) - 1]):
            await asyncio.sleep(0)
        if ran is not None:
            ran.append((context.id, context.round))
        return f"{context.id}{context.round}"

    return work


def second(context):
    return context.round == 2


async def test_a_branch_that_ends_together_with_the_one_that_makes_the_quorum_keeps_its_result():
    result = await Crew(a="").run(parallel(name, name, fail, combine=name, quorum=1))
    assert result.success, result.error
    ends = {"branch-0": "completed", "branch-1": "completed", "branch-2": "failed", "combine": "completed"}
    assert states(result) == ends


async def test_what_another_node_still_waits_for_goes_on_past_a_quorum():
    nodes = [
        Node("quick", name),
        Node("slow", after([9])),
        Node("first", name, after=["quick", "slow"], need=1),
        Node("both", lambda context: sorted(context.results), after=["first", "slow"]),
    ]
    result = await Crew(a="").run(Workflow(nodes, final="both"))
    assert result.nodes["both"].value == ["first", "slow"]


async def test_work_that_is_not_waited_for_any_more_is_not_sent_back():
    ran = []
    again = Node("again", after([0], ran), back=Back("again", lambda context: False, rounds=5))
    flow = Workflow([Node("quick", name), again, Node("end", name, after=["quick", "again"], need=1)], final="end")
    assert (await Crew(a="").run(flow)).success
    assert ran == [("again", 1)]


async def test_a_node_that_ended_together_with_the_failure_keeps_its_result():
    result = await Crew(a="").run(
        Workflow([Node("bad", fail), Node("good", name), Node("late", after([9]))], fail_fast=True)
    )
    assert states(result) == {"bad": "failed", "good": "completed", "late": "cancelled"}
    assert result.nodes["good"].text == "good"


async def test_what_is_still_at_work_when_the_work_is_sent_back_ends_in_its_own_round_alone():
    ran = []
    flow = Workflow(
        [
            Node("write", after([0, 5], ran)),
            Node("quick", after([0], ran), after=["write"]),
            Node("slow", after([50, 0], ran), after=["write"]),
            Node("review", after([0], ran), after=["quick", "slow"], need=1, back=Back("write", second)),
        ],
        final="slow",
    )
    before = asyncio.all_tasks()
    result = await Crew(a="").run(flow)
    assert asyncio.all_tasks() == before
    assert result.content == "slow2"
    assert [one for one in ran if one[1] == 1] == [("write", 1), ("quick", 1), ("review", 1)]
    assert [id for id, round in ran if round == 2] == ["write", "quick", "slow", "review"]


@pytest.mark.parametrize("turns", range(16))
async def test_it_may_also_end_in_the_moment_in_which_the_work_is_sent_back(turns):
    flow = Workflow(
        [
            Node("write", name),
            Node("quick", name, after=["write"]),
            Node("slow", after([turns, 0]), after=["write"]),
            Node("review", name, after=["quick", "slow"], need=1, back=Back("write", second)),
        ],
        final="slow",
    )
    result = await Crew(a="").run(flow)
    assert (result.content, result.error) == ("slow2", None)


async def test_what_waits_for_room_when_the_work_is_sent_back_waits_for_the_new_work():
    ran = []
    flow = Workflow(
        [
            Node("write", after([0], ran)),
            Node("quick", after([0], ran), after=["write"]),
            Node("more", after([0], ran), after=["write"]),
            Node("last", after([0], ran), after=["more"]),
            Node("review", after([0], ran), after=["quick", "last"], need=1, back=Back("write", second)),
        ],
        final="last",
        max_concurrency=1,
    )
    assert (await Crew(a="").run(flow)).success
    assert [id for id, _ in ran] == ["write", "quick", "more", "review", "write", "quick", "more", "review", "last"]


async def test_what_had_ended_outside_the_way_back_is_not_waited_for_again():
    review = Node("review", name, after=["write", "fact"], back=Back("write", second))
    result = await Crew(a="").run(Workflow([Node("write", name), Node("fact", name), review], final="review"))
    assert (result.success, result.nodes["review"].rounds, result.nodes["fact"].rounds) == (True, 2, 1)


async def test_a_node_outside_the_way_back_that_ends_late_does_not_decide_the_next_round():
    async def late(context):
        await asyncio.sleep(0.01)
        raise ValueError("late")

    async def write(context):
        await asyncio.sleep(0 if context.round == 1 else 0.05)
        return "draft"

    review = Node("review", name, after=["write", "fact", "late"], need=2, back=Back("write", second))
    beside = Node("beside", name, after=["late"])
    flow = Workflow([Node("write", write), Node("fact", name), Node("late", late), review, beside], final="review")
    result = await Crew(a="").run(flow)
    assert result.success, result.error
    assert result.nodes["review"].rounds == 2


async def test_a_node_that_is_stopped_in_a_later_round_counts_the_earlier_ones_too():
    async def late(context):
        await asyncio.sleep(0.02)
        raise ValueError

    async def work(context):
        await asyncio.sleep(0 if context.round == 1 else 30)
        return "draft"

    loop = Node("loop", work, back=Back("loop", lambda context: False))
    result = await Crew(a="").run(Workflow([loop, Node("late", late)], fail_fast=True))
    node = result.nodes["loop"]
    assert (str(node.state), node.rounds, node.attempts, node.text) == ("cancelled", 2, 2, "draft")


async def test_a_failure_inside_is_told_once_and_the_outer_node_sums_up_what_was_used():
    crew = Crew(a="x", b=ValueError("no"))
    inner = Workflow([Node("one", "a"), Node("two", "a", after=["one"]), Node("bad", "b")], final="two")
    result = await crew.run(Workflow([Node("outer", inner)], final="outer"))
    assert (result.success, result.nodes["outer"].usage.requests) == (True, 3)
    result = await crew.run(Workflow([Node("outer", inner.but(final="bad"))], final="outer"))
    assert [(one.agent, "no" in one.error) for one in result.failures] == [("b", True)]
    assert result.nodes["outer"].usage == result.usage


async def test_a_retry_does_not_wait_for_longer_than_the_run_has():
    result = await Crew(a="").run(Workflow([Node("bad", fail, retry=9)], final="bad"), limits=Limits(max_seconds=3))
    assert (result.seconds, result.nodes["bad"].attempts, result.error_type) == (1.5, 3, "ValueError")


async def test_what_was_accepted_in_an_attempt_that_failed_is_not_accepted():
    replies = iter([call("accept"), ValueError("cut"), "not yet", call("accept"), "good"])
    crew = Crew(a=lambda request: next(replies))
    flow = Workflow([Node("n", "a", retry=1, back=Back("n", "accept"))], final="n")
    result = await crew.run(flow)
    assert (result.content, result.nodes["n"].rounds) == ("good", 2)
