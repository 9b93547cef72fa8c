"""The scripted model: a provider that plays replies and remembers what it was asked."""

import asyncio
import threading

import pytest

from officellm.errors import ConfigError, ProviderError, ToolError
from officellm.messages import (
    Assistant,
    CallDelta,
    Finished,
    ReasoningDelta,
    Request,
    System,
    TextDelta,
    ToolCall,
    ToolResult,
    Usage,
    User,
)
from officellm.protocols import Provider
from officellm.testing import ScriptExhausted, call, calls, fault, reply, scripted
from officellm.wire import Fault, FaultError


def request(text="hi", *, system="", stream=False, messages=None):
    head = [System(system)] if system else []
    return Request(model="m", messages=messages or [*head, User(text)], stream=stream)


async def deltas(model, asked):
    return [delta async for delta in model.stream(asked)]


async def answer(model, asked=None):
    return (await deltas(model, asked or request()))[-1].reply


async def test_it_is_a_provider_that_plays_its_replies_in_order():
    model = scripted([call("search", query="x"), "done"])
    assert isinstance(model, Provider)
    first, last = await answer(model), await answer(model)
    assert (first.stop, first.message.calls[0].name, first.message.calls[0].arguments) == (
        "tool_calls",
        "search",
        {"query": "x"},
    )
    assert (last.stop, last.message.text, last.message.calls) == ("stop", "done", ())
    assert model.left == 0


async def test_each_request_counts_ten_and_five_tokens():
    usage = (await answer(scripted(["x"]))).usage
    assert (usage, usage.total) == (Usage(input=10, output=5, requests=1), 15)


async def test_everything_that_a_reply_can_say_arrives():
    said = reply("t", calls=[call("f")], stop="length", usage=Usage(input=1, output=2), reasoning="r")
    got = await answer(scripted([said]))
    assert (got.message.text, got.message.reasoning, got.stop) == ("t", "r", "length")
    assert got.usage == Usage(input=1, output=2, requests=1)


async def test_no_usage_is_not_complete():
    usage = (await answer(scripted([reply("x", usage=None)]))).usage
    assert (usage.complete, usage.requests, usage.total) == (False, 1, 0)


async def test_a_refusal_has_its_text_apart():
    got = await answer(scripted([reply("I will not.", stop="refused")]))
    assert (got.stop, got.refusal, got.message.text) == ("refused", "I will not.", "")


@pytest.mark.parametrize(
    ("made", "arguments", "id"),
    [
        (call("f", query="x"), {"query": "x"}, None),
        (call("f", {"query": "x"}, id="c1"), {"query": "x"}, "c1"),
        (call("f", {"id": "an argument"}, id="c1", n=1), {"id": "an argument", "n": 1}, "c1"),
        (call("f", tool="t", arguments="a"), {"tool": "t", "arguments": "a"}, None),
        (call("f", '{"cut'), '{"cut', None),
        (call("f"), {}, None),
    ],
    ids=["keywords", "mapping", "id as argument", "names of our own parameters", "raw", "none"],
)
def test_a_call_is_written_in_the_ways_that_suit(made, arguments, id):
    assert (made.arguments, made.id) == (arguments, id)


def test_raw_text_and_keywords_exclude_each_other():
    with pytest.raises(TypeError):
        call("f", "{}", a=1)


async def test_ids_are_made_where_none_is_given_and_differ():
    model = scripted([calls(call("f"), call("f"), call("f", id="mine"), text="t"), call("f")])
    first, second = await answer(model), await answer(model)
    ids = [one.id for one in (*first.message.calls, *second.message.calls)]
    assert len(set(ids)) == 4
    assert ids[2] == "mine"
    assert first.message.text == "t"


async def test_broken_arguments_arrive_as_a_problem_with_the_raw_text():
    (one,) = (await answer(scripted([call("f", '{"a": "b')]))).message.calls
    assert (one.arguments, one.raw) == (None, '{"a": "b')
    assert one.problem


async def test_requests_are_kept_as_they_were_however_they_are_changed_later():
    model = scripted(["a", "b"])
    arguments = {"list": [1]}
    messages = [User("one"), Assistant(calls=(ToolCall("c", "f", arguments),)), ToolResult("c", "f", "r")]
    asked = request(messages=messages)
    asked.settings = {"stop": ["x"]}
    await answer(model, asked)
    arguments["list"].append(2)
    messages.append(User("two"))
    asked.settings["stop"].append("y")
    asked.model = "other"
    (kept,) = model.requests
    assert len(kept.messages) == 3
    assert kept.messages[1].calls[0].arguments == {"list": [1]}
    assert (kept.settings, kept.model) == ({"stop": ["x"]}, "m")


async def test_a_request_keeps_its_retry_listener_to_itself():
    model = scripted(["a"])
    asked = request()
    asked.on_retry = lambda attempt, fault, seconds: None
    await answer(model, asked)
    assert asked.on_retry is not None
    assert model.requests[0].on_retry is None


