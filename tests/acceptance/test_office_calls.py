"""Calls that cannot run, and calls that run in circles: each is answered, and the run ends in time."""

import pytest

from officellm import Agent, FatalToolError, Limits, Office, StopReason
from officellm.testing import call, calls, reply, scripted

from .reading import boss, last_result, results, unanswered, worker


async def test_a_call_of_nobody_lists_who_there_is():  # case 23
    lead = scripted([call("nobody", task="x"), "F"])
    result = await Office(boss(lead), workers=[worker(scripted([]))]).run("hi")
    assert result.content == "F"
    assert "nobody" in last_result(lead)
    assert "research_agent" in last_result(lead)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{bad", "not valid JSON"),
        ("[1]", "must be a JSON object, not an array"),
        ("null", "task: required and missing"),
        ("", "task: required and missing"),
        ('{"task":"a"}{"task":"b"}', "more than one JSON value"),
        ('{"task":""}', "task:"),
        ('{"task":"x","priority":"urgent"}', "priority:"),
        ('{"task":"x","extra":1}', "extra: unknown argument"),
    ],
    ids=["broken", "array", "null", "empty", "glued", "blank task", "wrong priority", "unknown key"],
)
async def test_a_call_that_cannot_be_used_starts_no_worker(arguments, said):  # case 24
    lead, helper = scripted([call("research_agent", arguments), "F"]), scripted([])
    result = await Office(boss(lead), workers=[worker(helper)]).run("hi")
    assert (result.content, helper.requests, result.usage.tool_calls) == ("F", [], 0)
    assert said in last_result(lead)


@pytest.mark.parametrize("together", [True, False], ids=["in one reply", "in four turns"])
async def test_the_fourth_unusable_call_in_a_row_ends_the_run(together):  # case 24
    bad = [call("research_agent", text) for text in ("{bad", "[1]", "null", "")]
    lead, helper = scripted([calls(*bad)] if together else bad), scripted([])
    result = await Office(boss(lead), workers=[worker(helper)]).run("hi")
    assert (result.stop_reason, helper.requests) == (StopReason.INVALID_CALLS, [])
    assert len(lead.requests) == (1 if together else 4)
    answers = [one.content for one in result.messages if hasattr(one, "call_id")]
    assert len(answers) == 4
    assert ["one more ends the run" in text for text in answers] == [False, False, True, False]
    assert unanswered(result.messages) == []


async def test_a_usable_call_in_between_starts_the_count_again():  # case 24
    bad = call("research_agent", "{bad")
    lead = scripted([bad, bad, bad, call("research_agent", task="x"), bad, bad, bad, "F"])
    assert (await Office(boss(lead), workers=[worker(scripted(["W"]))]).run("hi")).content == "F"


async def test_arguments_that_do_not_fit_name_the_field_and_run_nothing():  # case 25
    ran = []

    def search(query: str, limit: int = 5) -> str:
        """Find."""
        ran.append(query)
        return "hits"

    model = scripted([call("search", query="q", limit="many"), call("search", limit=1), "end"])
    await worker(model, tools=[search]).run(task="t")
    assert ran == []
    assert "limit:" in results(model.requests[1])[0].content
    assert "query: required and missing" in last_result(model)


@pytest.mark.parametrize("name", ["delete_all", "__class__", "run", "toString", "SEARCH", ""])
async def test_a_tool_outside_the_list_does_not_exist(name):  # case 52
    def search(query: str) -> str:
        """Find."""
        return "hits"

    def delete_all() -> str:
        """Destroy."""
        raise AssertionError("it ran")

    model = scripted([call(name), "end"])
    other = Agent("other", model=scripted([]), tools=[delete_all])
    result = await Office(worker(model, tools=[search]), agents=[other]).run("t")
    assert result.success
    assert results(model.requests[1])[0].is_error
    assert "there is no tool or worker named" in last_result(model)


def search(query: str = "", limit: int = 1) -> str:
    """Find."""
    return "hits"


async def test_four_identical_calls_in_a_row_are_a_loop():  # case 36
    same = [
        call("search", '{"query":"x","limit":2}'),
        call("search", '{ "limit": 2,\n "query": "x" }'),
        call("search", '{"query": "x", "limit": 2}'),
        call("search", '{"limit":2,"query":"x"}'),
    ]
    model = scripted([*same, "never"])
    result = await worker(model, tools=[search]).run(task="t")
    assert (result.stop_reason, len(model.requests)) == (StopReason.LOOP_DETECTED, 4)
    assert "4 identical calls" in result.error
    seen = [one.content for one in results(model.requests[3])]
    assert ["once more ends the run" in text for text in seen] == [False, False, True]
    assert result.usage.tool_calls == 3
    assert unanswered(result.messages) == []


async def test_another_call_in_between_is_no_loop():  # case 36
    same = call("search", query="x")
    model = scripted([same, same, same, call("search", query="y"), same, same, same, "end"])
    assert (await worker(model, tools=[search]).run(task="t")).content == "end"


