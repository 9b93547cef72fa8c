"""Known failures of other frameworks that a loop or a wire can show, over HTTP. Ids name the row of the list.

Rows that need no server stand elsewhere: R01 to R05, R10, R14, R17, R20, R22, R26, R27 and R44 in `test_probe.py`.
"""

import asyncio
import json
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from officellm import Agent, Limits, Office, StopReason
from officellm.testing import FakeClock, FakeLLM, call, calls, fault, reply, rule

from .scenes import WIRES, Liar, add, answers, both_ways, office_at, ping, play, providers, run, sends


def row(number, *wires):
    """Runs a test on each wire, with the row's number in its id."""
    return pytest.mark.parametrize("wire", [pytest.param(wire, id=f"{number}-{wire}") for wire in wires or WIRES])


@row("R01", "openai", "anthropic")
async def test_blank_arguments_do_not_fit_a_tool_that_needs_some(wire):
    result, requests, _ = await play([call("add", ""), "end"], wire)
    assert result.content == "end"
    assert answers(requests[1])[0].startswith("Error: the arguments of 'add' do not fit: a: ")


@row("R09")
@both_ways
async def test_results_go_back_in_call_order_whichever_ends_first(wire, streamed):
    second = asyncio.Event()

    async def first() -> str:
        """End last."""
        await second.wait()
        return "one"

    async def last() -> str:
        """End first."""
        second.set()
        return "two"

    replies = [calls(call("first"), call("last"), call("ping")), "end"]
    result, requests, _ = await play(replies, wire, streamed, tools=[first, last, ping])
    assert (result.content, answers(requests[1])) == ("end", ["one", "two", "pong"])


def _openai_groups(messages):
    return [one["role"] for one in messages][-4:] == ["assistant", "tool", "tool", "tool"]


def _anthropic_groups(messages):
    return [block["type"] for block in messages[-1]["content"]] == ["tool_result"] * 3


def _gemini_groups(messages):
    return ["functionResponse" in part for part in messages[-1]["parts"]] == [True] * 3


@row("R12+R13")
async def test_three_results_stand_as_the_vendor_wants_them(wire):
    groups = {"openai": _openai_groups, "anthropic": _anthropic_groups, "gemini": _gemini_groups}[wire]
    three = calls(call("add", a=1), call("add", a=2), call("add", a=3))
    _, requests, _ = await play([three, "end"], wire)
    assert groups(requests[1].messages)


@row("R14")
async def test_an_id_that_comes_again_in_a_later_turn_is_another_call(wire):
    replies = [call("add", {"a": 1}, id="c1"), call("add", {"a": 2}, id="c1"), call("add", {"a": 3}, id="c1"), "end"]
    result, requests, _ = await play(replies, wire)
    assert (result.content, answers(requests[3])) == ("end", ["3", "4", "5"])
    made = [one.id for message in result.messages for one in getattr(message, "calls", ())]
    assert len(set(made)) == 3


def sse(*chunks):
    body = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"
    return sends("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream", body)


def piece(finish=None, **function):
    called = [{"index": 0, **({"id": function.pop("id")} if "id" in function else {}), "function": function}]
    return {"choices": [{"index": 0, "delta": {"tool_calls": called}, "finish_reason": finish}]}


@pytest.mark.parametrize(
    ("pieces", "answer"),
    [
        ([piece(id="c", name="", arguments=""), piece(name="ping", arguments="{}")], "pong"),
        ([piece(id="c", name=None, arguments="{}"), piece("tool_calls", name="ping")], "pong"),
        ([piece(id="c", name="", arguments="{}"), piece("tool_calls", arguments="")], "Error"),
    ],
    ids=["R18-empty-first", "R18-null-first", "R18-never"],
)
async def test_a_call_without_a_name_waits_for_it_and_is_never_dispatched(pieces, answer):
    ended = {"choices": [{"index": 0, "delta": {"content": "end"}, "finish_reason": "stop"}]}
    async with Liar(sse(*pieces), sse(ended)) as server:
        agent = Agent("a", model="p:m", tools=[ping])
        block = {"format": "openai_compat", "base_url": server.url}
        async with Office(agent, providers={"p": block}, limits=Limits(provider_retries=0)) as office:
            result, _ = await run(office, streamed=True)
    assert result.content == "end"
    [told] = [one["content"] for one in server.requests[1]["messages"] if one["role"] == "tool"]
    assert told.startswith(answer)


