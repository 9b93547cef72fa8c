"""Pictures of finished runs: states, times, cost; and that no JSON is odd enough to break one."""

import json

import pytest
from hypothesis import given, settings, strategies as st

from officellm import Agent, Back, ConfigError, Node, Office, Workflow, draw, sequential
from officellm.pictures.runs import of_run
from officellm.testing import call, scripted

from ..workflows.crew import Crew


def box(diagram, name):
    (found,) = [one for one in diagram.boxes if one.lines[0] == name]
    return found


def arrows(diagram):
    return [(one.source, one.target, one.kind, one.label) for one in diagram.arrows]


async def test_a_run_of_a_workflow_shows_how_each_node_ended():
    crew = Crew(facts="x", legal=ValueError("no answer"), writer="w")
    nodes = [
        Node("facts", "facts"),
        Node("legal", "legal", after=["facts"]),
        Node("maybe", "writer", after=["facts"], when=lambda _: False),
        Node("deep", sequential("writer", "writer"), after=["facts"]),
        Node("summary", "writer", after=["legal", "deep"]),
    ]
    result = await crew.run(Workflow(nodes, final="summary"))
    diagram = of_run(result.to_dict())
    states = {one.lines[0]: one.state for one in diagram.boxes}
    assert states == {
        "facts": "completed",
        "legal": "failed",
        "maybe": "skipped",
        "deep": "completed",
        "step-0": "completed",
        "step-1": "completed",
        "summary": "skipped",
    }
    assert box(diagram, "maybe").notes[0] == "skipped by a condition"
    assert any("no answer" in note for note in box(diagram, "legal").notes)
    assert any("tokens" in note for note in box(diagram, "facts").notes)
    assert box(diagram, "step-0").inside == box(diagram, "deep").id == "deep"
    assert ("deep/step-0", "deep/step-1", "after", "") in arrows(diagram)
    assert ("legal", "summary", "after", "") in arrows(diagram)
    assert result.run_id in diagram.title
    assert draw(result, "svg") == draw(json.loads(json.dumps(result.to_dict())), "svg")


async def test_rounds_of_a_workflow_inside_are_frames_of_their_own():
    crew = Crew(a="x", b="y")
    inner = Workflow([Node("a", "a"), Node("b", "b", after=["a"])], final="b")
    again = Back("inner", lambda context: context.round == 2, rounds=3)
    result = await crew.run(Workflow([Node("inner", inner, back=again)], final="inner"))
    diagram = of_run(result.to_dict())
    assert {one.id: one.inside for one in diagram.boxes} == {
        "inner": "",
        "inner/a": "inner",
        "inner/b": "inner",
        "inner#2": "inner",
        "inner#2/a": "inner#2",
        "inner#2/b": "inner#2",
    }
    assert "2 rounds" in box(diagram, "inner").notes[0]
    assert ("inner#2/a", "inner#2/b", "after", "") in arrows(diagram)


async def test_a_run_of_a_manager_shows_whom_it_called():
    model = scripted([call("helper", task="x"), "done"])
    office = Office(Agent("boss", model=model), workers=[Agent("helper", model=scripted(["help"]))])
    diagram = of_run((await office.run("go")).to_dict())
    assert arrows(diagram) == [
        ("entry:", "agent:boss", "route", ""),
        ("agent:boss", "agent:helper", "call", ""),
    ]
    assert (box(diagram, "boss").kind, box(diagram, "boss").state) == ("manager", "completed")


def hop(agent, by="", reason=""):
    return {"agent": agent, "by": by, "reason": reason}


