"""When nodes run: as soon as they can, each once, whatever the order of the definition and of the ends."""

import asyncio
import time

import pytest

from officellm import Limits, Node, StopReason, Workflow, WorkflowError
from officellm.testing import FakeClock

from .crew import Crew, states


def diamond(**options):
    return Workflow([Node("t1", "a"), Node("t2", "b"), Node("t3", "c", after=["t1", "t2"])], final="t3", **options)


async def test_a_node_runs_after_both_that_it_waits_for_and_each_runs_once():
    crew = Crew(a="1", b="2", c="3")
    result = await crew.run(diamond())
    assert (result.success, result.content, result.agent) == (True, "3", "c")
    assert sorted(crew.ran) == ["a", "b", "c"]
    assert states(result) == dict.fromkeys(["t1", "t2", "t3"], "completed")
    assert result.usage.requests == 3


async def test_a_thousand_runs_of_nodes_that_end_together_neither_hang_nor_repeat():
    runs = []

    async def work(context):
        runs.append(context.id)

    workflow = Workflow([Node("t1", work), Node("t2", work), Node("t3", work, after=["t1", "t2"])], final="t3")
    async with asyncio.timeout(60), Crew(a="x").office() as office:
        for _ in range(1_000):
            result = await office.run("go", orchestrator=workflow)
            assert result.success, result.error
    assert {id: runs.count(id) for id in ("t1", "t2", "t3")} == {"t1": 1_000, "t2": 1_000, "t3": 1_000}


async def test_twelve_branches_and_a_final_node_give_thirteen_results():
    branches = [Node(f"b{n}", "a") for n in range(12)]
    crew = Crew(a="x", c="end")
    result = await crew.run(Workflow([*branches, Node("end", "c", after=[one.id for one in branches])], final="end"))
    assert len(result.nodes) == 13
    assert all(node.state == "completed" for node in result.nodes.values())


async def test_independent_nodes_overlap_and_a_bound_holds():
    branches = [Node(f"b{n}", "a") for n in range(4)]
    crew = Crew(a=("x", 0.1))
    started = time.monotonic()
    assert (await crew.run(Workflow(branches))).success
    assert crew.peak >= 2
    assert time.monotonic() - started < 0.35
    alone = Crew(a=("x", 0.001))
    assert (await alone.run(Workflow(branches, max_concurrency=1))).success
    assert alone.peak == 1


async def test_a_node_starts_the_moment_its_own_dependencies_are_done():
    crew = Crew(slow=("s", 0.1), quick="q", next="n", end="e")
    nodes = [
        Node("slow", "slow"),
        Node("quick", "quick"),
        Node("next", "next", after="quick"),
        Node("end", "end", after=["slow", "next"]),
    ]
    await crew.run(Workflow(nodes, final="end"))
    assert crew.ran == ["slow", "quick", "next", "end"]


async def test_the_order_of_the_definition_does_not_matter():
    nodes = [Node("c", "c", after=["b"]), Node("b", "b", after=["a"]), Node("a", "a")]
    crew = Crew(a="1", b="2", c="3")
    assert (await crew.run(Workflow(nodes, final="c"))).content == "3"
    assert crew.ran == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("nodes", "final", "said"),
    [
        ([], None, "no nodes"),
        ([None], None, "made of nodes"),
        ([Node("a", "x"), Node("a", "x")], None, "two nodes have the id 'a'"),
        ([Node("a", "x", after=["ghost"])], None, "'a' waits for the unknown task 'ghost'"),
        ([Node("a", "x")], "end", "final node 'end'"),
        ([Node("t1", "x", after=["t2"]), Node("t2", "x", after=["t1"])], None, "cycle: t1 -> t2 -> t1"),
        ([Node("a", "x", after=["a"])], None, "cycle: a -> a"),
        ([Node("a", "x"), Node("b", "x", input="{{c}}", after=["a"])], None, "names {{c}}, which is not in its after"),
    ],
    ids=["none", "no node", "twice", "unknown", "final", "cycle", "itself", "placeholder"],
)
def test_what_cannot_work_is_refused_as_it_is_made(nodes, final, said):
    with pytest.raises(WorkflowError) as caught:
        Workflow(nodes, final=final)
    assert said in str(caught.value)


async def test_an_unknown_agent_is_refused_before_anyone_runs():
    crew = Crew(a="x")
    with pytest.raises(Exception, match="unknown agent 'ghost'"):
        await crew.run(Workflow([Node("a", "a"), Node("b", "ghost", after=["a"])]))
    assert crew.ran == []


async def test_what_waits_for_a_failed_node_is_skipped_and_names_it():
    crew = Crew(a=RuntimeError("boom"), b="x", c="y", d="z")
    nodes = [Node("a", "a"), Node("b", "b", after=["a"]), Node("c", "c", after=["b"]), Node("d", "d")]
    result = await crew.run(Workflow(nodes, final="c"))
    assert states(result) == {"a": "failed", "b": "skipped", "c": "skipped", "d": "completed"}
    assert sorted(crew.ran) == ["a", "d"]
    assert (result.nodes["c"].cause, result.nodes["b"].cause) == ("a", "a")
    assert "dependency a failed" in result.nodes["b"].error
    assert "b" in result.nodes["c"].error
    assert "boom" in result.error
    assert not result.success


