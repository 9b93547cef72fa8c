"""Teams over HTTP, on every wire: transfers to nobody, rings, workers that fail, and what all of it costs."""

import itertools

import pytest

from officellm import Agent, Limits, Office, StopReason
from officellm.testing import FakeClock, FakeLLM, call, calls, fault, reply, rule

from .scenes import WIRES, add, answers, both_ways, every_wire, ping, providers, run

TRANSFER = "transfer_to_agent"


def targets_offered(record):
    """The names that the schema of the transfer tool allows, wherever the wire has its tools."""
    found = []

    def look(value, inside=False):
        if isinstance(value, dict):
            inside = inside or value.get("name") == TRANSFER
            if inside and isinstance(value.get("enum"), list):
                found.append(value["enum"])
            for inner in value.values():
                look(inner, inside)
        elif isinstance(value, list):
            for inner in value:
                look(inner, inside)

    look(record.body["tools"])
    return found


def hand_over(target):
    return call(TRANSFER, agent=target, query="go on")


@every_wire
@both_ways
@pytest.mark.parametrize("target", ["nobody", "secret", "lead"])
async def test_a_transfer_to_nobody_or_to_whom_it_may_not_is_an_error_that_names_the_others(wire, streamed, target):
    lead = Agent("lead", "Leads", model="p:m", instructions="You lead", transfers=["helper"])
    others = [Agent(name, "Helps", model="p:m", instructions=f"You are {name}") for name in ("helper", "secret")]
    async with (
        FakeLLM([rule(hand_over(target), "I stay.", system="You lead")]) as llm,
        Office(lead, agents=others, providers=providers(llm, wire), orchestrator="handoff") as office,
    ):
        result, _ = await run(office, streamed)
    assert llm.refusals == []
    assert (result.stop_reason, result.content) == (StopReason.SUCCESS, "I stay.")
    assert targets_offered(llm.requests[0]) == [["helper"]]
    [told] = answers(llm.requests[1])
    assert told.startswith("Error")
    assert "helper" in told
    assert "secret" not in told.replace(f"'{target}'", "")


@every_wire
async def test_agents_that_pass_the_work_round_for_ever_are_stopped_and_the_ring_is_named(wire):
    script = [
        rule(reply(f"{own} knows.", calls=[hand_over(other)], repeat=True), system=f"You are {own}", by="order")
        for own, other in (("ann", "bob"), ("bob", "ann"))
    ]
    ann, bob = (Agent(name, "Helps", model="p:m", instructions=f"You are {name}") for name in ("ann", "bob"))
    async with (
        FakeLLM(script) as llm,
        Office(ann, agents=[bob], providers=providers(llm, wire), orchestrator="handoff") as office,
    ):
        result, _ = await run(office)
    assert llm.refusals == []
    assert (result.stop_reason, result.content) == (StopReason.LOOP_DETECTED, "bob knows.")
    assert len(llm.requests) == 4
    assert "ann" in result.error
    assert "bob" in result.error


#: What the worker's model does, how that ends, and what the manager must be able to read of it.
FAILURES = {
    "too many turns": ([reply("So far: 1.", calls=[call("add", a=1)]), call("add", a=2)], "max_turns", "So far: 1."),
    "no answer": ([fault("empty_reply"), fault("empty_reply")], "empty_reply", "empty_reply"),
    "a wrong key": ([fault("401", message="Who are you?")], "provider_error_4xx", "Who are you?"),
    "a refusal": ([reply("I will not.", stop="refused")], "refused", "refused"),
    "a cut answer": ([reply("Half an answ", stop="length")], "truncated", "Half an answ"),
}