async def test_streamed_deltas_add_up_to_the_reply():
    said = reply(
        "a text that is longer than a piece", reasoning="and a thought that is", calls=[call("f", query="long enough")]
    )
    got = await deltas(scripted([said]), request(stream=True))
    *pieces, last = got
    assert isinstance(last, Finished)
    assert "".join(one.text for one in pieces if isinstance(one, TextDelta)) == last.reply.message.text
    assert "".join(one.text for one in pieces if isinstance(one, ReasoningDelta)) == last.reply.message.reasoning
    assert "".join(one.arguments for one in pieces if isinstance(one, CallDelta)) == last.reply.message.calls[0].raw
    assert len(pieces) > 5


async def test_without_streaming_there_is_only_the_reply():
    assert len(await deltas(scripted(["a text that is longer than a piece"]), request())) == 1


FAULT = Fault("rate_limit", "slow down", 429, retryable=True)


@pytest.mark.parametrize(
    ("step", "kind", "status"),
    [
        (FAULT, "rate_limit", 429),
        (FaultError(FAULT), "rate_limit", 429),
        (ProviderError("p", FAULT), "rate_limit", 429),
        (TimeoutError("late"), "timeout", None),
        (ConnectionResetError("gone"), "network", None),
        (fault("503"), "overloaded", 503),
        (fault("502"), "server", 502),
        (fault("401"), "auth", 401),
        (fault("quota"), "quota", 429),
        (fault("dropped_stream"), "network", None),
        (fault("malformed_json"), "malformed", None),
        (lambda asked: fault("529"), "overloaded", 529),
        (lambda asked: FAULT, "rate_limit", 429),
    ],
)
async def test_what_goes_wrong_is_a_provider_error(step, kind, status):
    model = scripted([step, "fine"])
    with pytest.raises(ProviderError) as error:
        await answer(model)
    assert (error.value.fault.kind, error.value.status) == (kind, status)
    assert (await answer(model)).message.text == "fine"


@pytest.mark.parametrize(
    "error", [ValueError("a defect"), ToolError("odd"), KeyboardInterrupt()], ids=["defect", "ours", "interrupt"]
)
async def test_any_other_exception_is_raised_as_it_is(error):
    with pytest.raises(type(error)) as raised:
        await answer(scripted([error]))
    assert raised.value is error


async def test_faults_of_what_the_model_says_change_the_reply():
    model = scripted([reply(calls=[call("f", query="x")], fault="cut_arguments"), reply("x", fault="empty_reply")])
    cut, empty = await answer(model), await answer(model)
    assert (cut.stop, cut.message.calls[0].arguments) == ("length", None)
    assert (empty.message.text, empty.stop) == ("", "stop")


async def test_functions_get_the_request_and_may_be_async():
    async def later(asked):
        await asyncio.sleep(0)
        return call("f", said=asked.messages[-1].text)

    model = scripted([lambda asked: asked.messages[-1].text.upper(), later])
    assert (await answer(model, request("loud"))).message.text == "LOUD"
    assert (await answer(model, request("quiet"))).message.calls[0].arguments == {"said": "quiet"}


async def test_when_the_script_runs_out_the_error_counts_the_requests():
    model = scripted(["only"])
    await answer(model)
    with pytest.raises(AssertionError, match="no reply left, and request 2 came") as error:
        await answer(model)
    assert isinstance(error.value, ScriptExhausted)


async def test_the_last_reply_can_repeat():
    model = scripted(["first", reply("again", repeat=True)])
    assert [(await answer(model)).message.text for _ in range(4)] == ["first", "again", "again", "again"]


async def test_agents_have_their_own_replies():
    model = scripted(
        ["anyone"], by_agent={"You are Ada": ["ada 1", "ada 2"], (lambda asked: asked.model == "x"): ["x"]}
    )
    asked = request(system="You write.")
    asked.model = "x"
    got = [
        await answer(model, one)
        for one in (request(), request(system="You are Ada."), asked, request(system="You are Ada!"))
    ]
    assert [one.message.text for one in got] == ["anyone", "ada 1", "x", "ada 2"]


async def test_an_agent_without_replies_is_told_apart_from_one_that_used_them_up():
    model = scripted(by_agent={"Ada": []})
    with pytest.raises(ScriptExhausted, match="replies for 'Ada'"):
        await answer(model, request(system="Ada"))
    with pytest.raises(ScriptExhausted, match="no replies for request 2: system text 'Bob'"):
        await answer(model, request(system="Bob"))


def test_concurrent_runs_in_many_threads_share_one_list():
    model = scripted([str(number) for number in range(40)])
    got = []

    async def run():
        got.extend([(await answer(model)).message.text for _ in range(10)])

    threads = [threading.Thread(target=lambda: asyncio.run(run())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got, key=int) == [str(number) for number in range(40)]
    assert len(model.requests) == 40


@pytest.mark.parametrize(
    ("steps", "message"), [("text", "takes a list"), ([5], "must be a text"), ([None], "must be a text")]
)
def test_a_script_that_cannot_work_is_refused_at_once(steps, message):
    with pytest.raises(ConfigError, match=message):
        scripted(steps)
