"""What a node can do beyond running once: conditions, retries, fallbacks, lists, work that is sent back."""

import json

import pytest

from officellm import Agent, Back, Limits, Node, StopReason, Workflow, WorkflowError, sequential
from officellm.testing import FakeClock, call, fault

from .crew import Crew, states


async def test_a_condition_decides_which_way_is_taken():
    crew = Crew(triage="refund", pay="paid", talk="talked", end="end")

    def is_refund(context):
        return context.results["triage"] == "refund"

    nodes = [
        Node("triage", "triage"),
        Node("pay", "pay", after=["triage"], when=is_refund),
        Node("talk", "talk", after=["triage"], when=lambda context: not is_refund(context)),
        Node("end", "end", after=["pay", "talk"]),
    ]
    result = await crew.run(Workflow(nodes, final="end"))
    assert states(result) == {"triage": "completed", "pay": "completed", "talk": "skipped", "end": "completed"}
    assert crew.prompts("end") == ["go\n\nResult from pay (pay):\npaid"]


async def test_what_waits_for_skipped_nodes_alone_is_skipped_and_a_final_node_that_is_skipped_is_no_success():
    nodes = [Node("a", "a"), Node("b", "a", after="a", when=lambda context: False), Node("c", "a", after="b")]
    result = await Crew(a="x").run(Workflow(nodes, final="c"))
    assert (result.success, states(result)) == (False, {"a": "completed", "b": "skipped", "c": "skipped"})
    assert "condition" in result.error


async def test_a_condition_that_fails_is_the_failure_of_its_node():
    nodes = [Node("a", "a"), Node("b", "a", after="a", when=lambda context: context.results["ghost"])]
    result = await Crew(a="x").run(Workflow(nodes, final="b"))
    assert (result.success, result.nodes["b"].error_type) == (False, "KeyError")


async def test_a_failure_that_may_pass_is_tried_again_after_a_pause():
    clock, said = FakeClock(), iter([fault("500"), fault("500"), "fine"])
    crew = Crew(a=lambda _: next(said))
    async with crew.office(clock=clock, limits=Limits(provider_retries=0)) as office:
        result = await office.run("go", orchestrator=Workflow([Node("a", "a", retry=2)], final="a"))
    assert (result.content, result.nodes["a"].attempts, clock.slept) == ("fine", 3, [0.5, 1.0])
    assert result.nodes["a"].usage == result.usage


async def test_a_failure_for_good_is_not_tried_again():
    crew = Crew(a=fault("401"))
    result = await crew.run(Workflow([Node("a", "a", retry=3)], final="a"))
    assert (result.stop_reason, len(crew.ran)) == (StopReason.PROVIDER_ERROR_4XX, 1)


async def test_a_fallback_works_where_all_attempts_failed():
    crew = Crew(a=fault("401"), b="saved")
    result = await crew.run(Workflow([Node("a", "a", fallback="b")], final="a"))
    assert (result.content, result.agent, result.nodes["a"].attempts) == ("saved", "b", 2)


@pytest.mark.parametrize("kind", ["agent", "function", "workflow"])
async def test_a_node_that_takes_too_long_ends(kind):
    import asyncio

    async def slow(context):
        await asyncio.sleep(30)

    crew = Crew(a=("never", 30))
    run = {"agent": "a", "function": slow, "workflow": sequential("a")}[kind]
    async with asyncio.timeout(5):
        result = await crew.run(Workflow([Node("n", run, timeout=0.05)], final="n"))
    assert result.stop_reason == StopReason.TIMEOUT
    assert ("a" if kind == "agent" else "n") in result.error


async def test_a_node_works_on_every_item_of_a_list_in_order_with_a_bound():
    crew = Crew(list='["x", "y", "z"]', one=lambda request: f"did {request.messages[-1].text[-1]}", end="end")
    nodes = [
        Node("list", "list"),
        Node("each", "one", each="list", after=["list"], input="Do {{item}}", max_parallel=2),
        Node("end", "end", after=["each"]),
    ]
    result = await crew.run(Workflow(nodes, final="end"))
    assert result.nodes["each"].value == ["did x", "did y", "did z"]
    assert crew.prompts("one") == ["Do x", "Do y", "Do z"]
    assert crew.peak == 2


async def test_typed_items_and_items_of_a_function():
    async def double(context):
        return context.item * 2

    nodes = [Node("each", double, each=lambda context: [1, 2, 3])]
    result = await Crew(a="x").run(Workflow(nodes, final="each"))
    assert result.output == [2, 4, 6]


async def test_an_item_that_fails_is_named_and_may_be_borne():
    async def odd(context):
        if context.item == 2:
            raise ValueError("two is bad")
        return context.item

    result = await Crew(a="x").run(Workflow([Node("each", odd, each=[1, 2, 3])], final="each"))
    assert not result.success
    assert "item 1: ValueError: two is bad" in result.error
    borne = await Crew(a="x").run(Workflow([Node("each", odd, each=[1, 2, 3], on_error="continue")], final="each"))
    assert borne.output == [1, None, 3]


@pytest.mark.parametrize("value", ["no json", '{"a": 1}', "5"])
async def test_what_is_no_list_fails_the_node_in_words(value):
    nodes = [Node("list", "list"), Node("each", "list", each="list", after="list")]
    result = await Crew(list=value).run(Workflow(nodes, final="each"))
    assert not result.success
    assert "each needs a list" in result.error