@every_wire
@pytest.mark.parametrize(("said", "reason", "told"), FAILURES.values(), ids=FAILURES)
async def test_a_worker_that_fails_is_a_result_that_its_manager_reads(wire, said, reason, told):
    worker = Agent("worker", "Works", model="p:m", instructions="You work", tools=[add], limits=Limits(max_turns=2))
    lead = Agent("lead", model="p:m", instructions="You lead")
    script = [
        rule(calls(call("worker", task="t"), call("ping")), "I did without.", system="You lead"),
        rule(*said, system="You work", by="order"),
    ]
    async with FakeLLM(script) as llm:
        lead = lead.but(tools=[ping])
        async with Office(lead, workers=[worker], providers=providers(llm, wire), clock=FakeClock()) as office:
            result, _ = await run(office)
    assert llm.refusals == []
    assert (result.stop_reason, result.content) == (StopReason.SUCCESS, "I did without.")
    [last] = [one for one in llm.requests if one.system.startswith("You lead") and one.heard.tool_results]
    failed, pong = answers(last)
    assert told in failed
    assert reason in failed
    assert pong == "pong"
    assert [(one.agent, str(one.stop_reason)) for one in result.failures] == [("worker", reason)]


def three_levels(llm, wire, limits=None):
    """A boss, two heads, and two hands under each head."""
    hands = [Agent(f"hand{n}", "Works", model="p:m", instructions="HAND", tools=[add]) for n in range(2)]
    heads = [Agent(f"head{n}", "Heads", model="p:m", instructions="HEAD", workers=hands) for n in range(2)]
    boss = Agent("boss", model="p:m", instructions="BOSS")
    return Office(boss, workers=heads, providers=providers(llm, wire), limits=limits)


def script():
    return [
        rule(calls(call("head0", task="a"), call("head1", task="b")), "done", system="BOSS"),
        rule(calls(call("hand0", task="a"), call("hand1", task="b")), "headed", system="HEAD"),
        rule(call("add", a=1), "handed", system="HAND"),
    ]


@every_wire
async def test_what_nested_workers_spend_is_the_sum_of_what_the_server_counted(wire):
    async with FakeLLM(script()) as llm, three_levels(llm, wire) as office:
        result, _ = await run(office)
    assert llm.refusals == []
    assert (result.content, len(llm.requests)) == ("done", 2 + 2 * 2 + 4 * 2)
    assert (result.usage.requests, result.usage.total) == (14, 14 * 15)
    assert sum(usage.total for usage in result.by_agent.values()) == result.usage.total
    assert {name: usage.requests for name, usage in result.by_agent.items()} == {
        "boss": 2,
        **dict.fromkeys(("head0", "head1"), 2),
        **dict.fromkeys(("hand0", "hand1"), 4),
    }


@every_wire
@pytest.mark.parametrize("most", [1, 3, 6, 9])
async def test_a_spent_budget_stops_nested_workers_in_the_middle(wire, most):
    async with FakeLLM(script()) as llm, three_levels(llm, wire, Limits(max_requests=most)) as office:
        result, _ = await run(office)
    assert (result.stop_reason, len(llm.requests)) == (StopReason.REQUEST_BUDGET, most)
    assert result.usage.requests == most


@pytest.mark.parametrize(("wire", "other"), list(itertools.permutations(WIRES, 2)), ids="-".join)
async def test_where_a_model_is_overloaded_the_next_one_goes_on_with_the_history_on_another_wire(wire, other):
    script = [
        rule(reply("Let me see.", reasoning="Hm.", calls=[call("ping")]), *[fault("529")] * 9, model="first"),
        rule("The second answers.", model="second", by="order"),
    ]
    async with FakeLLM(script) as llm:
        blocks = {"p": providers(llm, wire)["p"], "q": providers(llm, other)["p"]}
        agent = Agent("a", model="p:first", fallback=["q:second"], tools=[ping])
        async with Office(agent, providers=blocks, clock=FakeClock()) as office:
            result, _ = await run(office)
    assert llm.refusals == []
    assert (result.stop_reason, result.content) == (StopReason.SUCCESS, "The second answers.")
    assert [record.wire for record in llm.requests] == [wire] * 5 + [other]
    assert answers(llm.requests[-1]) == ["pong"]
