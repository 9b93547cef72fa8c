"""The file form of a workflow: steps, patterns, conditions; each mistake named with its place."""

import pytest
from pydantic import ValidationError

from officellm import Workflow, WorkflowError, WorkflowSpec
from officellm.workflows.conditions import ConditionSpec
from officellm.workflows.nodes import NodeContext, NodeResult, NodeState

from .crew import Crew, states


def workflow(*steps, **more):
    return WorkflowSpec.model_validate({"steps": list(steps), **more}).workflow()


async def test_steps_are_a_workflow_whose_last_step_is_final():
    crew = Crew(a="A", b="B")
    result = await crew.run(workflow({"id": "x", "agent": "a"}, {"id": "y", "agent": "b", "after": "x"}))
    assert (result.content, crew.prompts("b")) == ("B", ["go\n\nResult from a (x):\nA"])


async def test_every_key_of_a_step_does_what_it_says():
    said = iter(["draft", "better"])
    crew = Crew(
        list='{"items": ["p", "q"]}',
        one=lambda r: r.messages[-1].text.upper(),
        write=lambda _: next(said),
        judge=lambda r: "APPROVED" if "better" in r.messages[-1].text else "no",
        end="end",
    )
    made = workflow(
        {"id": "list", "agent": "list"},
        {"id": "each", "agent": "one", "after": ["list"], "each": "list.items", "input": "{{item}}"},
        {"id": "draft", "agent": "write", "after": ["each"], "retry": 1, "timeout": 5, "onError": "fail_fast"},
        {
            "id": "review",
            "agent": "judge",
            "after": ["draft"],
            "back": {"to": "draft", "until": "approved", "rounds": 4, "onExhausted": "accept"},
        },
        {"id": "done", "agent": "end", "after": ["review"], "when": {"step": "review", "contains": "approved"}},
        {"id": "not", "agent": "end", "after": ["review"], "when": {"not": {"contains": "approved"}}},
        final="done",
        max_concurrency=2,
    )
    result = await crew.run(made)
    assert result.success, result.error
    assert result.nodes["each"].value == ["P", "Q"]
    assert (result.nodes["review"].rounds, states(result)["not"]) == (2, "skipped")


async def test_a_step_may_have_steps_of_its_own_and_a_mapping_as_input():
    crew = Crew(a="A", b="B")
    inner = {"id": "team", "steps": [{"id": "p", "agent": "a"}, {"id": "q", "agent": "b", "after": "p"}]}
    result = await crew.run(workflow({**inner, "input": {"topic": "tides", "words": 3}}))
    assert (result.content, crew.prompts("a")) == ("B", ["topic: tides\n\nwords: 3"])
    assert list(result.nodes) == ["team", "team/p", "team/q"]


@pytest.mark.parametrize(
    ("settings", "ran"),
    [
        ({"pattern": "sequential", "agents": ["a", "b"]}, ["a", "b"]),
        ({"pattern": "parallel", "agents": ["a", "b"], "combine": "c"}, ["a", "b", "c"]),
        ({"pattern": "loop", "agents": "a", "times": 3}, ["a", "a", "a"]),
        ({"pattern": "loop", "agents": "a", "times": 3, "until": "A"}, ["a"]),
    ],
)
async def test_a_pattern_by_its_name(settings, ran):
    crew = Crew(a="A", b="B", c="C")
    assert (await crew.run(WorkflowSpec.model_validate(settings).workflow())).success
    assert crew.ran == ran


