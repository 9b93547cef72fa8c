"""The manager, its workers and their results: the plain course of a run."""

import asyncio
import time

import pytest

from officellm import Agent, Office, StopReason, Task
from officellm.testing import call, calls, scripted

from .reading import boss, last_result, results, tools, users, worker


async def test_a_manager_that_answers_at_once_makes_one_request_and_starts_nobody():  # case 1
    lead, helper = scripted(["hello"]), scripted([])
    result = await Office(boss(lead), workers=[worker(helper)]).run("hi")
    assert (result.success, result.content, result.stop_reason) == (True, "hello", StopReason.SUCCESS)
    assert (result.usage.prompt_tokens, result.usage.completion_tokens, result.usage.total_tokens) == (10, 5, 15)
    assert (len(lead.requests), len(helper.requests)) == (1, 0)


async def test_a_worker_answers_the_managers_call_under_its_id():  # case 2
    lead = scripted([call("research_agent", task="x", priority="high", id="c1"), "F"])
    helper = scripted(["W"])
    result = await Office(boss(lead), workers=[worker(helper)]).run("hi")
    assert result.content == "F"
    last = lead.requests[1].messages[-1]
    assert (last.call_id, last.content, last.is_error) == ("c1", "W", False)
    assert (result.usage.input, result.usage.output, result.usage.total, result.usage.requests) == (30, 15, 45, 3)
    assert {name: usage.requests for name, usage in result.by_agent.items()} == {"boss": 2, "research_agent": 1}


@pytest.mark.parametrize(("given", "shown"), [("high", "high"), (None, "medium")], ids=["given", "usual"])
async def test_the_task_reaches_the_manager_whole(given, shown):  # case 3
    lead = scripted(["ok"])
    task = Task(title="Report", description="About tides", **({"priority": given} if given else {}))
    await Office(boss(lead)).run(task)
    (text,) = users(lead.requests[0])
    assert "Report" in text
    assert "About tides" in text
    assert f"Priority: {shown}" in text


async def test_plain_words_reach_the_manager_exactly_as_they_stand():  # case 3
    lead = scripted(["ok"])
    await Office(boss(lead)).run("  Two\nlines ")
    assert users(lead.requests[0]) == ["  Two\nlines "]


async def test_workers_are_offered_as_tools_with_a_task_and_a_priority():  # case 5
    lead = scripted(["ok"])
    both = [worker(scripted([])), worker(scripted([]), "writer_agent")]
    await Office(boss(lead), workers=both).run("hi")
    offered = tools(lead.requests[0])
    assert list(offered) == ["research_agent", "writer_agent"]
    for spec in offered.values():
        assert spec.description == "Finds facts"
        assert spec.parameters["properties"]["task"]["type"] == "string"
        assert spec.parameters["properties"]["priority"]["enum"] == ["low", "medium", "high"]
        assert spec.parameters["required"] == ["task"]


async def test_a_worker_without_a_description_is_offered_by_its_name():  # case 6
    lead = scripted(["ok"])
    await Office(boss(lead), workers=[Agent("research_agent", model=scripted([]))]).run("hi")
    assert "research_agent" in tools(lead.requests[0])["research_agent"].description


async def test_the_thirteen_steps_of_the_full_example_happen_in_order():  # case 10
    written = []

    def web_search(query: str) -> str:
        """Find pages."""
        return f"pages about {query}"

    def generate_content(topic: str) -> str:
        """Draft a text."""
        return f"draft on {topic}"

    async def write_file(path: str, text: str) -> str:
        """Save a text."""
        written.append((path, text))
        return "saved"

    lead = scripted([call("research_agent", task="find"), call("writer_agent", task="write"), "summary"])
    finder = scripted([call("web_search", query="tides"), "findings"])
    writer = scripted(
        [call("generate_content", topic="tides"), call("write_file", path="a.md", text="draft on tides"), "done"]
    )
    seen = []
    office = Office(
        boss(lead),
        workers=[
            worker(finder, tools=[web_search]),
            worker(writer, "writer_agent", tools=[generate_content, write_file]),
        ],
    )
    result = await office.run(
        "Research tides, then write",
        listener=lambda event: seen.append((event.type, event.agent, getattr(event, "name", ""))),
    )
    calls_and_results = [one for one in seen if one[0].startswith("tool.")]
    assert [(kind.removeprefix("tool."), who, name) for kind, who, name in calls_and_results] == [
        ("call", "boss", "research_agent"),
        ("call", "research_agent", "web_search"),
        ("result", "research_agent", "web_search"),
        ("result", "boss", "research_agent"),
        ("call", "boss", "writer_agent"),
        ("call", "writer_agent", "generate_content"),
        ("result", "writer_agent", "generate_content"),
        ("call", "writer_agent", "write_file"),
        ("result", "writer_agent", "write_file"),
        ("result", "boss", "writer_agent"),
    ]
    assert (seen[0][0], seen[-1][0]) == ("run.start", "run.end")
    assert written == [("a.md", "draft on tides")]
    assert (result.content, result.usage.requests, result.usage.total) == ("summary", 8, 8 * 15)
    assert result.usage.tool_calls == 5


