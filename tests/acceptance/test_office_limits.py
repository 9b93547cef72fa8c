"""Limits: exact counts of requests and calls, also of parallel agents, and what is kept when one is reached."""

import asyncio

import pytest
from pydantic import ValidationError

from officellm import Agent, Limits, Office, StopReason, Usage
from officellm.testing import call, calls, reply, scripted

from .reading import boss, last_result, results, tools, unanswered, worker


def step(n: int) -> str:
    """Take a step."""
    return f"step {n}"


def steps(count):
    return [reply(f"thinking {n}", calls=[call("step", n=n)]) for n in range(count)]


async def test_a_manager_makes_exactly_twenty_requests():  # case 13
    lead = scripted([reply(f"text {n}", calls=[call("research_agent", task=str(n))]) for n in range(30)])
    result = await Office(boss(lead), workers=[worker(scripted([reply("W", repeat=True)]))]).run("hi")
    assert (len(lead.requests), result.success, result.stop_reason) == (20, False, StopReason.MAX_TURNS)
    assert result.content == "text 19"
    assert result.by_agent["boss"].requests == 20
    assert result.by_agent["boss"].total == 20 * 15
    assert "boss" in result.error
    assert "max_turns" in result.error


async def test_a_worker_makes_exactly_fifteen_requests_and_its_manager_goes_on():  # cases 14, 50
    helper = scripted(steps(30))
    lead = scripted([call("research_agent", task="go"), "F"])
    result = await Office(boss(lead), workers=[worker(helper, tools=[step])]).run("hi")
    assert (len(helper.requests), result.success, result.content) == (15, True, "F")
    said = last_result(lead)
    assert results(lead.requests[1])[-1].is_error
    for part in ("research_agent", "max_turns", "thinking 14"):
        assert part in said
    assert [(one.agent, str(one.stop_reason)) for one in result.failures] == [("research_agent", "max_turns")]


@pytest.mark.parametrize(
    ("levels", "requests"),
    [
        ({"agent": 3}, 3),
        ({"office": 4}, 4),
        ({"run": 2}, 2),
        ({"agent": 3, "office": 4}, 3),
        ({"agent": 3, "office": 4, "run": 5}, 5),
    ],
    ids=["agent", "office", "run", "agent over office", "run over all"],
)
async def test_the_nearest_level_decides(levels, requests):  # case 15
    model = scripted(steps(30))

    def at(level):
        return Limits(max_turns=levels[level]) if level in levels else Limits()

    office = Office(worker(model, tools=[step], limits=at("agent")), limits=at("office"))
    result = await office.run("hi", limits=at("run"))
    assert (len(model.requests), result.stop_reason) == (requests, StopReason.MAX_TURNS)


@pytest.mark.parametrize("value", [0, -1, 1.5, "3", True])
def test_turns_must_be_a_positive_number(value):  # case 15
    with pytest.raises(ValidationError, match="max_turns"):
        Limits(max_turns=value)


async def test_the_token_budget_stops_before_the_request_after_the_overrun():  # case 42
    helper = scripted(steps(10))
    lead = scripted([call("research_agent", task="go"), "never"])
    result = await Office(boss(lead), workers=[worker(helper, tools=[step])]).run(
        "hi", limits=Limits(max_total_tokens=50)
    )
    assert (result.stop_reason, result.usage.requests, result.usage.total) == (StopReason.TOKEN_BUDGET, 4, 60)
    assert (len(lead.requests), len(helper.requests)) == (1, 3)


async def test_parallel_workers_cannot_oversell_the_request_budget():
    async def pause() -> str:
        """Wait."""
        await asyncio.sleep(0.01)
        return "ok"

    helpers = [scripted([call("pause"), reply("W", repeat=True)]) for _ in range(8)]
    lead = scripted([calls(*(call(f"w{n}", task="go") for n in range(8))), "never"])
    office = Office(
        boss(lead, limits=Limits(max_parallel_calls=8)),
        workers=[worker(model, f"w{n}", tools=[pause]) for n, model in enumerate(helpers)],
    )
    result = await office.run("hi", limits=Limits(max_requests=5))
    made = len(lead.requests) + sum(len(model.requests) for model in helpers)
    assert (made, result.usage.requests, result.stop_reason) == (5, 5, StopReason.REQUEST_BUDGET)
    assert unanswered(result.messages) == []