async def test_the_same_words_to_another_tool_are_no_loop():  # case 36
    def find(query: str) -> str:
        """Find."""
        return "hits"

    model = scripted([call("search", query="x"), call("find", query="x")] * 2 + ["end"])
    assert (await worker(model, tools=[search, find]).run(task="t")).success


async def test_a_cycle_that_brings_nothing_new_is_a_loop_after_a_warning():  # R50
    ring = [call("search", query="a"), call("search", query="b")]
    model = scripted(ring * 20)
    result = await worker(model, tools=[search]).run(task="t")
    assert (result.stop_reason, len(model.requests)) == (StopReason.LOOP_DETECTED, 7)
    assert '"a"' in result.error
    assert '"b"' in result.error
    seen = [one.content for one in results(model.requests[6])]
    assert ["again ends the run" in text for text in seen] == [False] * 5 + [True]


async def test_a_cycle_whose_results_change_is_no_loop():  # R50
    count = iter(range(100))

    def poll(job: str) -> str:
        """Look."""
        return f"{next(count)} % done"

    model = scripted([call("poll", job="a"), call("poll", job="b")] * 6 + ["end"])
    assert (await worker(model, tools=[poll]).run(task="t")).content == "end"


async def test_loops_may_be_switched_off():  # section 5
    model = scripted([call("search", query="x")] * 8 + ["end"])
    result = await worker(model, tools=[search], limits=Limits(loop_window=None)).run(
        task="t", limits=Limits(loop_window=None)
    )
    assert result.content == "end"


async def test_a_worker_in_a_loop_is_a_result_for_its_manager():  # R51
    helper = scripted([call("search", query="x")] * 4)
    lead = scripted([call("research_agent", task="go"), "F"])
    result = await Office(boss(lead), workers=[worker(helper, tools=[search])]).run("hi")
    assert (result.success, [str(one.stop_reason) for one in result.failures]) == (True, ["loop_detected"])
    assert "loop_detected" in last_result(lead)


async def test_a_call_cut_off_by_the_token_limit_never_runs():  # R05
    ran = []

    def save(path: str = "all") -> str:
        """Save."""
        ran.append(path)
        return "saved"

    cut = reply(calls=[call("save", path="a"), call("save", '{"path": "b')], stop="length")
    nothing_written = reply(calls=[call("save", "")], stop="length")
    model = scripted([cut, nothing_written, "end"])
    assert (await worker(model, tools=[save]).run(task="t")).content == "end"
    assert ran == ["a"]
    answers = [one.content for one in results(model.requests[2])]
    assert answers[0] == "saved"
    assert all("cut off by the token limit" in text for text in answers[1:])


async def test_calls_that_are_always_cut_off_end_as_truncated():  # R05
    model = scripted([reply(calls=[call("search", '{"query": "b')], stop="length")] * 4)
    result = await worker(model, tools=[search]).run(task="t")
    assert (result.stop_reason, len(model.requests)) == (StopReason.TRUNCATED, 4)


async def test_calls_with_one_id_are_each_run_and_answered_once():  # R14
    model = scripted([calls(call("search", query="a", id="same"), call("search", query="b", id="same")), "end"])
    result = await worker(model, tools=[search]).run(task="t")
    assert result.usage.tool_calls == 2
    assert unanswered(result.messages) == []
    assert len({one.call_id for one in results(model.requests[1])}) == 2


async def test_calls_that_did_not_run_are_told_to_watchers_too():  # section 6, 39
    seen = []
    model = scripted([calls(call("nothing"), call("search", query="a")), "end"])
    await worker(model, tools=[search]).run(
        task="t",
        listener=lambda event: seen.append((event.type, event.name)) if event.type.startswith("tool") else None,
    )
    assert sorted(seen) == [
        ("tool.call", "nothing"),
        ("tool.call", "search"),
        ("tool.result", "nothing"),
        ("tool.result", "search"),
    ]


@pytest.mark.parametrize("beside", [0, 1, 3], ids=["alone", "beside one", "beside three"])
async def test_a_fatal_tool_error_ends_the_whole_run(beside):  # DESIGN 7
    def stop() -> str:
        """Stop everything."""
        raise FatalToolError("the disk is full")

    helper = scripted([calls(call("stop"), *(call("search", query=str(n)) for n in range(beside))), "never"])
    lead = scripted([call("research_agent", task="go"), "never"])
    result = await Office(boss(lead), workers=[worker(helper, tools=[stop, search])]).run("hi")
    assert (result.stop_reason, result.error, result.error_type) == (
        StopReason.FAILED,
        "the disk is full",
        "FatalToolError",
    )
    assert (len(lead.requests), len(helper.requests)) == (1, 1)
    assert unanswered(result.messages) == []
    assert unanswered(result.failures[0].messages) == []
