"""The four patterns, and patterns inside patterns."""

import pytest

from officellm import Agent, Node, Office, StopReason, WorkflowError, graph, loop, parallel, sequential
from officellm.testing import call, scripted

from .crew import Crew, states


async def test_one_after_the_other_each_with_the_task_and_the_result_before():
    crew = Crew(a="A", b="B", c="C")
    result = await crew.run(sequential("a", "b", "c"))
    assert (result.content, crew.ran) == ("C", ["a", "b", "c"])
    assert crew.prompts("b") == ["go\n\nResult from a (step-0):\nA"]
    assert crew.prompts("c") == ["go\n\nResult from b (step-1):\nB"]
    assert list(result.nodes) == ["step-0", "step-1", "step-2"]


async def test_a_sequence_of_one_runs_on_the_plain_task():
    crew = Crew(a="A")
    assert (await crew.run(sequential("a"))).content == "A"
    assert crew.prompts("a") == ["go"]


async def test_branches_run_at_once_and_the_combiner_hears_them_in_declared_order():
    crew = Crew(a=("A", 0.05), b="B", c="C", sum="S")
    result = await crew.run(parallel("a", "b", "c", combine="sum"))
    assert result.content == "S"
    assert crew.peak >= 2
    assert crew.prompts("sum") == [
        "go\n\nResult from a (branch-0):\nA\n\nResult from b (branch-1):\nB\n\nResult from c (branch-2):\nC"
    ]
    assert list(result.nodes) == ["branch-0", "branch-1", "branch-2", "combine"]
    assert result.usage.requests == 4


async def test_without_branches_the_combiner_works_alone():
    crew = Crew(sum="S")
    assert (await crew.run(parallel(combine="sum"))).content == "S"
    assert crew.prompts("sum") == ["go"]


async def test_a_branch_that_fails_keeps_the_combiner_from_work():
    crew = Crew(a="A", b=RuntimeError("broke"), sum="S")
    result = await crew.run(parallel("a", "b", combine="sum"))
    assert states(result) == {"branch-0": "completed", "branch-1": "failed", "combine": "skipped"}
    assert "broke" in result.error


async def test_or_the_combiner_is_told_of_it():
    crew = Crew(a="A", b=RuntimeError("broke"), sum="S")
    result = await crew.run(parallel("a", "b", combine="sum", on_error="continue"))
    assert (result.content, [one.agent for one in result.failures]) == ("S", ["b"])
    assert "Result from b (branch-1):\n(no result: " in crew.prompts("sum")[0]
    assert "broke" in crew.prompts("sum")[0]


async def test_the_same_agent_may_stand_in_two_branches():
    crew = Crew(a="A", sum="S")
    await crew.run(parallel("a", "a", combine="sum"))
    assert crew.ran == ["a", "a", "sum"]


async def test_a_quorum_combines_early_and_cancels_the_rest():
    crew = Crew(a="A", b="B", slow=("never", 30), sum="S")
    result = await crew.run(parallel("a", "b", "slow", combine="sum", quorum=2))
    assert (result.success, states(result)["branch-2"]) == (True, "cancelled")
    assert "branch-2" not in crew.prompts("sum")[0]


async def test_a_quorum_bears_failures_and_fails_where_it_cannot_be_reached():
    crew = Crew(a="A", b=RuntimeError("x"), c="C", sum="S")
    assert (await crew.run(parallel("a", "b", "c", combine="sum", quorum=2))).success
    crew = Crew(a="A", b=RuntimeError("x"), c=RuntimeError("y"), sum="S")
    result = await crew.run(parallel("a", "b", "c", combine="sum", quorum=2))
    assert (result.success, "sum" in crew.ran) == (False, False)


async def test_a_loop_runs_as_often_as_it_is_told_with_the_last_result():
    said = iter(["one", "two", "three"])
    crew = Crew(r=lambda _: next(said))
    result = await crew.run(loop("r", 3))
    assert result.content == "three"
    assert list(result.nodes) == ["iteration-0", "iteration-1", "iteration-2"]
    assert crew.prompts("r")[1] == "go\n\nResult from r (iteration-0):\none"


