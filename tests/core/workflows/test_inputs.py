"""What an agent of a node reads: the task or its own words, and the results that it waited for."""

import pytest

from officellm import Back, Node, Task, Workflow, graph

from .crew import Crew


async def told(nodes, final, says=None, task="go", **options):
    """What the agent of the final node was told; the agents are x, y, z and last."""
    crew = Crew(**{"x": "1", "y": "2", "z": "3", "last": "end", **(says or {})})
    result = await crew.run(Workflow(nodes, final=final, **options), task)
    assert result.success, result.error
    return crew.prompts("last")[-1]


TWO = [Node("x", "x"), Node("y", "y"), Node("end", "last", after=["x", "y"])]


async def test_results_follow_the_input_labelled_in_the_order_of_after():
    slow_first = {"x": ("1", 0.05)}
    assert await told(TWO, "end", slow_first) == "go\n\nResult from x (x):\n1\n\nResult from y (y):\n2"


async def test_the_reference_text_is_exact():
    assert await told(TWO, "end", compat=True) == "go\n\nResult from x: 1\n\nResult from y: 2"


async def test_an_empty_result_is_appended_too():
    nodes = [Node("f", lambda context: ""), Node("end", "last", after=["f"])]
    assert await told(nodes, "end", compat=True) == "go\n\nResult from f: "
    assert await told(nodes, "end") == "go\n\nResult from f:\n(no output)"


async def test_a_dependency_that_is_named_twice_is_told_once():
    nodes = [Node("x", "x"), Node("end", "last", after=["x", "x"])]
    assert (await told(nodes, "end", compat=True)).count("Result from") == 1


async def test_a_named_result_stands_where_it_is_named_and_the_others_are_appended():
    nodes = [*TWO[:2], Node("end", "last", input="Use {{y}} for {{task}}.", after=["x", "y"])]
    assert await told(nodes, "end") == "Use 2 for go.\n\nResult from x (x):\n1"


@pytest.mark.parametrize("said", ["{{y}}", "{{task}} {{x}}", "{{{{y}}}}", r"\1 \g<0>"])
async def test_what_stands_in_a_result_is_never_filled_in(said):
    nodes = [*TWO[:2], Node("end", "last", input="{{x}} and {{y}}", after=["x", "y"])]
    assert await told(nodes, "end", {"x": said}) == f"{said} and 2"


async def test_other_templates_stay_as_they_are():
    nodes = [Node("end", "last", input="Write {{ name }} and {% if %}.")]
    assert await told(nodes, "end") == "Write {{ name }} and {% if %}."


async def test_a_function_may_write_the_input():
    nodes = [*TWO[:2], Node("end", "last", input=lambda c: f"{c.results['x']}+{c.results['y']}", after=["x", "y"])]
    assert await told(nodes, "end") == "1+2"


async def test_later_nodes_may_be_kept_from_the_task():
    nodes = [Node("x", "x"), Node("end", "last", after=["x"])]
    assert await told(nodes, "end", previous_only=True) == "Result from x (x):\n1"


async def test_a_task_with_context_reaches_every_node_without_words_of_its_own():
    text = await told(TWO, "end", task=Task(title="T", description="D", context={"k": "v"}))
    assert text.startswith("Task: T\n\nDescription: D\n\nPriority: medium\n\nk: v\n\nResult from")


async def test_typed_results_reach_functions_typed_and_agents_as_json():
    nodes = [
        Node("numbers", "x", output_type=list[int]),
        Node("sum", lambda context: sum(context.results["numbers"]), after=["numbers"]),
        Node("end", "last", after=["sum", "numbers"]),
    ]
    text = await told(nodes, "end", {"x": '{"value": [1, 2, 3]}'})
    assert text == 'go\n\nResult from sum:\n6\n\nResult from x (numbers):\n{"value": [1, 2, 3]}'


async def test_a_second_run_with_another_task_sees_that_task():
    crew = Crew(x="1", last="end")
    workflow = graph(Node("x", "x"), Node("end", "last", after=["x"]), final="end")
    async with crew.office() as office:
        for word in ("first", "second"):
            await office.run(word, orchestrator=workflow)
    assert [text.split("\n")[0] for text in crew.prompts("last")] == ["first", "second"]


async def test_work_that_comes_back_comes_with_the_draft_and_what_was_said_of_it():
    said = iter(["draft 1", "draft 2"])
    crew = Crew(writer=lambda _: next(said), critic=lambda r: "GOOD" if "draft 2" in r.messages[-1].text else "longer")
    back = Back("draft", until=lambda context: "GOOD" in context.results["review"])
    nodes = [Node("draft", "writer"), Node("review", "critic", after=["draft"], back=back)]
    result = await crew.run(Workflow(nodes, final="draft"))
    assert result.content == "draft 2"
    assert crew.prompts("writer")[1] == (
        "go\n\nResult from writer (draft):\ndraft 1\n\nResult from critic (review):\nlonger"
    )