def test_nothing_said_is_no_workflow():
    assert WorkflowSpec().workflow() is None
    assert isinstance(workflow({"id": "a", "agent": "x"}), Workflow)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"steps": [{"id": "a"}]}, "a step has an agent, or steps of its own"),
        ({"steps": [{"id": "a", "agent": "x", "steps": []}]}, "a step has an agent, or steps of its own"),
        ({"steps": [{"id": "a", "agent": "x", "final": "a"}]}, "final is for a step that has steps"),
        ({"steps": [{"id": "a", "agent": "x", "when": {}}]}, "give exactly one of equals, contains"),
        ({"steps": [{"id": "a", "agent": "x", "when": {"equals": 1, "state": "failed"}}]}, "not equals and state"),
        ({"steps": [{"id": "a", "agent": "x", "when": {"matches": "("}}]}, "is no regular expression"),
        ({"steps": [{"id": "a", "agent": "x"}], "pattern": "sequential", "agents": ["x"]}, "steps or a pattern"),
        ({"pattern": "parallel", "agents": ["x"]}, "needs combine"),
        ({"pattern": "loop", "agents": ["x", "y"], "times": 2}, "has one agent"),
        ({"pattern": "loop", "agents": ["x"]}, "needs times"),
        ({"pattern": "loop", "agents": ["x"], "times": 0}, "greater than or equal to 1"),
        ({"pattern": "ring"}, "sequential"),
        ({"steps": [{"id": "a", "agent": "x", "afters": []}]}, "Extra inputs"),
    ],
)
def test_what_does_not_fit_is_refused(settings, said):
    with pytest.raises(ValidationError) as caught:
        WorkflowSpec.model_validate(settings)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("step", "node", "key"),
    [
        ({"id": "b", "agent": "x", "after": ["ghost"]}, "b", "after"),
        ({"id": "b", "agent": "x", "after": ["a"], "when": {"step": "c", "state": "failed"}}, "b", "when"),
        ({"id": "b", "agent": "x", "when": "yes"}, "b", "when"),
        ({"id": "b", "agent": "x", "each": "a.items"}, "b", "each"),
        ({"id": "b", "agent": "x", "back": {"to": "a", "until": "ok"}}, "b", "back"),
        ({"id": "a", "agent": "x"}, "a", "id"),
    ],
)
def test_a_mistake_says_where_it_is(step, node, key):
    with pytest.raises(WorkflowError) as caught:
        workflow({"id": "a", "agent": "x"}, step)
    assert (caught.value.node, caught.value.key) == (node, key)


def context(value, state=NodeState.COMPLETED):
    outcome = NodeResult(id="s", state=state, value=value, text=str(value))
    return NodeContext(id="n", task=None, input="", results={}, outcomes={"s": outcome})


@pytest.mark.parametrize(
    ("condition", "value", "holds"),
    [
        ("yes", "Oh YES", True),
        ("yes", "no", False),
        ({"equals": "yes"}, " yes\n", True),
        ({"equals": "yes"}, "yes!", False),
        ({"equals": None}, None, True),
        ({"key": "score", "equals": 3}, {"score": 3}, True),
        ({"key": "a.1.b", "equals": True}, {"a": [0, {"b": True}]}, True),
        ({"key": "score", "equals": 3}, '{"score": 3}', True),
        ({"key": "none.there", "equals": 3}, {"score": 3}, False),
        ({"matches": r"^\d+$"}, "123", True),
        ({"matches": r"^\d+$"}, "12a", False),
        ({"state": "completed"}, "x", True),
        ({"all": ["a", "b"]}, "ab", True),
        ({"all": ["a", "c"]}, "ab", False),
        ({"any": ["c", "b"]}, "ab", True),
        ({"not": "c"}, "ab", True),
        ({"contains": "3"}, [1, 2, 3], True),
    ],
)
def test_what_a_condition_says_of_a_result(condition, value, holds):
    assert ConditionSpec.model_validate(condition).holds(context(value), "s") is holds


def test_a_condition_on_words_never_holds_of_a_failure_but_one_on_the_state_may():
    failed = context("yes", NodeState.FAILED)
    assert not ConditionSpec.model_validate("yes").holds(failed, "s")
    assert ConditionSpec.model_validate({"state": "failed"}).holds(failed, "s")
