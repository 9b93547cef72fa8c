"""Handing a conversation over: who may, how often, and what the next agent is told."""

import pytest

from officellm import Agent, ConfigError, Limits, Office, StopReason
from officellm.testing import call, calls, reply, scripted

from .reading import last_result, results, tools, unanswered, users

TRANSFER = "transfer_to_agent"


def to(name, text="", **more):
    return reply(text, calls=[call(TRANSFER, agent=name, **more)])


def an_office(limits=None, **models):
    agents = [Agent(name, f"Does {name}", model=model) for name, model in models.items()]
    return Office(agents=agents, limits=limits)


async def test_an_agent_hands_over_and_the_other_answers():
    a, b = scripted([to("b", "Passing on.", reason="needs maths", query="2+2?")]), scripted(["4"])
    result = await an_office(a=a, b=b).run("the task", agent="a")
    assert (result.success, result.content, result.agent) == (True, "4", "b")
    assert [(hop.agent, hop.by, hop.reason) for hop in result.chain] == [("a", "pinned", ""), ("b", "a", "needs maths")]
    (told,) = users(b.requests[0])
    for part in ("the task", "needs maths", "2+2?", "Handed over by: a"):
        assert part in told


async def test_the_offer_names_every_other_agent_sorted():
    a = scripted(["done"])
    await an_office(c=scripted([]), a=a, b=scripted([])).run("t", agent="a")
    spec = tools(a.requests[0])[TRANSFER]
    assert spec.parameters["properties"]["agent"]["enum"] == ["b", "c"]
    assert spec.parameters["required"] == ["agent"]
    assert "- b: Does b\n- c: Does c" in spec.description


async def test_an_agent_may_name_whom_it_hands_over_to():
    a = scripted([to("c"), "stayed"])
    agents = [Agent("a", model=a, transfers=["b"]), *(Agent(name, model=scripted([])) for name in "bc")]
    result = await Office(agents=agents).run("t", agent="a")
    assert (result.content, tools(a.requests[0])[TRANSFER].parameters["properties"]["agent"]["enum"]) == (
        "stayed",
        ["b"],
    )
    assert "'c' cannot take over" in last_result(a)


async def test_workers_are_called_and_not_handed_over_to():
    lead = scripted(["done"])
    office = Office(
        Agent("boss", model=lead), workers=[Agent("w", model=scripted([]))], agents=[Agent("x", model=scripted([]))]
    )
    await office.run("t", orchestrator="handoff")
    assert tools(lead.requests[0])[TRANSFER].parameters["properties"]["agent"]["enum"] == ["x"]
    assert "w" in tools(lead.requests[0])


@pytest.mark.parametrize(
    "arguments",
    [{"agent": "nobody"}, {"agent": "a"}, {}, {"agent": None}, {"agent": ["b"]}, {"agent": "b", "why": "x"}],
    ids=["unknown", "itself", "nothing", "null", "list", "extra key"],
)
async def test_a_wrong_target_is_an_error_that_names_the_others(arguments):  # R47
    a = scripted([call(TRANSFER, arguments), "stayed"])
    result = await an_office(a=a, b=scripted([])).run("t", agent="a")
    assert (result.content, results(a.requests[1])[0].is_error) == ("stayed", True)


async def test_an_agent_with_nobody_to_hand_over_to_is_offered_nothing():
    a = scripted(["alone"])
    await an_office(a=a).run("t", agent="a")
    assert not a.requests[0].tools


def ping_pong(turns=9):
    return {
        "a": scripted([to("b", f"a{n}") for n in range(turns)]),
        "b": scripted([to("a", f"b{n}") for n in range(turns)]),
    }


@pytest.mark.parametrize(
    ("most", "runs", "reason", "content"),
    [
        (0, 1, StopReason.MAX_TRANSFERS, "a0"),
        (1, 2, StopReason.MAX_TRANSFERS, "b0"),
        (3, 4, StopReason.MAX_TRANSFERS, "b1"),
        (10, 4, StopReason.LOOP_DETECTED, "b1"),
    ],
)
async def test_ping_pong_ends_and_keeps_the_last_answer(most, runs, reason, content):  # R50; X5, X7
    models = ping_pong()
    result = await an_office(limits=Limits(max_transfers=most), **models).run("t", agent="a")
    made = sum(len(model.requests) for model in models.values())
    assert (made, result.stop_reason, result.content, result.usage.requests) == (runs, reason, content, runs)
    assert result.stop_reason.exit_code == 3


async def test_more_visits_may_be_allowed():
    models = ping_pong()
    result = await an_office(limits=Limits(max_transfers=6, max_visits=9), **models).run("t", agent="a")
    assert (result.stop_reason, result.usage.requests) == (StopReason.MAX_TRANSFERS, 7)


async def test_a_silent_hand_over_keeps_the_last_text_there_was():
    a = scripted([to("b", "what I know so far")])
    b = scripted([to("a")])
    result = await an_office(limits=Limits(max_transfers=1), a=a, b=b).run("t", agent="a")
    assert (result.stop_reason, result.content) == (StopReason.MAX_TRANSFERS, "what I know so far")


async def test_a_question_is_passed_on_until_another_takes_its_place():  # X4
    c = scripted(["end"])
    await an_office(a=scripted([to("b", query="the question")]), b=scripted([to("c")]), c=c).run("t", agent="a")
    assert "the question" in users(c.requests[0])[0]


async def test_the_first_of_two_transfers_wins_and_the_tools_beside_it_run():  # T9
    ran = []

    def note() -> str:
        """Note."""
        ran.append(1)
        return "noted"

    a = scripted([calls(call(TRANSFER, agent="b"), call("note"), call(TRANSFER, agent="c"))])
    agents = [Agent("a", model=a, tools=[note]), Agent("b", model=scripted(["B"])), Agent("c", model=scripted([]))]
    ended = []

    class Watching:
        async def work(self, task, desk):
            first = await desk.call("a", transfers=["b", "c"])
            ended.append(first)
            return await desk.call(first.transfer.target)

    result = await Office(agents=agents).run("t", agent="a", orchestrator=Watching())
    assert (result.content, ran) == ("B", [1])
    answers = [(one.content, one.is_error) for one in ended[0].messages if hasattr(one, "call_id")]
    assert answers == [
        ("The conversation is handed over to b.", False),
        ("noted", False),
        ("Not taken: the conversation goes to b.", True),
    ]
    assert unanswered(ended[0].messages) == []


async def test_the_default_of_a_team_with_a_pinned_agent_is_to_hand_over():  # DESIGN 9
    lead = scripted(["done"])
    seen = []
    office = Office(Agent("boss", model=lead), agents=[Agent("x", model=scripted(["X"]))])
    await office.run("t", agent="x", listener=seen.append)
    await office.run("t", listener=seen.append)
    assert [one.orchestrator for one in seen if one.type == "run.start"] == ["handoff", "manager"]


async def test_the_name_of_the_transfer_tool_is_taken():
    with pytest.raises(ConfigError, match="reserved"):
        Office(Agent("boss", model=scripted([])), workers=[Agent(TRANSFER, model=scripted([]))])