async def test_a_reply_that_asks_for_more_calls_than_are_left_gets_what_is_left():  # R15
    ran = []

    def note(n: int) -> str:
        """Note."""
        ran.append(n)
        return f"noted {n}"

    model = scripted([calls(*(call("note", n=n) for n in range(5)), text="so far"), "never"])
    result = await worker(model, tools=[note]).run(task="t", limits=Limits(max_tool_calls=2))
    assert (sorted(ran), len(model.requests)) == ([0, 1], 1)
    assert (result.stop_reason, result.content, result.usage.tool_calls) == (StopReason.TOOL_CALL_BUDGET, "so far", 2)
    answers = [one for one in result.messages if hasattr(one, "call_id")]
    assert [one.content.startswith("Not run: ") for one in answers] == [False, False, True, True, True]


async def test_calls_that_cannot_run_cost_nothing():  # section 6, 26
    model = scripted([calls(call("nothing"), call("step", "{"), call("step", n=1)), "end"])
    result = await worker(model, tools=[step]).run(task="t", limits=Limits(max_tool_calls=1))
    assert (result.content, result.usage.tool_calls) == ("end", 1)


async def test_an_agents_own_budget_holds_for_each_of_its_runs():
    helper = scripted([*steps(2), "one", *steps(2), "two"])
    lead = scripted([call("research_agent", task="a"), call("research_agent", task="b"), "F"])
    limited = worker(helper, tools=[step], limits=Limits(max_requests=3))
    result = await Office(boss(lead), workers=[limited]).run("hi")
    assert (result.success, result.failures, len(helper.requests)) == (True, (), 6)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(max_requests=0), StopReason.REQUEST_BUDGET),
        (Limits(max_total_tokens=0), StopReason.TOKEN_BUDGET),
        (Limits(max_cost_usd=0), StopReason.COST_BUDGET),
        (Limits(max_seconds=0), StopReason.TIMEOUT),
    ],
    ids=lambda value: str(value),
)
async def test_zero_allows_nothing(limits, reason):  # DESIGN 9
    model = scripted(["never"])
    result = await worker(model).run(task="t", limits=limits)
    assert (result.stop_reason, model.requests, result.usage.requests) == (reason, [], 0)


async def test_the_cost_budget_counts_what_the_models_price_says():
    class Priced:
        model = "gpt-4.1-mini"

        def __init__(self):
            self.played = scripted(steps(5))

        def stream(self, request):
            return self.played.stream(request)

    model = Priced()
    result = await worker(model, tools=[step]).run(task="t", limits=Limits(max_cost_usd=0.00002))
    each = 10 * 0.4e-6 + 5 * 1.6e-6
    assert result.stop_reason is StopReason.COST_BUDGET
    assert result.usage.requests == 2
    assert result.usage.cost_usd == pytest.approx(2 * each)


async def test_time_runs_out_in_the_middle_of_a_tool_and_the_text_is_kept():
    async def hang() -> str:
        """Hang."""
        await asyncio.sleep(30)
        return "never"

    model = scripted([reply("so far", calls=[call("hang"), call("step", n=1)]), "never"])
    result = await worker(model, tools=[hang, step]).run(task="t", limits=Limits(max_seconds=0.1))
    assert (result.stop_reason, result.content) == (StopReason.TIMEOUT, "so far")
    assert unanswered(result.messages) == []
    answers = [one.content for one in result.messages if hasattr(one, "call_id")]
    assert answers[0].startswith("Interrupted")
    assert answers[1] == "step 1"


