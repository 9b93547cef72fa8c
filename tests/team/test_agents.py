"""The registry: who is there, in whose name one registers, and when an agent counts as gone."""

from __future__ import annotations

import pytest

from officellm_team.board import agents
from officellm_team.board.caller import Caller
from officellm_team.board.errors import BoardError


def test_an_agent_registers_itself_whatever_name_it_passes(tools):
    shown = tools("agent_register", as_="planner", agent_id="builder", role="plans", capabilities=["plan"])
    assert (shown["agent_id"], shown["role"], shown["capabilities"]) == ("planner", "plans", ["plan"])
    assert [agent["agent_id"] for agent in tools("agent_list")["agents"]] == ["planner"]


def test_registering_again_replaces_what_was_known_and_keeps_when_it_began(tools, clock):
    first = tools("agent_register", as_="planner", role="plans", metadata={"model": "m"})
    clock.advance(5)
    again = tools("agent_register", as_="planner")
    assert (again["role"], again["metadata"]) == ("", {})
    assert again["created_at"] == first["created_at"] < again["last_seen"]


def test_an_agent_that_is_not_heard_of_is_offline_until_its_next_heartbeat(tools, clock):
    tools("agent_register", as_="planner")
    clock.advance(agents.SEEN_SECONDS)
    assert tools("agent_get", agent_id="planner")["status"] == "active"
    clock.advance(1)
    assert tools("agent_get", agent_id="planner")["status"] == "offline"
    assert [one["agent_id"] for one in tools("agent_list", status="offline")["agents"]] == ["planner"]
    assert tools("agent_heartbeat", as_="planner")["status"] == "active"
    assert tools("agent_list", status="offline")["agents"] == []


def test_who_says_that_it_leaves_is_offline(tools):
    tools("agent_register", as_="planner")
    assert tools("agent_offline", as_="planner")["status"] == "offline"
    assert tools("agent_heartbeat", as_="planner")["status"] == "active"


@pytest.mark.parametrize("tool", ["agent_heartbeat", "agent_offline"])
def test_nobody_speaks_for_another_agent(tools, tool):
    tools("agent_register", as_="planner")
    with pytest.raises(BoardError, match="'stranger' is not registered") as refused:
        tools(tool, as_="stranger", agent_id="planner")
    assert refused.value.code == "agent_not_registered"


def test_an_unknown_agent_is_answered_with_the_nearest_name(tools):
    tools("agent_register", as_="planner")
    with pytest.raises(BoardError, match="Did you mean 'planner'") as refused:
        tools("agent_get", agent_id="planer")
    assert refused.value.code == "agent_not_registered"


def test_who_was_seen_last_is_listed_first(tools, clock):
    for name in ("a", "b", "c"):
        tools("agent_register", as_=name, role="worker" if name == "b" else "boss")
        clock.advance(1)
    tools("agent_heartbeat", as_="a")
    assert [one["agent_id"] for one in tools("agent_list")["agents"]] == ["a", "c", "b"]
    assert [one["agent_id"] for one in tools("agent_list", role="worker")["agents"]] == ["b"]


def test_a_status_that_does_not_exist_is_refused_with_those_that_do(tools):
    with pytest.raises(BoardError, match="active, idle, offline"):
        tools("agent_list", status="activ")


@pytest.mark.parametrize(
    ("name", "code"),
    [(" ", "invalid_arguments"), ("x" * 201, "content_too_large"), ("a\0b", "invalid_arguments")],
    ids=["blank", "long", "nul"],
)
def test_a_name_that_cannot_be_stored_is_refused(board, name, code):
    with pytest.raises(BoardError) as refused:
        agents.register(board, Caller(name))
    assert refused.value.code == code