async def test_a_failure_beside_the_way_to_the_final_node_is_no_failure_of_the_run():
    crew = Crew(a=RuntimeError("boom"), b="fine")
    result = await crew.run(Workflow([Node("x", "a"), Node("y", "b")], final="y"))
    assert (result.success, result.content) == (True, "fine")
    assert "boom" in result.nodes["x"].error
    assert [one.agent for one in result.failures] == ["a"]


async def test_without_a_final_node_all_run_and_the_content_is_empty():
    result = await Crew(a="1", b="2").run(Workflow([Node("x", "a"), Node("y", "b")]))
    assert (result.success, result.content) == (True, "")
    assert [node.text for node in result.nodes.values()] == ["1", "2"]
    failed = await Crew(a="1", b=RuntimeError("no")).run(Workflow([Node("x", "a"), Node("y", "b")]))
    assert not failed.success


async def test_one_definition_runs_again_after_a_failure_and_twice_at_once():
    broken = True
    crew = Crew(a=lambda _: RuntimeError("down") if broken else "up", b=lambda request: request.messages[-1].text)
    workflow = Workflow([Node("a", "a"), Node("b", "b", after=["a"])], final="b")
    async with crew.office() as office:
        assert not (await office.run("one", orchestrator=workflow)).success
        broken = False
        results = await asyncio.gather(*(office.run(word, orchestrator=workflow) for word in ("two", "three")))
    assert [result.content.split("\n")[0] for result in results] == ["two", "three"]


async def test_a_long_chain_runs():
    async def count(context):
        return 1 + next(iter(context.results.values()), 0)

    nodes = [Node(f"n{n}", count, after=[f"n{n - 1}"] if n else ()) for n in range(10_000)]
    result = await Crew(a="x").run(Workflow(nodes, final="n9999"))
    assert result.output == 10_000


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), ValueError("no")])
async def test_whatever_a_function_raises_is_the_failure_of_its_node_alone(error):
    async def bad(context):
        raise error

    result = await Crew(a="fine").run(Workflow([Node("bad", bad), Node("good", "a")], final="good"))
    assert (result.success, states(result)) == (True, {"bad": "failed", "good": "completed"})
    assert result.nodes["bad"].error_type == type(error).__name__


async def test_a_cancelled_run_leaves_nothing_behind_and_says_what_was_done():
    crew = Crew(a="done", b=("never", 30), c="x")
    workflow = Workflow([Node("a", "a"), Node("b", "b", after=["a"]), Node("c", "c", after=["b"])], final="c")
    before = asyncio.all_tasks()
    async with crew.office() as office, asyncio.timeout(5), office.stream("go", orchestrator=workflow) as run:
        async for event in run:
            if event.type == "agent.start" and event.agent == "b":
                break
    assert run.result.stop_reason == StopReason.CANCELLED
    assert states(run.result) == {"a": "completed", "b": "cancelled", "c": "cancelled"}
    assert crew.ran.count("c") == 0
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


async def test_fail_fast_stops_the_others():
    crew = Crew(a=RuntimeError("boom"), b=("never", 30), c="x")
    nodes = [Node("a", "a"), Node("b", "b"), Node("c", "c", after=["b"])]
    async with asyncio.timeout(5):
        result = await crew.run(Workflow(nodes, final="c", fail_fast=True))
    assert states(result) == {"a": "failed", "b": "cancelled", "c": "cancelled"}
    assert "'a' failed" in result.error
    result = await Crew(a=RuntimeError("boom"), b="x", c="y").run(Workflow(nodes, final="c"))
    assert result.success


async def test_a_purse_that_is_spent_ends_the_run_for_that_reason():
    crew = Crew(a="1", b="2")
    workflow = Workflow([Node("a", "a"), Node("b", "b", after=["a"])], final="b")
    result = await crew.run(workflow, limits=Limits(max_requests=1))
    assert (result.stop_reason, result.usage.requests) == (StopReason.REQUEST_BUDGET, 1)
    assert result.nodes["a"].text == "1"


async def test_the_time_of_a_run_ends_its_functions_too():
    async def never(context):
        await asyncio.sleep(30)

    async with asyncio.timeout(5):
        async with Crew(a="x").office(clock=None) as office:
            result = await office.run(
                "go", orchestrator=Workflow([Node("n", never)], final="n"), limits=Limits(max_seconds=0.1)
            )
    assert (result.stop_reason, states(result)) == (StopReason.TIMEOUT, {"n": "failed"})


async def test_nodes_are_told_as_events_in_the_order_of_what_happens():
    seen = []
    crew = Crew(a="1", b=RuntimeError("no"))
    nodes = [Node("a", "a"), Node("b", "b", after=["a"]), Node("c", "a", after=["b"])]
    await crew.run(Workflow(nodes, final="c"), listener=seen.append)
    told = [(one.node, one.state) for one in seen if one.type == "node"]
    assert told == [
        ("a", "running"),
        ("a", "completed"),
        ("b", "running"),
        ("b", "failed"),
        ("c", "skipped"),
    ]


async def test_time_is_the_runs_own():
    clock = FakeClock()

    async def wait(context):
        await clock.sleep(7)

    async with Crew(a="x").office(clock=clock) as office:
        result = await office.run("go", orchestrator=Workflow([Node("w", wait)]))
    assert result.nodes["w"].seconds == 7
