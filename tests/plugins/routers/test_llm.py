"""The `llm` router: a model chooses from a constrained list, is asked once more, and is metered."""

import asyncio
import json

import pytest

from officellm import Agent, ConfigError, Fault, Limits, NoRouteError, Office, StopReason, UnknownAgentError
from officellm.testing import reply, scripted


def an_office(*choices, limits=None, **router):
    """Three agents; the first one's model is the router's too, as nothing else is said."""
    model = scripted([*choices, reply("answer", repeat=True)])
    agents = [Agent(name, f"Does {name}", model=model) for name in ("alice", "bob", "carol")]
    return Office(agents=agents, router={"name": "llm", **router}, limits=limits), model


def chosen(name, **more):
    return json.dumps({"agent": name, "reason": "fits", **more})


@pytest.mark.parametrize(
    "said",
    [
        chosen("bob"),
        f"```json\n{chosen('bob')}\n```",
        chosen("Bob"),
        "bob",
        ' "Bob".\n',
        "- **bob**",
        "`bob`",
    ],
    ids=["json", "fenced", "case", "word", "quoted", "bullet", "code"],
)
async def test_a_choice_is_understood_however_it_is_dressed(said):
    office, model = an_office(said)
    result = await office.run("a task")
    assert (result.agent, result.content, len(model.requests)) == ("bob", "answer", 2)


async def test_the_model_chooses_from_a_constrained_list_in_a_stable_order():
    office, model = an_office(chosen("bob"))
    await office.run("the task")
    asked = model.requests[0]
    assert asked.output.schema["properties"]["agent"]["enum"] == ["alice", "bob", "carol"]
    assert "- alice: Does alice\n- bob: Does bob\n- carol: Does carol" in asked.messages[0].text
    assert "the task" in asked.messages[1].text


async def test_an_answer_that_is_not_on_offer_is_asked_about_once():
    office, model = an_office(chosen("dave"), chosen("carol"))
    result = await office.run("t")
    assert (result.agent, len(model.requests)) == ("carol", 3)
    assert "alice, bob, carol" in model.requests[1].messages[-1].text


async def test_the_choice_and_its_reason_are_told_and_its_tokens_counted():
    office, _ = an_office(chosen("bob"))
    seen = []
    result = await office.run("t", listener=seen.append)
    (event,) = [one for one in seen if one.type == "route"]
    assert (event.by, event.choice, event.reason) == ("llm", "bob", "fits")
    assert result.by_agent["router:llm"].total == 15
    assert (result.usage.requests, result.usage.total) == (2, 30)
    assert [(hop.agent, hop.by, hop.reason) for hop in result.chain] == [("bob", "llm", "fits")]


async def test_nonsense_twice_goes_to_the_default_or_fails():
    office, _ = an_office("hm", "hm", default="carol")
    assert (await office.run("t")).agent == "carol"
    office, model = an_office("hm", "hm")
    result = await office.run("t")
    assert (result.stop_reason, result.error_type, len(model.requests)) == (StopReason.FAILED, "RouteError", 2)
    assert "alice, bob, carol" in result.error
    assert result.usage.requests == 2


@pytest.mark.parametrize(
    ("confidence", "default", "agent"),
    [(0.9, None, "bob"), (0.3, "carol", "carol"), (0.3, None, None), (7, None, None)],
    ids=["sure", "unsure", "unsure without default", "no confidence"],
)
async def test_a_choice_must_be_as_sure_as_was_asked(confidence, default, agent):
    office, _ = an_office(chosen("bob", confidence=confidence), minimum_confidence=0.5, default=default)
    result = await office.run("t")
    assert result.agent == agent
    assert result.success == (agent is not None)


@pytest.mark.parametrize("least", [1.2, -0.1])
async def test_a_confidence_that_no_choice_can_have_is_refused_before_asking(least):
    office, model = an_office(chosen("bob"), minimum_confidence=least)
    with pytest.raises(ConfigError, match="minimum_confidence"):
        await office.run("t")
    assert model.requests == []


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (Fault("auth", "bad key", 401), StopReason.PROVIDER_ERROR_4XX),
        (Fault("server", "down", 500, retryable=True), StopReason.PROVIDER_ERROR_5XX_EXHAUSTED),
        (ValueError("a defect"), StopReason.FAILED),
    ],
    ids=["401", "500", "defect"],
)
async def test_trouble_of_the_routers_model_is_an_outcome(trouble, reason):
    office, _ = an_office(trouble)
    seen = []
    result = await office.run("t", listener=seen.append)
    assert (result.stop_reason, result.agent) == (reason, None)
    assert result.error
    assert seen[-1].type == "run.end"


async def test_the_router_spends_from_the_purse():
    office, model = an_office("hm", "hm", limits=Limits(max_requests=1))
    result = await office.run("t")
    assert (result.stop_reason, len(model.requests)) == (StopReason.REQUEST_BUDGET, 1)


async def test_a_router_that_hangs_ends_with_the_runs_time():
    class Hanging:
        async def route(self, task, agents):
            await asyncio.sleep(30)

    office, _ = an_office()
    async with asyncio.timeout(5):
        result = await office.run("t", router=Hanging(), limits=Limits(max_seconds=0.05))
    assert result.stop_reason is StopReason.TIMEOUT


async def test_the_only_agent_is_chosen_without_asking():
    model = scripted(["answer"])
    result = await Office(agents=[Agent("alice", model=model)]).run("t", router="llm")
    assert (result.agent, len(model.requests)) == ("alice", 1)


async def test_a_default_that_is_nobody_is_refused_before_asking():
    office, model = an_office(default="dave")
    with pytest.raises(UnknownAgentError):
        await office.run("t")
    assert model.requests == []


async def test_a_router_object_is_used_as_it_is():
    class Refusing:
        async def route(self, task, agents):
            raise NoRouteError(task.query, [])

    office, _ = an_office()
    with pytest.raises(NoRouteError):
        await office.run("t", router=Refusing())


async def test_an_agent_that_is_no_entry_is_not_offered_and_cannot_be_chosen():
    model = scripted(['{"agent": "hidden", "reason": "x"}', '{"agent": "b", "reason": "x"}', "B"])
    agents = [Agent("a", model=model), Agent("b", model=model), Agent("hidden", model=model, entry=False)]
    result = await Office(agents=agents).run("hi", router="llm")
    assert model.requests[0].output.schema["properties"]["agent"]["enum"] == ["a", "b"]
    assert (result.agent, result.content) == ("b", "B")


async def test_agents_that_are_no_entry_leave_a_router_nobody():
    with pytest.raises(ConfigError, match="entry=False"):
        await Office(agents=[Agent("a", model=scripted(["x"]), entry=False)]).run("hi", router="llm")


async def test_a_router_that_is_named_keeps_the_settings_of_the_office():
    model = scripted(["nonsense", "nonsense", "done"])
    office = Office(agents=[Agent("a", model=model), Agent("b", model=model)], router={"name": "llm", "default": "b"})
    assert (await office.run("hi", router="llm")).agent == "b"


async def test_the_request_of_a_router_has_the_fallbacks_of_the_agent_whose_model_it_uses():
    down = scripted([Fault("bad_request", "no such model", 404)])
    spare = scripted([chosen("b"), "done"])
    agents = [Agent("a", model=down, fallback=[spare]), Agent("b", model=spare)]
    result = await Office(agents=agents, router="llm").run("hi")
    assert (result.success, result.agent) == (True, "b")
