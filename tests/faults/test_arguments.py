"""What a model writes as arguments, and what of it reaches the tool, the guards and the next request, on every wire."""

import json
from dataclasses import dataclass

import pytest

from officellm import Agent, Limits, Office, StopReason, Verdict, hookimpl
from officellm.testing import call, reply

from .scenes import Liar, add, answers, both_ways, every_wire, ping, play, run, says, sends


@every_wire
@both_ways
async def test_only_what_loses_nothing_is_made_to_fit(wire, streamed):
    got = []

    def take(whole: int, number: int, code: str, padded: str) -> str:
        """Take."""
        got.append((whole, number, code, padded))
        return "taken"

    written = '{"whole":3.0,"number":"5","code":"007","padded":"  a b\\n"}'
    fits = call("take", json.loads(written) if wire == "gemini" else written)
    misfits = [
        call("take", {"whole": whole, "number": 5, "code": code, "padded": ""})
        for whole, code in ((3.5, "x"), ("3 apples", "x"), (3, 7))
    ]
    result, requests, _ = await play([reply(calls=[fits, *misfits]), "end"], wire, streamed, tools=[take])
    assert result.content == "end"
    assert got == [(3, 5, "007", "  a b\n")]
    assert type(got[0][0]) is int
    first, *others = answers(requests[1])
    assert first == "taken"
    assert all(other.startswith("Error: the arguments of 'take' do not fit: ") for other in others)


class Guard:
    """Refuses to delete everything; `asked` is what it was asked about."""

    def __init__(self):
        self.asked = []

    @hookimpl
    def judge(self, call, agent, run):
        self.asked.append(call.arguments)
        return Verdict("refuse", "not that") if call.arguments.get("path") == "/" else None


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@pytest.mark.parametrize("raw", ["", " \n", "{}", "null"], ids=["empty", "blank", "object", "null"])
@both_ways
async def test_a_guard_judges_the_arguments_that_would_run_also_where_none_were_written(wire, raw, streamed):
    ran = []

    def delete(path: str = "/") -> str:
        """Delete."""
        ran.append(path)
        return "deleted"

    guard = Guard()
    calls = [call("delete", raw), call("delete", path="/tmp/x")]
    result, requests, _ = await play([reply(calls=calls), "end"], wire, streamed, tools=[delete], guards=[guard])
    assert (result.content, ran) == ("end", ["/tmp/x"])
    assert guard.asked == [{"path": "/"}, {"path": "/tmp/x"}]
    assert answers(requests[1]) == ["Error: 'delete' was refused: not that", "deleted"]


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@both_ways
async def test_a_call_that_lacks_what_it_needs_is_not_even_judged(wire, streamed):
    guard = Guard()
    _, requests, _ = await play([call("add", ""), "end"], wire, streamed, tools=[add], guards=[guard])
    assert guard.asked == []
    assert answers(requests[1])[0].startswith("Error: the arguments of 'add' do not fit: a: ")


def completion(function, streamed):
    called = [{"index": 0, "id": "c", "type": "function", "function": function}]
    if not streamed:
        choice = {"index": 0, "message": {"tool_calls": called}, "finish_reason": "tool_calls"}
        return sends("HTTP/1.1 200 OK\r\nContent-Type: application/json", json.dumps({"choices": [choice]}).encode())
    choice = {"index": 0, "delta": {"tool_calls": called}, "finish_reason": "tool_calls"}
    body = b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\ndata: [DONE]\n\n"
    return sends("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream", body)


@pytest.mark.parametrize("function", [{"name": "ping"}, {"name": "ping", "arguments": None}], ids=["absent", "null"])
@both_ways
async def test_arguments_that_are_not_there_are_none_and_go_back_as_an_object(function, streamed):
    async with Liar(completion(function, streamed), says("end")) as server:
        block = {"format": "openai_compat", "base_url": server.url}
        async with Office(Agent("a", model="p:m", tools=[ping]), providers={"p": block}) as office:
            result, _ = await run(office, streamed)
    *_, said, told = server.requests[1]["messages"]
    assert (result.content, told["content"]) == ("end", "pong")
    assert said["tool_calls"][0]["function"]["arguments"] == "{}"


@every_wire
@both_ways
async def test_calls_that_are_always_cut_off_end_as_truncated_and_each_turn_counts_once(wire, streamed):
    cut = reply(calls=[call("add", a=1234, b=5678)], fault="cut_arguments", repeat=True)
    result, requests, events = await play([cut], wire, streamed)
    assert (result.stop_reason, result.usage.tool_calls) == (StopReason.TRUNCATED, 0)
    assert result.usage.requests == len(requests) == sum(event.type == "model.response" for event in events)
    assert result.usage.total == 15 * len(requests)


@dataclass
class Place:
    """A place with a name that no JSON form of it loses."""

    name: str
    deep: dict[str, list[int]]


@every_wire
async def test_an_object_that_a_tool_returns_is_sent_as_json_with_all_its_keys(wire):
    def find() -> Place:
        """Find."""
        return Place("pool", {"depths": [1, 2]})

    _, requests, _ = await play([call("find"), "end"], wire, tools=[find], limits=Limits())
    told = json.loads(answers(requests[1])[0])
    assert told.get("result", told) in ({"name": "pool", "deep": {"depths": [1, 2]}}, json.dumps(told.get("result")))
