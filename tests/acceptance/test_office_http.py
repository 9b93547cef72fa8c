"""Offices over real HTTP: each provider's own wire, its failures and its retries."""

import pytest

from officellm import Agent, Office, StopReason
from officellm.testing import FakeLLM, call, fault, reply, rule

from .reading import boss, worker


class FakeClock:
    """Time that passes only by sleeping."""

    def __init__(self):
        self.now = 1000.0
        self.slept = []

    def monotonic(self):
        return self.now

    def wall(self):
        return self.now

    async def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds

    def jitter(self):
        return 0.0


def providers(llm):
    return {
        "claude": {"format": "anthropic", "base_url": llm.anthropic_url},
        "gpt": {"format": "openai_compat", "base_url": llm.openai_url},
        "gem": {"format": "gemini", "base_url": llm.gemini_url},
    }


def over_http(llm, clock):
    return Office(boss("gpt:g", instructions="You lead"), providers=providers(llm), clock=clock)


async def test_each_agent_speaks_its_own_providers_wire():  # case 12
    script = [
        rule(call("research_agent", task="find"), call("writer_agent", task="write"), "F", system="You lead"),
        rule("facts", system="You research"),
        rule("text", system="You write"),
    ]
    async with FakeLLM(script) as llm:
        lead = Agent("boss", model="claude:c", instructions="You lead")
        office = Office(
            lead,
            workers=[
                Agent("research_agent", model="gpt:g", instructions="You research"),
                Agent("writer_agent", model="gem:m", instructions="You write"),
            ],
            providers=providers(llm),
        )
        async with office:
            result = await office.run("go")
    assert llm.refusals == []
    assert (result.content, result.usage.requests, result.usage.total) == ("F", 5, 75)
    assert [one.wire for one in llm.requests] == ["anthropic", "openai", "anthropic", "gemini", "anthropic"]
    first, gpt, second, gem, _ = (one.body for one in llm.requests)
    assert first["system"][0]["text"] == "You lead"
    assert [one["name"] for one in first["tools"]] == ["research_agent", "writer_agent"]
    assert [one["role"] for one in gpt["messages"]] == ["system", "user"]
    assert "tools" not in gpt
    assert second["messages"][-1]["content"][0]["type"] == "tool_result"
    assert "systemInstruction" in gem


async def test_a_provider_that_refuses_the_key_ends_the_run_with_what_there_was():  # case 16
    script = [
        rule(call("research_agent", task="find"), fault("401"), system="You lead"),
        rule("facts", system="You research"),
    ]
    async with FakeLLM(script) as llm:
        lead = boss("gpt:g", instructions="You lead")
        office = Office(lead, workers=[worker("gpt:g", instructions="You research")], providers=providers(llm))
        async with office:
            result = await office.run("go")
    assert (result.success, result.stop_reason) == (False, StopReason.PROVIDER_ERROR_4XX)
    assert "'gpt'" in result.error
    assert "401" in result.error
    assert (result.usage.total, result.usage.requests) == (30, 3)
    assert len(llm.requests) == 3


async def test_a_request_that_was_too_fast_is_sent_again_after_growing_waits():  # case 18
    clock, seen = FakeClock(), []
    script = [rule(fault("429"), fault("429"), "fine", system="You lead", by="order")]
    async with FakeLLM(script) as llm, over_http(llm, clock) as office:
        result = await office.run("go", listener=seen.append)
    assert (result.content, result.usage.requests, len(llm.requests)) == ("fine", 1, 3)
    retries = [(one.attempt, one.status, one.fault) for one in seen if one.type == "model.retry"]
    assert retries == [(1, 429, "rate_limit"), (2, 429, "rate_limit")]
    assert clock.slept == sorted(clock.slept)
    assert len(clock.slept) == 2


async def test_retries_end_and_say_so():  # case 18
    clock = FakeClock()
    script = [rule(*[fault("503")] * 9, system="You lead", by="order")]
    async with FakeLLM(script) as llm, over_http(llm, clock) as office:
        result = await office.run("go")
    assert (result.stop_reason, len(llm.requests)) == (StopReason.PROVIDER_ERROR_5XX_EXHAUSTED, 4)
    assert "after 4 attempts" in result.error
    assert clock.slept == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("model", ["claude:c", "gpt:g", "gem:m"])
async def test_a_tool_runs_the_same_way_on_every_wire(model, streamed):  # cases 7, 12
    def add(a: int, b: int = 2) -> str:
        """Add."""
        return str(a + b)

    script = [rule(reply("Adding.", calls=[call("add", a=40)]), "It is {last_tool}.", system="You add")]
    async with FakeLLM(script) as llm:
        agent = Agent("adder", model=model, instructions="You add", tools=[add])
        async with Office(agent, providers=providers(llm)) as office:
            if streamed:
                async with office.stream("40 and 2?") as run:
                    text = "".join([event.text async for event in run if event.type == "text.delta"])
                result = run.result
                assert text == "Adding.It is 42."
            else:
                result = await office.run("40 and 2?")
    assert llm.refusals == []
    assert [one.stream for one in llm.requests] == [streamed] * 2
    assert (result.content, result.usage.requests, result.usage.total) == ("It is 42.", 2, 30)


async def test_a_surrogate_in_a_result_does_not_break_the_request():  # R40
    def odd() -> str:
        """Give odd text."""
        return "a\ud800b"

    async with FakeLLM([rule(call("odd"), "end", system="You do")]) as llm:
        agent = Agent("a", model="gpt:g", instructions="You do", tools=[odd])
        async with Office(agent, providers=providers(llm)) as office:
            result = await office.run("go")
    assert result.content == "end"