async def test_work_is_sent_back_until_the_reviewer_is_content():
    drafts, verdicts = iter(["d1", "d2", "d3"]), iter(["no", "no", "yes"])
    crew = Crew(writer=lambda _: next(drafts), critic=lambda _: next(verdicts), printer="printed")
    back = Back("draft", until=lambda context: context.results["review"] == "yes", rounds=5)
    nodes = [
        Node("draft", "writer"),
        Node("review", "critic", after=["draft"], back=back),
        Node("print", "printer", after=["review", "draft"]),
    ]
    with pytest.raises(WorkflowError, match="'print' waits for 'draft', which 'review' may send back"):
        Workflow(nodes, final="print")
    nodes[2] = Node("print", "printer", after=["review"])
    result = await crew.run(Workflow(nodes, final="print"))
    assert (result.content, crew.ran) == ("printed", ["writer", "critic"] * 3 + ["printer"])
    assert (result.nodes["draft"].text, result.nodes["draft"].rounds) == ("d3", 3)
    assert result.usage.requests == 7


async def test_a_reviewer_may_say_with_a_tool_that_it_is_content():
    verdicts = iter(["again", call("accept"), "good now"])
    crew = Crew(writer="draft", critic=lambda _: next(verdicts))
    nodes = [
        Node("draft", "writer"),
        Node("review", "critic", after=["draft"], back=Back("draft", until="accept")),
    ]
    result = await crew.run(Workflow(nodes, final="review"))
    assert (result.success, result.content, crew.ran.count("writer")) == (True, "good now", 2)


async def test_work_that_is_never_accepted_ends_bounded():
    crew = Crew(writer="draft", critic="no")
    back = Back("draft", until=lambda context: False, rounds=3)
    nodes = [Node("draft", "writer"), Node("review", "critic", after=["draft"], back=back)]
    result = await crew.run(Workflow(nodes, final="review"))
    assert (result.success, crew.ran.count("writer"), result.nodes["review"].error_type) == (False, 3, "NotAccepted")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Node("", "a"), "needs an id"),
        (lambda: Node("a/b", "a"), "may not hold"),
        (lambda: Node("n", 7), "run must be an agent"),
        (lambda: Node("n", "a", after=["x"], need=2), "need must be a whole number from 1 to 1"),
        (lambda: Node("n", "a", retry=-1), "retry"),
        (lambda: Node("n", "a", timeout=0), "timeout"),
        (lambda: Node("n", "a", on_error="ignore"), "on_error must be one of fail, continue, fail_fast"),
        (lambda: Node("n", "a", max_parallel=0), "max_parallel"),
        (lambda: Back("a", until="words"), "until must be a function or 'accept'"),
        (lambda: Back("a", until="accept", rounds=0), "rounds"),
        (lambda: Workflow([Node("n", "a", back=Back("m", until="accept"))]), "unknown task 'm'"),
        (lambda: Workflow([Node("m", "a"), Node("n", "a", back=Back("m", until="accept"))]), "does not wait for it"),
        (lambda: Workflow([Node("n", len, back=Back("n", until="accept"))]), "only an agent"),
        (lambda: Workflow([Node("n", "a", each="m")]), "each names 'm'"),
        (lambda: Workflow([Node("n", "a")], max_concurrency=0), "max_concurrency"),
    ],
)
def test_a_node_that_cannot_work_is_refused_as_it_is_made(make, said):
    with pytest.raises(WorkflowError) as caught:
        make()
    assert said in str(caught.value)


async def test_a_node_takes_an_agent_itself_and_a_sync_function():
    crew = Crew(a="A")
    agent: Agent = crew.agents[0]
    nodes = [Node("a", agent), Node("b", lambda context: context.results["a"] + "!", after=["a"])]
    assert (await crew.run(Workflow(nodes, final="b"))).content == "A!"


async def test_a_function_knows_the_task_and_what_the_caller_passed_along():
    seen = []

    async def look(context):
        seen.append((context.task.description, context.input, context.deps, context.round))

    await Crew(a="x").run(Workflow([Node("look", look)]), "the task", deps={"k": 1})
    assert seen == [("the task", "the task", {"k": 1}, 1)]


async def test_the_typed_output_of_a_run_is_asked_of_the_final_node():
    said = iter(["words", '{"value": 7}'])
    crew = Crew(a="x", b=lambda _: next(said))
    result = await crew.run(sequential("a", "b"), output_type=int)
    assert result.output == 7
    bad = await Crew(a="x").run(Workflow([Node("f", lambda context: "words")], final="f"), output_type=int)
    assert (bad.success, bad.error_type) == (False, "OutputError")


async def test_a_fatal_tool_ends_the_workflow():
    from officellm import FatalToolError, Office
    from officellm.testing import scripted

    def stop() -> str:
        """Stop."""
        raise FatalToolError("no more")

    a = Agent("a", model=scripted([call("stop"), "x"]), tools=[stop])
    b = Agent("b", model=scripted(["B"]))
    nodes = [Node("a", "a", on_error="continue"), Node("b", "b", after=["a"])]
    result = await Office(agents=[a, b]).run("go", orchestrator=Workflow(nodes, final="b"))
    assert (result.stop_reason, states(result)) == (StopReason.FAILED, {"a": "failed", "b": "cancelled"})
    assert "no more" in result.error


@pytest.mark.parametrize("value", [b"\xff\x00", {"a": {1, 2}}, "\x00\x1b[31m\ud800"], ids=str)
async def test_whatever_a_function_returns_the_result_has_a_json_form(value):
    result = await Crew(a="x").run(Workflow([Node("n", lambda context: value), Node("m", "a", after=["n"])], final="n"))
    assert result.success, result.error
    assert json.loads(json.dumps(result.to_dict()))["success"]
