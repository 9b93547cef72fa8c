"""Pictures of workflows and plans: what is drawn of them."""

import json

import pytest

from officellm import (
    Agent,
    Back,
    ConfigError,
    Node,
    Plan,
    Step,
    Workflow,
    WorkflowSpec,
    draw,
    loop,
    parallel,
    sequential,
)
from officellm.pictures.workflows import of_plan, of_workflow


def approved(context):
    return True


def arrows(diagram):
    """Every arrow by the names of its ends."""
    names = {box.id: box.lines[0] for box in diagram.boxes}
    return [(names[one.source], names[one.target], one.kind, one.label) for one in diagram.arrows]


def box(diagram, name):
    """The box of this name."""
    (found,) = [one for one in diagram.boxes if one.lines[0] == name]
    return found


def test_nodes_wait_for_others():
    diagram = of_workflow(parallel("legal", "cost", combine="writer", quorum=1))
    assert [list(one.lines) for one in diagram.boxes] == [
        ["branch-0", "legal"],
        ["branch-1", "cost"],
        ["combine", "writer"],
    ]
    assert arrows(diagram) == [("branch-0", "combine", "after", ""), ("branch-1", "combine", "after", "")]
    assert box(diagram, "combine").notes == ["after 1 of 2"]


def test_a_way_back_says_until_when():
    nodes = [
        Node("draft", "writer"),
        Node("review", "critic", after=["draft"], back=Back("draft", approved, rounds=4)),
        Node("polish", "writer", after=["review"], back=Back("polish", "accept")),
    ]
    found = [one for one in arrows(of_workflow(Workflow(nodes))) if one[2] == "back"]
    assert found == [
        ("review", "draft", "back", "until approved(), 4 rounds"),
        ("polish", "polish", "back", "until accepted, 3 rounds"),
    ]


@pytest.mark.parametrize(
    ("when", "words"),
    [
        ({"contains": "no picture"}, 'if "no picture"'),
        ({"not": {"contains": "no picture"}}, 'if not "no picture"'),
        ({"step": "a", "key": "score", "equals": 3}, "if a.score is 3"),
        ({"step": "a", "state": "failed"}, "if a failed"),
        ({"step": "a", "contains": "x"}, 'if a contains "x"'),
        ({"matches": "^ok"}, "if matches ^ok"),
        ({"any": [{"contains": "x"}, {"all": [{"contains": "y"}, {"contains": "z"}]}]}, 'if "x" or "y" and "z"'),
    ],
    ids=["contains", "not", "equals", "state", "step contains", "matches", "any and all"],
)
def test_a_condition_of_a_file_is_told_in_words(when, words):
    steps = [{"id": "a", "agent": "x"}, {"id": "b", "agent": "y", "after": "a", "when": when}]
    diagram = of_workflow(WorkflowSpec.model_validate({"steps": steps}).workflow())
    assert arrows(diagram) == [("a", "b", "condition", words)]


def test_a_condition_in_code_is_told_by_its_name():
    nodes = [
        Node("a", "x"),
        Node("b", "y", after=["a"], when=approved),
        Node("c", "z", after=["a"], when=lambda _: True),
    ]
    assert [one[2:] for one in arrows(of_workflow(Workflow(nodes)))] == [
        ("condition", "if approved()"),
        ("condition", "if"),
    ]
    assert of_workflow(Workflow([Node("a", "x", when=approved)])).boxes[0].notes == ["if approved()"]


def test_functions_managers_and_workflows_have_shapes_of_their_own():
    boss = Agent("boss", model="openai:x", workers=["helper"])
    nodes = [
        Node("ask", boss),
        Node("count", approved, after=["ask"]),
        Node("inner", sequential("a", loop("b", 2)), after=["count"]),
    ]
    diagram = of_workflow(Workflow(nodes))
    assert [(one.lines[0], one.kind) for one in diagram.boxes[:3]] == [
        ("ask", "manager"),
        ("count", "function"),
        ("inner", "workflow"),
    ]
    assert list(box(diagram, "count").lines) == ["count", "approved()"]
    inner = box(diagram, "inner")
    assert [one.lines[0] for one in diagram.boxes if one.inside == inner.id] == ["step-0", "step-1"]
    assert [one.lines[0] for one in diagram.boxes if one.inside == box(diagram, "step-1").id] == [
        "iteration-0",
        "iteration-1",
    ]
    assert ("count", "inner", "after", "") in arrows(diagram)


def test_what_is_special_about_a_node_is_noted():
    nodes = [
        Node("facts", "x", retry=2),
        Node("notes", "x", after=["facts"], each="facts", fallback="y"),
        Node("last", "x", after=["facts"]),
    ]
    diagram = of_workflow(Workflow(nodes, final="last"))
    assert box(diagram, "facts").notes == ["2 retries"]
    assert box(diagram, "notes").notes == ["for each of facts", "else y"]
    assert box(diagram, "last").notes == ["final"]


PLAN = {
    "steps": [
        {"agent_id": "market", "input": "m", "description": "Prices", "depends_on": []},
        {"agent_id": "law", "input": "l", "description": "", "depends_on": []},
        {"agent_id": "market", "input": "Compare {{step_1}}", "description": "", "depends_on": ["step_0"]},
    ],
    "final_agent_id": "editor",
}


def test_a_plan_is_drawn_with_who_answers():
    diagram = of_plan(PLAN)
    assert list(diagram.boxes[0].lines) == ["step_0", "market", "Prices"]
    assert [one[:2] for one in arrows(diagram)] == [
        ("step_0", "step_2"),
        ("step_1", "step_2"),
        ("step_2", "final"),
    ]
    assert list(diagram.boxes[-1].lines) == ["final", "editor"]


def test_a_plan_object_is_drawn_like_its_json():
    plan = Plan(steps=[Step(agent_id="a", input="x"), Step(agent_id="b", input="y")], final_agent_id="c")
    assert draw(plan) == draw(plan.to_dict()) == draw(json.loads(json.dumps(plan.to_dict())))


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({"steps": [], "final_agent_id": "a"}, "no steps"),
        ({"steps": [{"agent_id": "a", "depends_on": ["step_7"]}], "final_agent_id": "a"}, "'step_7'"),
        ({"steps": [{"agent_id": ["a"]}], "final_agent_id": "a"}, "unknown agent"),
        ({"steps": [3], "final_agent_id": "a"}, "unknown agent"),
        ({"steps": [{"agent_id": "a"}], "final_agent_id": None}, "final_agent_id"),
    ],
    ids=["empty", "unknown step", "odd agent", "odd step", "nobody answers"],
)
def test_a_plan_that_cannot_work_is_a_config_error(plan, said):
    with pytest.raises(ConfigError, match="the plan cannot work") as caught:
        draw(plan)
    assert said in str(caught.value)