def test_a_chain_of_transfers_is_numbered_with_the_reasons():
    chain = [hop("a", "keyword", "the task says 'x'"), hop("b", "a", "money"), hop("a", "b"), hop("b", "a", "more")]
    result = {"success": False, "stopReason": "max_transfers", "error": "too many", "chain": chain}
    diagram = of_run(result)
    assert arrows(diagram) == [
        ("entry:", "agent:a", "route", "keyword: the task says 'x'"),
        ("agent:a", "agent:b", "transfer", "1, 3: money"),
        ("agent:b", "agent:a", "transfer", "2"),
    ]
    assert (box(diagram, "a").state, box(diagram, "b").state) == ("completed", "failed")
    assert list(box(diagram, "b").notes) == ["max_transfers", "too many"]


def test_a_worker_that_failed_says_why():
    result = {
        "success": True,
        "stopReason": "success",
        "chain": [hop("boss", "entry")],
        "byAgent": {"boss": {"totalTokens": 1200, "costUsd": 0.01}, "w": {"totalTokens": 5}},
        "failures": [{"agent": "w", "stopReason": "timeout", "error": "too slow"}],
    }
    diagram = of_run(result)
    assert list(box(diagram, "boss").notes) == ["success", "1,200 tokens, $0.0100"]
    assert (box(diagram, "w").state, list(box(diagram, "w").notes)) == ("failed", ["5 tokens", "too slow"])


@pytest.mark.parametrize(
    ("seconds", "usage", "said"),
    [
        (0.004, {"totalTokens": 7, "costUsd": 0.00001}, "(4 ms, 7 tokens, <$0.0001)"),
        (12.34, {"totalTokens": 1234567, "costUsd": 3.5}, "(12.3 s, 1,234,567 tokens, $3.50)"),
        (200, {"totalTokens": 1, "costUsd": None}, "(3 min 20 s, 1 tokens)"),
        (0, {}, "success"),
    ],
    ids=["little", "much", "unknown cost", "nothing"],
)
def test_time_tokens_and_cost_stand_in_the_title(seconds, usage, said):
    title = of_run({"success": True, "stopReason": "success", "seconds": seconds, "usage": usage}).title
    assert title.endswith(said)


def test_the_result_of_a_plan_that_was_only_shown_is_the_plan():
    plan = {"steps": [{"agent_id": "a", "input": "x"}], "final_agent_id": "b"}
    assert draw({"success": True, "stopReason": "success", "output": plan}) == draw(plan)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
ids = st.text(alphabet="ab/#[1]~", max_size=8)
nodes = st.fixed_dictionaries(
    {},
    optional={
        "state": st.sampled_from(["completed", "failed", "skipped"]) | anything,
        "agent": anything,
        "after": st.lists(ids, max_size=3) | anything,
        "usage": anything,
        "seconds": anything,
        "rounds": anything,
        "attempts": anything,
        "error": anything,
    },
)
results = st.fixed_dictionaries(
    {"success": anything, "stopReason": anything},
    optional={
        "nodes": st.dictionaries(ids, nodes | anything, max_size=8) | anything,
        "chain": st.lists(st.fixed_dictionaries({}, optional={"agent": ids, "by": anything, "reason": anything}))
        | anything,
        "byAgent": anything,
        "failures": anything,
        "usage": anything,
        "runId": anything,
        "seconds": anything,
    },
)


@settings(deadline=None, max_examples=150)
@given(results, st.sampled_from(["mermaid", "dot", "svg"]))
def test_no_result_is_odd_enough_to_break_a_picture(result, format):
    diagram = of_run(result)
    inside = {one.id: one.inside for one in diagram.boxes}
    assert len(inside) == len(diagram.boxes)
    assert all(inside[one.source] == inside[one.target] for one in diagram.arrows)
    assert draw(result, format)


@pytest.mark.parametrize("thing", [None, 3, "text", [], {}, {"steps": []}, object], ids=repr)
def test_what_cannot_be_drawn_is_a_config_error(thing):
    with pytest.raises(ConfigError, match="this cannot be drawn"):
        draw(thing)


def test_an_unknown_format_suggests_the_nearest():
    with pytest.raises(ConfigError, match="Did you mean 'mermaid'"):
        draw(sequential("a"), "mermade")
