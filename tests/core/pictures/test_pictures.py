"""Pictures of workflows, teams, plans and runs in three formats: well-formed whatever the texts say."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings, strategies as st

from officellm import Agent, Back, ConfigError, Node, Office, Workflow, draw, parallel
from officellm.pictures.diagram import Arrow, Box, Diagram
from officellm.pictures.dot import dot
from officellm.pictures.layout import layout
from officellm.pictures.mermaid import mermaid
from officellm.pictures.svg import svg
from officellm.testing import scripted

FLOW = Workflow(
    [
        Node("facts", "finder"),
        Node("draft", "writer", after=["facts"], each="facts"),
        Node("check", len, after=["draft"], back=Back("draft", until=lambda context: True)),
        Node("team", parallel("a", "b", combine="c"), after=["facts"]),
        Node("end", "writer", after=["check", "team"], when=lambda context: True),
    ],
    final="end",
)
RUN = {
    "runId": "r1",
    "stopReason": "failed",
    "nodes": {
        "x": {
            "state": "completed",
            "agent": "a",
            "rounds": 2,
            "seconds": 1.5,
            "usage": {"totalTokens": 1500, "costUsd": 0.25},
        },
        "y": {"state": "skipped", "after": ["x"], "error": "dependency x failed"},
    },
}


def test_a_workflow_has_its_nodes_its_ways_back_and_what_is_inside():
    text = draw(FLOW)
    assert text.startswith("flowchart TD\n")
    assert '["facts<br>finder"]' in text
    assert '(["check<br>' in text
    assert '-.->|"until content, 3 rounds"|' in text
    assert 'subgraph g0["team"]' in text
    assert text.count("-->") == 8


def test_a_finished_run_has_states_times_and_cost():
    text = draw(RUN)
    assert '["x<br>a<br>completed<br>1.5 s, 2 rounds, 1,500 tokens, $0.2500"]' in text
    assert "class n0 completed" in text
    assert "class n1 skipped" in text
    assert "n0 --> n1" in text


async def test_a_result_is_drawn_as_its_json_is():
    office = Office(agents=[Agent(name, model=scripted([name])) for name in "abc"])
    result = await office.run("go", orchestrator=parallel("a", "b", combine="c"))
    assert draw(result) == draw(json.loads(json.dumps(result.to_dict())))
    assert draw(result).count("completed") >= 3


def test_a_run_without_nodes_is_the_chain_of_its_agents():
    chain = [{"agent": "a"}, {"agent": "b", "by": "a", "reason": "money"}]
    usage = {"a": {"totalTokens": 1}, "b": {"totalTokens": 2}, "helper": {"totalTokens": 3}}
    text = draw({"stopReason": "success", "chain": chain, "byAgent": usage})
    assert '-.->|"money"|' in text
    assert "helper<br>3 tokens" in text


def test_a_team_shows_who_calls_whom_who_hands_over_and_the_routes():
    boss = Agent("boss", model=scripted([]), transfers=["desk"])
    office = Office(
        boss,
        workers=[Agent("helper", "Helps", model=scripted([]))],
        agents=[Agent("desk", model=scripted([]), transfers=[])],
        router={"name": "keyword", "routes": {"refund": "desk", "bill": "desk"}, "default": "boss"},
    )
    text = draw(office)
    assert '{{"boss"}}' in text
    assert '-->|"calls"|' in text
    assert text.count('|"hands over"|') == 1
    assert '==>|"refund, bill"|' in text
    assert '==>|"else"|' in text


def test_a_plan_shows_its_steps_and_who_answers():
    step = {"agent_id": "a", "input": "x", "description": "find", "depends_on": []}
    text = draw({"steps": [step, {**step, "depends_on": ["step_0"]}], "final_agent_id": "b"})
    assert '["step_0<br>a<br>find"]' in text
    assert text.count("-->") == 3


@pytest.mark.parametrize("thing", [None, 7, "x", {}, {"steps": []}])
def test_what_cannot_be_drawn_says_what_can(thing):
    with pytest.raises(ConfigError, match="A workflow, an office, a result or a plan can"):
        draw(thing)
    with pytest.raises(ConfigError, match="unknown format 'png'"):
        draw(FLOW, "png")


@st.composite
def diagrams(draw):
    texts = st.text(max_size=40) | st.sampled_from(
        ["end", 'a "b" [c] {d} | <e> `f` #35; \\n', "]]>", "subgraph x", "%%", "\n\n"]
    )
    size = draw(st.integers(1, 12))
    states = st.sampled_from(["", "completed", "failed", "skipped", "cancelled", "running", "odd"])
    kinds = st.sampled_from(["agent", "manager", "function", "workflow"])
    boxes = [
        Box(
            id=f"{number} {draw(texts)}",
            lines=draw(st.lists(texts, min_size=1, max_size=4)),
            kind=draw(kinds),
            state=draw(states),
            group=draw(st.sampled_from(["", "g", 'g"]'])),
        )
        for number in range(size)
    ]
    ids = st.sampled_from([box.id for box in boxes])
    arrows = st.builds(Arrow, ids, ids, st.sampled_from(["after", "call", "transfer", "back", "route"]), texts)
    return Diagram(draw(texts), boxes, draw(st.lists(arrows, max_size=20)))


@settings(deadline=None)
@given(diagrams())
def test_any_diagram_is_placed_without_overlaps_inside_the_picture(diagram):
    text = svg(diagram)
    root = ElementTree.fromstring(text)
    assert "script" not in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    width, height = (float(part) for part in root.attrib["viewBox"].split()[2:])
    made = list(layout(diagram).boxes.values())
    for number, one in enumerate(made):
        assert one.x >= 0
        assert one.y >= 0
        assert one.x + one.width <= width
        assert one.y + one.height <= height
        for other in made[:number]:
            beside = one.x + one.width <= other.x or other.x + other.width <= one.x
            assert beside or one.y + one.height <= other.y or other.y + other.height <= one.y


@settings(deadline=None)
@given(diagrams())
def test_any_text_is_safe_in_mermaid(diagram):
    for line in mermaid(diagram).splitlines()[1:]:
        plain = re.sub(r'"[^"]*"', '""', line)
        assert plain.count('"') % 2 == 0
        assert re.fullmatch(r"[\sA-Za-z0-9_\-.=>|\"\[\](){},:#]*", plain), line


@settings(deadline=None)
@given(diagrams())
def test_any_text_is_safe_in_dot(diagram):
    text = dot(diagram)
    plain = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    assert plain.count('"') % 2 == 0
    assert plain.count("{") == plain.count("}")
    assert re.fullmatch(r"[\sA-Za-z0-9_\->=\[\],;{}\"]*", plain)


def test_a_thousand_nodes_are_drawn():
    nodes = [Node(f"n{n}", "a", after=[f"n{n - 1 - k}" for k in range(min(n, 2))]) for n in range(1_000)]
    flow = Workflow(nodes)
    assert draw(flow).count("\n") > 2_900
    ElementTree.fromstring(draw(flow, "svg"))