async def test_every_turn_sees_all_earlier_results():  # case 11
    lead = scripted([call("research_agent", task=str(n)) for n in range(3)] + ["end"])
    await Office(boss(lead), workers=[worker(scripted(["r0", "r1", "r2"]))]).run("hi")
    seen = [[one.content for one in results(request)] for request in lead.requests]
    assert seen == [[], ["r0"], ["r0", "r1"], ["r0", "r1", "r2"]]


async def test_two_calls_of_one_turn_run_at_once_and_are_answered_in_call_order():  # case 26
    async def wait(label: str, seconds: float) -> str:
        """Wait."""
        await asyncio.sleep(seconds)
        return label

    slow = worker(scripted([call("wait", label="s", seconds=0.2), "slow"]), "slow", tools=[wait])
    fast = worker(scripted([call("wait", label="f", seconds=0.15), "fast"]), "fast", tools=[wait])
    lead = scripted([calls(call("slow", task="a", id="1"), call("fast", task="b", id="2")), "end"])
    ends = []
    started = time.monotonic()
    await Office(boss(lead), workers=[slow, fast]).run(
        "hi", listener=lambda event: ends.append(event.agent) if event.type == "agent.end" else None
    )
    assert time.monotonic() - started < 0.33
    assert ends == ["fast", "slow", "boss"]
    assert [(one.call_id, one.content) for one in results(lead.requests[1])] == [("1", "slow"), ("2", "fast")]


async def test_one_worker_called_twice_in_a_turn_has_two_conversations():  # case 27
    lead = scripted([calls(call("research_agent", task="red"), call("research_agent", task="blue")), "end"])
    helper = scripted(["one", "two"])
    await Office(boss(lead), workers=[worker(helper)]).run("hi")
    texts = [users(request) for request in helper.requests]
    assert [len(one) for one in texts] == [1, 1]
    assert {"red" in one[0] for one in texts} == {True, False}


async def test_a_second_run_of_an_office_remembers_nothing():  # case 28
    lead = scripted([call("research_agent", task="x"), "F"] * 2)
    helper = scripted(["W", "W"])
    office = Office(boss(lead, instructions="Lead."), workers=[worker(helper, instructions="Find.")])
    await office.run("first")
    await office.run("second")
    for request in (lead.requests[2], helper.requests[1]):
        assert [type(message).__name__ for message in request.messages] == ["System", "User"]
    assert users(lead.requests[2]) == ["second"]


async def test_a_manager_without_workers_offers_no_tools():  # case 46
    lead = scripted(["alone"])
    assert (await Office(boss(lead)).run("hi")).content == "alone"
    assert not lead.requests[0].tools


async def test_a_worker_without_tools_answers_in_one_request():  # case 47
    helper = scripted(["W"])
    lead = scripted([call("research_agent", task="x"), "F"])
    await Office(boss(lead), workers=[worker(helper)]).run("hi")
    assert (len(helper.requests), list(helper.requests[0].tools)) == (1, [])


async def test_a_worker_may_manage_workers_of_its_own():  # section 6, 38
    deep = worker(scripted(["leaf"]), "leaf")
    middle = Agent("middle", "Leads some", model=scripted([call("leaf", task="y"), "middle"]), workers=[deep])
    lead = scripted([call("middle", task="x"), "top"])
    result = await Office(boss(lead), workers=[middle]).run("hi")
    assert (result.content, last_result(lead)) == ("top", "middle")
    assert set(result.by_agent) == {"boss", "middle", "leaf"}


async def test_depth_is_bounded_and_the_refusal_is_a_result():  # section 6, 26 and 38
    agent = worker(scripted(["leaf"]), "d4")
    for depth in (3, 2, 1):
        agent = Agent(f"d{depth}", model=scripted([call(f"d{depth + 1}", task="x"), f"end{depth}"]), workers=[agent])
    result = await Office(agent).run("hi")
    assert result.success
    (failed,) = result.failures
    assert (failed.agent, "max_depth" in failed.error) == ("d4", True)
    assert "d4" not in result.by_agent


async def test_the_priority_of_a_task_is_inherited_by_a_worker_that_was_given_none():  # section 6, 29
    helper = scripted(["W"])
    lead = scripted([call("research_agent", task="x"), "F"])
    await Office(boss(lead), workers=[worker(helper)]).run(Task(title="t", priority="low"))
    assert "Priority: low" in users(helper.requests[0])[0]