@row("R22")
@both_ways
async def test_thoughts_alone_are_no_answer(wire, streamed):
    thoughts = reply(reasoning="I should say something.")
    result, requests, _ = await play([thoughts, "end"], wire, streamed)
    assert (result.content, len(requests)) == ("end", 2)
    result, requests, _ = await play([reply("earlier", calls=[call("ping")]), thoughts, thoughts], wire, streamed)
    assert (result.stop_reason, len(requests)) == (StopReason.EMPTY_REPLY, 3)


@row("R23")
@both_ways
async def test_a_limit_reached_while_thinking_is_no_empty_answer(wire, streamed):
    result, requests, _ = await play([reply(reasoning="Let me think on", stop="length")], wire, streamed)
    assert (result.stop_reason, len(requests), result.usage.total) == (StopReason.TRUNCATED, 1, 15)


@row("R24")
@pytest.mark.parametrize("words", ["I cannot help with that.", ""], ids=["in words", "by a filter"])
@both_ways
async def test_a_refusal_is_a_refusal_and_is_not_asked_about_again(wire, words, streamed):
    result, requests, _ = await play([reply(words, stop="refused"), "never"], wire, streamed)
    assert (result.stop_reason, len(requests), result.usage.requests) == (StopReason.REFUSED, 1, 1)


@pytest.mark.parametrize("choices", [[], None], ids=["R29-empty", "R29-null"])
async def test_usage_after_the_end_is_counted_once(choices):
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    said = {"choices": [{"index": 0, "delta": {"content": "end"}, "finish_reason": "stop"}]}
    again = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    async with Liar(sse(said, again, {"choices": choices, "usage": usage})) as server, office_at(server.url) as office:
        result, events = await run(office, streamed=True)
    assert (result.content, result.usage.total) == ("end", 15)
    assert "".join(event.text for event in events if event.type == "text.delta") == "end"


@row("R32")
async def test_events_cut_anywhere_are_read_exactly(wire):
    text = "péché 🐚 in the tide\r\npools"
    # Without a delay the pieces arrive in one.
    slow = reply(text, calls=[call("add", a=1)], fault=fault("slow_bytes", size=5, delay=0.0002))
    result, requests, events = await play([slow, "end"], wire, streamed=True)
    assert (result.content, answers(requests[1])) == ("end", ["3"])
    assert "".join(event.text for event in events if event.type == "text.delta") == text + "end"


@row("R32")
async def test_a_consumer_that_leaves_closes_the_connection(wire):
    async with FakeLLM([reply("x" * 5000, fault=fault("slow_bytes", size=40, delay=0.01))]) as llm:
        agent = Agent("a", model="p:m")
        async with Office(agent, providers=providers(llm, wire)) as office:
            async with office.stream("go") as watched:
                async for event in watched:
                    if event.type == "text.delta":
                        break
            assert watched.result.stop_reason == StopReason.CANCELLED
            assert watched.result.content.startswith("x")
            while llm.requests[0].outcome == "open":  # noqa: ASYNC110 - the server has nothing to wait on
                await asyncio.sleep(0.01)
        assert llm.requests[0].outcome == "left"


@pytest.mark.parametrize("wires", [WIRES, WIRES[::-1], ("gemini", "openai", "anthropic")], ids="R34+R48-{0[0]}".format)
async def test_a_conversation_is_handed_over_from_wire_to_wire(wires):
    def script(number, then):
        return rule(
            reply("Thinking.", reasoning="hm", calls=[call("ping"), call("add", a=number)]),
            then,
            system=f"You are a{number}",
        )

    hand = [call("transfer_to_agent", agent=f"a{number}", query="go on") for number in (1, 2)]
    async with FakeLLM([script(0, hand[0]), script(1, hand[1]), script(2, "end")]) as llm:
        blocks = {f"p{number}": providers(llm, wire)["p"] for number, wire in enumerate(wires)}
        agents = [
            Agent(f"a{number}", "Helps", model=f"p{number}:m", instructions=f"You are a{number}", tools=[ping, add])
            for number in range(3)
        ]
        async with Office(agents[0], agents=agents[1:], providers=blocks, orchestrator="handoff") as office:
            result, _ = await run(office)
    assert llm.refusals == []
    assert (result.content, [hop.agent for hop in result.chain]) == ("end", ["a0", "a1", "a2"])
    assert [record.wire for record in llm.requests] == [wire for wire in wires for _ in range(2)]