async def test_a_worker_that_is_late_is_a_result_for_its_manager():
    async def hang() -> str:
        """Hang."""
        await asyncio.sleep(30)
        return "never"

    helper = worker(scripted([call("hang")]), tools=[hang], limits=Limits(max_seconds=0.05))
    lead = scripted([call("research_agent", task="go"), "F"])
    result = await Office(boss(lead), workers=[helper]).run("hi")
    assert (result.content, "timeout" in last_result(lead)) == ("F", True)


@pytest.mark.parametrize(
    ("limits", "turns", "reason"),
    [
        (Limits(max_turns=2), steps(5), StopReason.MAX_TURNS),
        (Limits(max_tool_calls=1), steps(5), StopReason.TOOL_CALL_BUDGET),
        (Limits(), [call("step", n=1)] * 4, StopReason.LOOP_DETECTED),
        (Limits(), [call("step", "{")] * 4, StopReason.INVALID_CALLS),
    ],
    ids=lambda value: str(value) if isinstance(value, StopReason) else "",
)
async def test_one_closing_request_without_calls_may_follow_a_limit(limits, turns, reason):  # section 6, 5; R54
    made = {StopReason.MAX_TURNS: 2, StopReason.TOOL_CALL_BUDGET: 2}.get(reason, 4)
    model = scripted([*turns[:made], reply("what I have", calls=[call("step", n=9)])])
    result = await worker(model, tools=[step], on_limit="summarize").run(task="t", limits=limits)
    assert (result.stop_reason, result.content, len(model.requests)) == (reason, "what I have", made + 1)
    assert model.requests[-1].tool_choice == "none"
    assert "step" in tools(model.requests[-1])
    assert unanswered(model.requests[-1].messages) == []


async def test_a_closing_request_keeps_the_deadline():
    async def hang(request):
        await asyncio.sleep(30)

    model = scripted([*steps(1), hang])
    agent = worker(model, tools=[step], on_limit="summarize", limits=Limits(max_turns=1, max_seconds=0.1))
    async with asyncio.timeout(5):
        result = await agent.run(task="t")
    assert (result.stop_reason, result.content) == (StopReason.MAX_TURNS, "thinking 0")


async def test_no_request_follows_a_spent_request_budget():
    model = scripted(steps(5))
    agent = worker(model, tools=[step], on_limit="summarize")
    result = await agent.run(task="t", limits=Limits(max_requests=2))
    assert (result.stop_reason, len(model.requests)) == (StopReason.REQUEST_BUDGET, 2)


async def test_a_spent_purse_ends_the_manager_too():
    helper = scripted(steps(10))
    lead = scripted([call("research_agent", task="go"), "never"])
    office = Office(boss(lead), workers=[worker(helper, tools=[step])], limits=Limits(max_requests=4))
    result = await office.run("hi")
    assert (result.stop_reason, result.usage.requests, len(lead.requests)) == (StopReason.REQUEST_BUDGET, 4, 1)
    assert [str(one.stop_reason) for one in result.failures] == ["request_budget"]


async def test_no_more_calls_run_at_once_than_allowed():
    running, most = 0, 0

    async def work(n: int) -> str:
        """Work."""
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return str(n)

    model = scripted([calls(*(call("work", n=n) for n in range(6))), "end"])
    await Agent("a", model=model, tools=[work], limits=Limits(max_parallel_calls=2)).run(task="t")
    assert most == 2


@pytest.mark.parametrize(
    ("limits", "usage", "said"),
    [
        (Limits(max_cost_usd=1.0), Usage(1, 1), "max_cost_usd does not hold for model"),
        (Limits(max_total_tokens=100), None, "max_total_tokens does not hold for model"),
    ],
    ids=["price unknown", "no counts"],
)
async def test_a_limit_that_cannot_hold_says_so_once(limits, usage, said):
    seen = []
    model = scripted([reply(calls=[call("step", n=1)], usage=usage), reply("end", usage=usage)])
    result = await worker(model, tools=[step]).run(task="t", limits=limits, listener=seen.append)
    assert result.success
    (warning,) = [event.message for event in seen if event.type == "warning"]
    assert warning.startswith(said)
