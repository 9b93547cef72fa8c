"""Pictures of teams: calls, transfers, routes, and who starts."""

import pytest

from officellm import Agent, ConfigError, Node, Office, Workflow, draw, load_team
from officellm.pictures.teams import of_office, of_team_file


def agent(name, **options):
    return Agent(name, model="openai:m", **options)


def arrows(diagram):
    return [(one.source, one.target, one.kind, one.label, one.both) for one in diagram.arrows]


def test_a_manager_is_marked_and_calls_its_workers():
    diagram = of_office(
        Office(agent("boss", workers=["one", "two"]), agents=[agent("one", workers=["two"]), agent("two")])
    )
    assert [(one.lines[0], one.kind) for one in diagram.boxes] == [
        ("task", "entry"),
        ("boss", "manager"),
        ("one", "manager"),
        ("two", "agent"),
    ]
    assert list(diagram.boxes[1].lines) == ["boss", "manager"]
    assert arrows(diagram) == [
        ("entry:", "boss", "route", "", False),
        ("boss", "one", "call", "", False),
        ("boss", "two", "call", "", False),
        ("one", "two", "call", "", False),
    ]


def test_transfers_both_ways_are_one_arrow_with_two_tips():
    agents = [agent("a", transfers=["b", "c"]), agent("b", transfers=["a"]), agent("c", transfers=[])]
    diagram = of_office(Office(agents=agents, router={"name": "keyword", "routes": {"x": "a"}, "default": "b"}))
    assert [one for one in arrows(diagram) if one[2] == "transfer"] == [
        ("a", "b", "transfer", "", True),
        ("a", "c", "transfer", "", False),
    ]


def test_the_routes_of_a_keyword_router_are_drawn_with_their_words():
    routes = {"refund": "billing", "invoice": ["billing", "tech"], "error": "tech", "ghost": "nobody"}
    office = Office(
        agents=[agent(name, transfers=[]) for name in ("billing", "tech", "desk")],
        router={"name": "keyword", "routes": routes, "default": "desk"},
    )
    assert arrows(of_office(office)) == [
        ("entry:", "billing", "route", "refund, invoice", False),
        ("entry:", "tech", "route", "error", False),
        ("entry:", "desk", "route", "else", False),
    ]


def test_another_router_may_choose_every_agent_that_may_start():
    agents = [agent("a", transfers=[]), agent("b", transfers=[], entry=False), agent("c", transfers=[])]
    diagram = of_office(Office(agents=agents, router="llm"))
    assert list(diagram.boxes[0].lines) == ["router", "llm"]
    assert [one[1] for one in arrows(diagram)] == ["a", "c"]


def test_a_planner_may_choose_the_agents_that_it_is_told():
    agents = [agent(name) for name in "abc"]
    office = Office(agents=agents, orchestrator={"name": "plan", "agents": ["c", "a"]})
    assert [one[:3] for one in arrows(of_office(office))] == [("entry:", "c", "route"), ("entry:", "a", "route")]


@pytest.mark.parametrize(("count", "drawn"), [(2, 1), (3, 3), (4, 0), (1000, 0)])
def test_agents_who_may_all_hand_over_to_each_other_are_joined_while_they_are_few(count, drawn):
    office = Office(agents=[agent(f"a{number}") for number in range(count)])
    diagram = of_office(office)
    assert len(diagram.arrows) == drawn
    assert all(one.both for one in diagram.arrows)
    noted = ["may hand over to anyone" in one.notes for one in diagram.boxes]
    assert noted == [drawn == 0] * count


def test_with_a_manager_nobody_hands_over_unless_it_says_so():
    assert [one[2] for one in arrows(of_office(Office(agent("boss", workers=["w"]), agents=[agent("w")])))] == [
        "route",
        "call",
    ]
    handoff = Office(agent("boss"), agents=[agent("other")], orchestrator="handoff")
    assert [one[2] for one in arrows(of_office(handoff))] == ["route", "transfer"]


def test_an_office_with_a_workflow_is_drawn_as_the_workflow():
    workflow = Workflow([Node("first", "a"), Node("second", "b", after=["first"])])
    agents = [agent("a"), agent("b")]
    assert draw(Office(agents=agents, orchestrator=workflow)) == draw(workflow)
    pattern = {"name": "dag", "pattern": "sequential", "agents": ["a", "b"]}
    assert "step-0<br>a" in draw(Office(agents=agents, orchestrator=pattern))


def test_settings_of_a_workflow_that_do_not_fit_are_a_config_error():
    with pytest.raises(ConfigError, match="orchestrator 'dag': the pattern 'loop' needs times"):
        draw(Office(agents=[agent("a")], orchestrator={"name": "dag", "pattern": "loop", "agents": ["a"]}))


TEAM = """
agents:
  - {name: triage, description: Asks, model: "openai:m", transfers: [billing], tools: {allow: ["no_such_module:tool"]}}
  - {name: billing, model: "openai:m", transfers: [triage]}
router: {name: no_such_router, routes: {money: billing}}
"""


def test_a_team_file_is_drawn_without_importing_what_it_names(tmp_path):
    path = tmp_path / "team.yaml"
    path.write_text(TEAM)
    diagram = of_team_file(load_team(path))
    assert arrows(diagram) == [
        ("entry:", "billing", "route", "money", False),
        ("triage", "billing", "transfer", "", True),
    ]
    assert list(diagram.boxes[1].lines) == ["triage", "Asks"]


@pytest.mark.parametrize(
    "manager", ["manager: boss", "manager: {name: boss, model: 'openai:m'}"], ids=["name", "block"]
)
def test_a_team_file_and_its_office_are_drawn_alike(tmp_path, manager):
    path = tmp_path / "team.yaml"
    boss = "  - {name: boss, model: 'openai:m', workers: [b, c]}\n" if "{" not in manager else ""
    others = "  - {name: b, model: 'openai:m'}\n  - {name: c, model: 'openai:m', workers: [b]}\n"
    path.write_text(f"agents:\n{boss}{others}{manager}\nlimits: {{max_turns: 3}}\n")
    team = load_team(path)
    assert sorted(arrows(of_team_file(team))) == sorted(arrows(of_office(team.office())))
    assert "boss" in draw(team, "svg")