@pytest.mark.parametrize("until", ["predicate", "accept"])
async def test_a_loop_ends_as_soon_as_it_is_content(until):
    from officellm.testing import call

    said = iter(["one", call("accept"), "two"] if until == "accept" else ["one", "two", "three"])
    crew = Crew(r=lambda _: next(said))
    wanted = "accept" if until == "accept" else (lambda context: context.results["iteration-0"] == "two")
    result = await crew.run(loop("r", 5, until=wanted))
    assert (result.success, result.content) == (True, "two")
    assert result.nodes["iteration-0"].rounds == 2
    assert crew.prompts("r")[1].startswith("go\n\nResult from r (iteration-0):\none")


async def test_a_loop_that_is_never_content_is_no_success_and_keeps_its_work():
    crew = Crew(r="draft")
    result = await crew.run(loop("r", 2, until=lambda context: False))
    assert (result.stop_reason, result.content, crew.ran) == (StopReason.FAILED, "draft", ["r", "r"])
    assert "not accepted after 2 rounds" in result.error
    taken = await Crew(r="draft").run(loop("r", 2, until=lambda context: False, on_exhausted="accept"))
    assert taken.success


@pytest.mark.parametrize("times", [0, -1, True, 1.5, "3", None])
def test_a_loop_runs_at_least_once_and_a_whole_number_of_times(times):
    with pytest.raises(WorkflowError, match="times must be a whole number of at least 1"):
        loop("r", times)


@pytest.mark.parametrize("make", [sequential, lambda: graph(final="x")], ids=["sequential", "graph"])
def test_a_pattern_without_agents_says_which(make):
    with pytest.raises(WorkflowError, match=r"(sequential|graph) has no agents"):
        make()


async def test_a_graph_runs_a_diamond_with_inputs_of_its_nodes():
    crew = Crew(a="1", b="2", c="3")
    nodes = [Node("n1", "a", input="mine"), Node("n2", "b"), Node("n3", "c", after=["n1", "n2"])]
    assert (await crew.run(graph(*nodes, final="n3"))).content == "3"
    assert (crew.prompts("a"), crew.prompts("b")) == (["mine"], ["go"])
    assert "Result from a (n1):\n1\n\nResult from b (n2):\n2" in crew.prompts("c")[0]


@pytest.mark.parametrize("final", ["", None, "ghost"])
def test_a_graph_has_a_final_node(final):
    with pytest.raises(WorkflowError, match="final"):
        graph(Node("a", "x"), final=final)


async def test_a_pattern_can_be_added_to():
    crew = Crew(a="A", b="B", audit="audited")
    workflow = sequential("a", "b").add(Node("audit", "audit", after=["step-1"]), final="audit")
    assert (await crew.run(workflow)).content == "audited"
    assert crew.prompts("audit") == ["go\n\nResult from b (step-1):\nB"]


async def test_patterns_stand_inside_patterns():
    crew = Crew(a="A", b="B", c="C", sum="S")
    result = await crew.run(parallel(sequential("a", "b"), "c", combine="sum"))
    assert result.content == "S"
    assert states(result) == {
        "branch-0": "completed",
        "branch-1": "completed",
        "branch-0/step-0": "completed",
        "branch-0/step-1": "completed",
        "combine": "completed",
    }
    assert "Result from b (branch-0):\nB" in crew.prompts("sum")[0]


async def test_usage_is_the_sum_of_all_nodes():
    result = await Crew(a="A", b="B", sum="S").run(parallel("a", "b", combine="sum"))
    parts = [node.usage for node in result.nodes.values()]
    assert sum(one.total for one in parts) == result.usage.total == 45


async def test_an_agent_with_tools_uses_them_and_answers_for_itself():
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    adder = Agent("adder", model=scripted([call("add", a=2, b=2), "it is 4"]), tools=[add])
    result = await Office(agents=[adder]).run("2+2?", orchestrator=sequential("adder"))
    assert (result.content, result.usage.tool_calls) == ("it is 4", 1)
