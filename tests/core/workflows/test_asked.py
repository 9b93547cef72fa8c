"""The small functions of a node, and what no node or workflow can be made of."""

import asyncio

import pytest

from officellm import Back, Node, Workflow, WorkflowError

from .crew import Crew, states


def _raises(error):
    def function(context):
        raise error

    return function


class _Later:
    async def __call__(self, context):
        return False


@pytest.mark.parametrize("key", ["when", "input", "each", "until"])
@pytest.mark.parametrize(
    ("function", "said"),
    [
        (_raises(asyncio.CancelledError()), "raised CancelledError"),
        (_raises(SystemExit(3)), "raised SystemExit"),
        (_raises(GeneratorExit()), "raised GeneratorExit"),
        (_Later(), "must be a plain function, not an async one"),
    ],
    ids=["cancels", "exits", "closes", "async"],
)
async def test_a_small_function_neither_ends_the_run_nor_passes_for_true(key, function, said):
    options = {"back": Back("n", function)} if key == "until" else {key: function}
    result = await Crew(a="x").run(Workflow([Node("n", "a", **options), Node("other", "a")], final="n"))
    assert f"{key} {said}" in result.error
    assert states(result) == {"n": "failed", "other": "completed"}


@pytest.mark.parametrize("value", [None, 7, ["go"]])
async def test_an_input_that_is_no_text_fails_the_node_in_words(value):
    result = await Crew(a="x").run(Workflow([Node("n", "a", input=lambda context: value)], final="n"))
    assert "input must return a text" in result.error


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"after": None}, "after must be ids of nodes"),
        ({"after": [Node("x", "a")]}, "after must be ids of nodes"),
        ({"after": [[]]}, "after must be ids of nodes"),
        ({"back": "x"}, "back must be a Back"),
        ({"input": 5}, "input must be a text"),
        ({"each": 5}, "each must be a list"),
        ({"when": _Later.__call__}, "when must be a function of the context that is not async"),
        ({"output_type": object()}, "has no JSON Schema"),
        ({"timeout": True}, "timeout"),
        ({"retry": False}, "retry"),
    ],
)
def test_what_no_node_can_work_with_is_refused_as_it_is_made(options, said):
    with pytest.raises(WorkflowError, match=said) as caught:
        Node("n", "a", **options)
    assert caught.value.node == "n"


@pytest.mark.parametrize(("nodes", "final"), [(None, None), (5, None), ([Node("n", "a")], 5), ([Node("n", "a")], [])])
def test_a_workflow_of_anything_else_is_refused(nodes, final):
    with pytest.raises(WorkflowError):
        Workflow(nodes, final=final)