class Branch(BaseModel):
    """A part of a tree."""

    name: str
    parts: list["Branch"] = []
    colour: Literal["red", "green"] | None = None
    size: float | str = Field(default=1.0, description="how large")
    level: Literal[1, 2, 3] = 1
    more: dict[str, int] = Field(default_factory=dict, max_length=3)


@row("R37")
@both_ways
async def test_a_tool_with_a_recursive_parameter_is_taken_and_called(wire, streamed):
    got = []

    def plant(tree: Branch, deep: Annotated[int, Field(gt=0, multiple_of=2)] = 2, kind: Literal["oak"] = "oak") -> str:
        """Plant a tree."""
        got.append((tree, deep, kind))
        return "planted"

    written = {"tree": {"name": "a", "parts": [{"name": "b", "colour": "red"}], "size": "tall", "more": {"x": 1}}}
    result, requests, _ = await play([call("plant", written), "end"], wire, streamed, tools=[plant])
    assert (result.content, answers(requests[1])) == ("end", ["planted"])
    assert got == [(Branch.model_validate(written["tree"]), 2, "oak")]
    offered = json.dumps(requests[0].body["tools"])
    assert all(f'"{name}"' in offered for name in Branch.model_fields)
    assert "how large" in offered


@row("R39")
async def test_an_agent_without_tools_sends_nothing_about_tools(wire):
    _, requests, _ = await play(["end"], wire, tools=[])
    assert {"tools", "tool_choice", "parallel_tool_calls", "toolConfig"} & set(requests[0].body) == set()


@row("R40")
@pytest.mark.parametrize(
    ("value", "sent"),
    [({"a": {"b": None}}, '{"a":{"b":null}}'), (None, "(no output)"), ("", "(no output)"), (b"raw", "raw"), ([], "[]")],
    ids=["dict", "none", "empty", "bytes", "list"],
)
async def test_what_a_tool_returns_is_never_an_empty_block_or_a_repr(wire, value, sent):
    def give():
        """Give."""
        return value

    result, requests, _ = await play([call("give"), "end"], wire, tools=[give])
    [told] = answers(requests[1])
    assert result.content == "end"
    assert told == sent or json.loads(told) in ({"result": sent}, {"result": value}, value)


@row("R42")
@pytest.mark.parametrize("name", ["400", "401", "403", "quota", "context_overflow"])
async def test_what_no_retry_can_help_is_sent_once(wire, name):
    clock = FakeClock()
    result, requests, _ = await play([fault(name, message=f"Sorry: {name}.")], wire, clock=clock)
    wanted = StopReason.CONTEXT_OVERFLOW if name == "context_overflow" else StopReason.PROVIDER_ERROR_4XX
    assert (result.stop_reason, len(requests), clock.slept) == (wanted, 1, [])
    assert f"Sorry: {name}." in result.error or name in ("quota", "context_overflow")


@row("R43")
@both_ways
async def test_an_overloaded_server_is_asked_again_after_growing_waits(wire, streamed):
    clock = FakeClock()
    replies = [fault("529"), fault("503"), fault("error_in_200"), "end"]
    result, requests, _ = await play(replies, wire, streamed, clock=clock)
    assert (result.content, len(requests), clock.slept) == ("end", 4, [0.5, 1.0, 2.0])


class Chance(FakeClock):
    """A clock whose jitter is as large as it can be."""

    def jitter(self):
        return 1.0


@row("R43")
async def test_chance_makes_the_waits_shorter_so_that_clients_do_not_come_back_together(wire):
    clock = Chance()
    result, _, _ = await play([fault("529"), fault("503"), "end"], wire, clock=clock)
    assert (result.content, clock.slept) == ("end", [0.375, 0.75])


@row("R54")
async def test_after_a_limit_one_closing_request_is_made_and_calls_nothing(wire):
    again = [call("add", a=number) for number in range(3)]
    async with FakeLLM([rule(*again, "what there is", by="order")]) as llm:
        agent = Agent("a", model="p:m", tools=[add], on_limit="summarize")
        async with Office(agent, providers=providers(llm, wire), limits=Limits(max_turns=3)) as office:
            result, _ = await run(office)
    assert llm.refusals == []
    assert (result.stop_reason, result.content, len(llm.requests)) == (StopReason.MAX_TURNS, "what there is", 4)
    wanted = [record.body.get("tool_choice") or record.body.get("toolConfig") for record in llm.requests]
    assert wanted[:3] == [None] * 3
    assert '"none"' in json.dumps(wanted[3]).lower()
