"""The `keyword` router: deterministic, whole words, the first registered route."""

import pytest

from officellm import Agent, ConfigError, NoRouteError, Office, Task, UnknownAgentError
from officellm.testing import scripted


def an_office(**router):
    agents = [Agent(name, model=scripted([f"by {name}"] * 3)) for name in ("alice", "bob", "carol")]
    return Office(agents=agents, router={"name": "keyword", **router})


ROUTES = {"sql": "alice", "SQL report": "bob", "c++": ["carol", "bob"]}


@pytest.mark.parametrize(
    ("words", "agent"),
    [
        ("write SQL please", "alice"),
        ("sql report", "alice"),
        ("mysqlite", "carol"),
        ("I like C++!", "carol"),
        ("nothing here", "carol"),
    ],
    ids=["case", "first route wins", "whole words", "signs", "default"],
)
async def test_the_first_route_whose_word_is_in_the_task_wins(words, agent):
    office = an_office(routes=ROUTES, default="carol")
    for _ in range(2):
        result = await office.run(words)
        assert (result.content, result.agent) == (f"by {agent}", agent)
    assert [hop.by for hop in result.chain] == ["keyword"]


async def test_parts_of_words_count_where_they_are_wanted():
    assert (await an_office(routes=ROUTES, default="bob", match="substring").run("mysqlite")).agent == "alice"


async def test_title_and_description_are_both_looked_at():
    assert (await an_office(routes=ROUTES).run(Task(title="Work", description="some sql"))).agent == "alice"


async def test_no_route_and_no_default_is_refused_with_the_routes():
    with pytest.raises(NoRouteError, match="sql"):
        await an_office(routes=ROUTES).run("hello")


@pytest.mark.parametrize(
    ("router", "error"),
    [
        ({"routes": {"x": "nobody"}}, UnknownAgentError),
        ({"routes": {"x": "bob"}, "default": "nobody"}, UnknownAgentError),
        ({"routes": {" ": "bob"}}, ConfigError),
        ({}, ConfigError),
        ({"rules": {}}, ConfigError),
    ],
    ids=["route", "default", "blank word", "nothing", "unknown key"],
)
async def test_routes_that_cannot_work_are_refused(router, error):
    with pytest.raises(error):
        await an_office(**router).run("x y")


async def test_a_pinned_agent_skips_routing():
    assert (await an_office(routes={"x": "bob"}).run("x", agent="alice")).agent == "alice"
