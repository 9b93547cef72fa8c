"""Faults of what the model says, on every wire that can say it: odd calls, missing counts, odd streams."""

import json

import pytest

from officellm.testing import FAULTS, FakeLLM, call, reply

#: The wires whose whole replies hold arguments as objects, as much of them as can be read.
OBJECTS = ("anthropic", "bedrock", "bedrock_invoke")
TWO_CALLS = (call("search", query="one"), call("search", query="two"))


async def test_an_empty_reply_ends_as_if_all_were_well(ask, wire, stream):
    async with FakeLLM([reply("never seen", fault="empty_reply"), "fine"]) as llm:
        first = wire.read(await ask(llm, wire, stream=stream), stream)
        second = wire.read(await ask(llm, wire, stream=stream), stream)
    assert (first["text"], first["calls"]) == ("", [])
    assert first["finish"] in ("stop", "end_turn", "STOP", "COMPLETE", "completed")
    assert second["text"] == "fine"


async def test_no_usage(ask, wire, stream):
    async with FakeLLM([reply("x", fault="no_usage")]) as llm:
        response = await ask(llm, wire, stream=stream)
    assert wire.read(response, stream)["usage"] == (None, None)


async def test_cut_arguments(ask, wire, stream):
    async with FakeLLM([reply(calls=TWO_CALLS, fault="cut_arguments")]) as llm:
        read = wire.read(await ask(llm, wire, stream=stream), stream)
    assert read["finish"] in ("length", "max_tokens", "MAX_TOKENS", "max_output_tokens")
    if wire.name == "gemini":
        assert read["calls"] == []
    elif wire.name == "ollama":
        assert [one["raw"] for one in read["calls"]] == ['{"query":"one"}']
    elif wire.name in OBJECTS and not stream:
        assert read["calls"][1]["raw"] == "{}"
    else:
        assert [one["raw"] for one in read["calls"]] == ['{"query":"one"}', '{"query":"']


async def test_null_arguments(ask, wire, stream):
    async with FakeLLM([reply(calls=TWO_CALLS[:1], fault="null_arguments")]) as llm:
        (one,) = wire.read(await ask(llm, wire, stream=stream), stream)["calls"]
    assert one["raw"] in (None, "null")


async def test_glued_arguments(ask, wire, stream):
    async with FakeLLM([reply(calls=TWO_CALLS[:1], fault="glued_arguments")]) as llm:
        read = wire.read(await ask(llm, wire, stream=stream), stream)
    if wire.name == "gemini":
        assert (read["calls"], read["finish"]) == ([], "MALFORMED_FUNCTION_CALL")
    elif wire.name == "ollama":
        assert (read["calls"], read["finish"]) == ([], "stop")
    elif wire.name in OBJECTS and not stream:
        assert json.loads(read["calls"][0]["raw"]) == {"query": "one"}
    else:
        assert read["calls"][0]["raw"] == '{"query":"one"}{"query":"one"}'


@pytest.mark.parametrize(("name", "ids"), [("duplicate_ids", ["call_same"] * 2), ("empty_ids", ["", ""])])
async def test_odd_ids(ask, wire, stream, name, ids):
    async with FakeLLM([reply(calls=TWO_CALLS, fault=name)]) as llm:
        read = wire.read(await ask(llm, wire, stream=stream), stream)
    wanted = [None, None] if wire.name in ("gemini", "ollama") and name == "empty_ids" else ids
    assert [one["id"] for one in read["calls"]] == wanted


async def test_stop_with_calls(ask, wires, stream):
    async with FakeLLM([reply(calls=TWO_CALLS, fault="stop_with_calls")]) as llm:
        finishes = {"openai": "stop", "anthropic": "end_turn", "cohere": "COMPLETE", "mistral": "stop"}
        finishes |= {"bedrock": "end_turn", "bedrock_invoke": "end_turn"}
        assert set(finishes) == set(FAULTS["stop_with_calls"].wires)
        for name, finish in finishes.items():
            read = wires[name].read(await ask(llm, wires[name], stream=stream), stream)
            assert (len(read["calls"]), read["finish"]) == (2, finish)


def pieces(wire, response):
    """The index and the call in every piece of calls in a stream."""
    for event in wire.events(response):
        if wire.name == "cohere":
            call = event.get("delta", {}).get("message", {}).get("tool_calls")
            found = [(event["index"], call)] if call else []
        elif wire.name == "ollama":
            found = [(call["function"]["index"], call) for call in event["message"].get("tool_calls", [])]
        else:
            deltas = [choice["delta"] for choice in event["choices"]]
            found = [(call["index"], call) for delta in deltas for call in delta.get("tool_calls", [])]
        yield from found


@pytest.mark.parametrize(("name", "indexes"), [("index_collision", {0}), ("index_gap", {1, 3})])
@pytest.mark.parametrize("wire_name", FAULTS["index_gap"].wires)
async def test_odd_indexes_of_a_stream_and_the_whole_reply_is_unharmed(ask, wires, wire_name, name, indexes):
    wire = wires[wire_name]
    async with FakeLLM([reply(calls=TWO_CALLS, fault=name)]) as llm:
        found = list(pieces(wire, await ask(llm, wire, stream=True)))
        whole = wire.read(await ask(llm, wire), stream=False)
    assert {index for index, _ in found} == indexes
    assert len({one["id"] for _, one in found if "id" in one}) == 2
    assert [json.loads(one["raw"])["query"] for one in whole["calls"]] == ["one", "two"]


@pytest.mark.parametrize("wire_name", FAULTS["repeated_name_deltas"].wires)
async def test_repeated_name_deltas(ask, wires, wire_name):
    async with FakeLLM([reply(calls=TWO_CALLS[:1], fault="repeated_name_deltas")]) as llm:
        found = [one for _, one in pieces(wires[wire_name], await ask(llm, wires[wire_name], stream=True))]
    assert len(found) > 2
    assert {one["function"]["name"] for one in found} == {"search"}
    assert len({one["id"] for one in found}) == 1
