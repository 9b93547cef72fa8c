"""The faults that a public comparison of frameworks injects into the first reply of a model, on every wire."""

import pytest

from officellm import Limits, StopReason
from officellm.testing import FakeClock, call, calls, fault, reply

from .scenes import add, answers, both_ways, every_wire, ping, play, streams

TWO = [call("add", a=1), call("add", a=40)]


@streams
@pytest.mark.parametrize("name", ["index_collision", "index_gap", "repeated_name_deltas"])
async def test_parallel_calls_are_kept_apart_whatever_their_indexes(name, streamed):
    result, requests, _ = await play([reply(calls=TWO, fault=name), "end"], "openai", streamed)
    assert (result.content, answers(requests[1])) == ("end", ["3", "42"])
    sent = next(one for one in requests[1].messages if one.get("tool_calls"))["tool_calls"]
    assert [one["function"]["name"] for one in sent] == ["add", "add"]


@every_wire
@both_ways
async def test_an_unknown_tool_is_an_error_that_lists_the_tools(wire, streamed):
    result, requests, _ = await play([call("subtract", a=1), "end"], wire, streamed)
    assert result.content == "end"
    assert "subtract" in answers(requests[1])[0]
    assert "add" in answers(requests[1])[0]


@every_wire
@both_ways
async def test_an_error_inside_a_success_is_sent_again_and_is_never_the_answer(wire, streamed):
    clock = FakeClock()
    result, requests, _ = await play([fault("error_in_200"), "end"], wire, streamed, clock=clock)
    assert (result.content, len(requests), clock.slept) == ("end", 2, [0.5])


@every_wire
@both_ways
async def test_an_error_inside_every_success_ends_as_a_failure_with_the_servers_words(wire, streamed):
    result, requests, _ = await play([fault("error_in_200")] * 4, wire, streamed)
    assert (result.stop_reason, result.content, len(requests)) == (StopReason.PROVIDER_ERROR_5XX_EXHAUSTED, "", 4)
    assert "Overloaded" in result.error


@every_wire
@both_ways
async def test_arguments_that_were_cut_off_never_reach_the_tool(wire, streamed):
    ran = []

    def record(x: str = "") -> str:
        """Record."""
        ran.append(x)
        return x

    cut = reply(calls=[call("record", x="on the shore")], fault="cut_arguments")
    result, requests, _ = await play([cut, "end"], wire, streamed, tools=[record])
    assert ran == []
    if wire == "gemini":  # its service drops the call that was cut: nothing is left to ask about
        assert result.stop_reason == StopReason.TRUNCATED
    else:
        assert "cut off by the token limit" in answers(requests[1])[0]
        assert result.content == "end"


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@pytest.mark.parametrize("raw", ["", "  \n"], ids=["empty", "blank"])
@both_ways
async def test_blank_arguments_are_no_arguments(wire, raw, streamed):
    result, requests, _ = await play([call("ping", raw), "end"], wire, streamed)
    assert (result.content, answers(requests[1])) == ("end", ["pong"])


@every_wire
@both_ways
async def test_null_arguments_are_no_arguments(wire, streamed):
    null = reply(calls=[call("ping"), call("add")], fault="null_arguments")
    result, requests, _ = await play([null, "end"], wire, streamed)
    pong, wrong = answers(requests[1])
    assert (result.content, pong) == ("end", "pong")
    assert "a: " in wrong
    if wire == "openai":
        sent = next(one for one in requests[1].messages if one.get("tool_calls"))["tool_calls"]
        assert [one["function"]["arguments"] for one in sent] == ["{}", "{}"]


@pytest.mark.parametrize(
    ("wire", "streamed"), [("openai", False), ("openai", True), ("anthropic", True)], ids=["openai", "stream", "claude"]
)
async def test_two_objects_glued_together_run_nothing(wire, streamed):
    ran = []

    def record(x: int) -> str:
        """Record."""
        ran.append(x)
        return "ran"

    glued = reply(calls=[call("record", x=1)], fault="glued_arguments")
    result, requests, _ = await play([glued, "end"], wire, streamed, tools=[record])
    assert (result.content, ran) == ("end", [])
    assert "more than one JSON value" in answers(requests[1])[0]


@both_ways
async def test_a_call_that_gemini_could_not_read_itself_is_asked_for_again(streamed):
    result, _, _ = await play([reply(calls=[call("ping")], fault="glued_arguments"), "end"], "gemini", streamed)
    assert result.content == "end"


@every_wire
@pytest.mark.parametrize("name", ["duplicate_ids", "empty_ids"])
@both_ways
async def test_calls_without_ids_of_their_own_are_each_run_and_answered_under_another(wire, name, streamed):
    result, requests, _ = await play([reply(calls=TWO, fault=name), "end"], wire, streamed)
    assert (result.content, answers(requests[1])) == ("end", ["3", "42"])


@every_wire
@both_ways
async def test_one_of_two_tools_that_raises_leaves_the_others_result(wire, streamed):
    def broken() -> str:
        """Break."""
        raise ValueError("no such pool")

    result, requests, _ = await play([calls(call("broken"), call("ping")), "end"], wire, streamed, tools=[broken, ping])
    wrong, pong = answers(requests[1])
    assert "no such pool" in wrong
    assert (result.content, pong) == ("end", "pong")


@every_wire
@both_ways
async def test_calls_count_whatever_the_finish_reason_says(wire, streamed):
    # Gemini never says anything but STOP, with calls or without.
    ended = reply("Let me see.", calls=[call("ping")], fault=None if wire == "gemini" else "stop_with_calls")
    result, requests, _ = await play([ended, "end"], wire, streamed)
    assert (result.content, answers(requests[1])) == ("end", ["pong"])
    assert "Let me see." in next(one.text for one in requests[1].heard.said if one.role == "assistant")


@every_wire
@both_ways
async def test_an_empty_reply_is_no_answer(wire, streamed):
    result, requests, _ = await play([fault("empty_reply"), "end"], wire, streamed)
    assert (result.content, len(requests)) == ("end", 2)
    result, requests, _ = await play([fault("empty_reply")] * 2, wire, streamed)
    assert (result.stop_reason, result.content, len(requests)) == (StopReason.EMPTY_REPLY, "", 2)


@every_wire
@both_ways
async def test_the_wait_that_a_server_asks_for_is_kept(wire, streamed):
    clock = FakeClock()
    result, _, _ = await play([fault("429", retry_after=2.0), "end"], wire, streamed, clock=clock)
    assert (result.content, clock.slept) == ("end", [2.0])


@every_wire
@both_ways
async def test_a_model_that_repeats_itself_is_stopped_and_warned_before(wire, streamed):
    same = reply(calls=[call("add", a=1)], repeat=True)
    result, requests, _ = await play([same], wire, streamed, tools=[add])
    assert (result.stop_reason, len(requests)) == (StopReason.LOOP_DETECTED, 4)
    assert "once more ends the run" in answers(requests[3])[-1]


@every_wire
async def test_a_limit_of_turns_is_a_limit_of_requests(wire):
    same = reply(calls=[call("add", a=1)], repeat=True)
    result, requests, _ = await play([same], wire, tools=[add], limits=Limits(max_turns=5, loop_window=None))
    assert (result.stop_reason, len(requests), result.usage.requests) == (StopReason.MAX_TURNS, 5, 5)
