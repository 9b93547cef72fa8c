"""What Ollama's replies mean, and what of them goes back to it."""

from __future__ import annotations

import json

import pytest
from officellm_provider_ollama.wire import Ollama

from officellm import CallDelta, FaultError, Request, StreamEvent, TextDelta, ToolSpec, User

REQUEST = Request(model="qwen3", messages=(User("Hi"),))
COUNTS = {"prompt_eval_count": 20, "eval_count": 7}
END = {"done": True, "done_reason": "stop", **COUNTS}


def parsed(message, request=REQUEST, **fields):
    body = {"model": "qwen3", "message": {"role": "assistant", "content": "", **message}, **END, **fields}
    return Ollama().parse(json.dumps(body).encode(), request)


def fed(*lines):
    parser = Ollama().stream_parser(REQUEST)
    return parser, [delta for line in lines for delta in parser.feed(StreamEvent(("", json.dumps(line))))]


def line(done=False, **message):
    return {"message": {"role": "assistant", "content": "", **message}, **(END if done else {"done": False})}


def call(arguments, **more):
    return {**more, "function": {"name": "add", "arguments": arguments}}


def sent_back(reply, model="qwen3"):
    request = Request(model=model, messages=(User("Hi"), reply.message, User("Go on")))
    return json.loads(Ollama().build(request, "http://localhost:11434").body)["messages"][1]


@pytest.mark.parametrize("arguments", [{"a": 2}, '{"a": 2}'], ids=["object", "text"])
def test_arguments_are_an_object_whatever_came(arguments):
    reply = parsed({"tool_calls": [call(arguments, id="call_1")]})

    assert [(one.id, one.arguments) for one in reply.message.calls] == [("call_1", {"a": 2})]
    assert (reply.stop, reply.raw_stop) == ("tool_calls", "stop")


def test_calls_without_ids_are_kept_apart_in_what_is_sent_next():
    reply = parsed({"tool_calls": [call({"a": 2}), call({"a": 2})]})

    ids = [one["id"] for one in sent_back(reply)["tool_calls"]]
    assert all(ids)
    assert len(set(ids)) == 2


def test_calls_may_come_in_any_line_before_the_end():
    parser, shown = fed(line(tool_calls=[call({"a": 1})]), line(content="so"), line(True, tool_calls=[call({"a": 2})]))

    assert [one.arguments for one in parser.finish().message.calls] == [{"a": 1}, {"a": 2}]
    assert [delta.index for delta in shown if isinstance(delta, CallDelta)] == [0, 1]


def test_reasoning_goes_back_to_the_model_that_had_it_and_to_no_other():
    reply = parsed({"content": "Six.", "thinking": "Six, or seven?"})

    assert reply.message.reasoning == "Six, or seven?"
    assert sent_back(reply) == {"role": "assistant", "content": "Six.", "thinking": "Six, or seven?"}
    assert sent_back(reply, "llama3") == {"role": "assistant", "content": "Six."}


def test_a_tool_with_an_illegal_name_comes_back_under_its_own():
    request = Request(model="m", messages=(User("Hi"),), tools=[ToolSpec("board.create", "", {})])
    offered = json.loads(Ollama().build(request, "http://x").body)["tools"][0]["function"]["name"]
    entry = {"function": {"name": offered, "arguments": {}}}

    assert parsed({"tool_calls": [entry]}, request).message.calls[0].name == "board.create"


@pytest.mark.parametrize(
    ("finish", "stop"),
    [("stop", "stop"), ("length", "length"), ("load", "stop"), ("unload", "stop"), (None, "stop"), ("new", "other")],
)
def test_a_done_reason_has_its_neutral_stop(finish, stop):
    reply = parsed({"content": "Six."}, done_reason=finish)

    assert (reply.stop, reply.raw_stop) == (stop, finish)


@pytest.mark.parametrize(
    ("counts", "counted"),
    [
        (COUNTS, (20, 7, True)),
        ({"prompt_eval_count": None}, (0, 7, False)),
        ({"eval_count": "7"}, (20, 0, False)),
    ],
    ids=["both", "cached-prompt", "nonsense"],
)
def test_a_count_that_is_missing_is_not_counted_as_none(counts, counted):
    usage = parsed({"content": "Six."}, **counts).usage

    assert (usage.input, usage.output, usage.complete) == counted


def test_replies_of_generate_are_read_too():
    whole = Ollama().parse(json.dumps({"model": "m", "response": "Six.", **END}).encode(), REQUEST)
    parser, shown = fed({"response": "Si", "done": False}, {"response": "x.", "done": False}, {"response": "", **END})

    assert whole.message.text == parser.finish().message.text == "Six."
    assert shown == [TextDelta("Si"), TextDelta("x.")]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("llama runner process has terminated", "server"),
        ("error parsing tool call: raw='{\"a\":', err=unexpected end of JSON input", "bad_call"),
        ("XML syntax error on line 3: element <parameter> closed by </function>", "bad_call"),
    ],
    ids=["runner", "json-call", "xml-call"],
)
def test_an_error_is_a_fault_wherever_it_comes(error, kind):
    faults = [Ollama().classify(500, {}, json.dumps({"error": error}).encode())]
    for read in (
        lambda: Ollama().parse(json.dumps({"error": error}).encode(), REQUEST),
        lambda: fed(line(content="Low"), {"error": error}),
    ):
        with pytest.raises(FaultError) as caught:
            read()
        faults.append(caught.value.fault)

    assert [(fault.kind, fault.retryable) for fault in faults] == [(kind, True)] * 3


def test_a_stream_without_its_end_is_cut_short():
    parser, _ = fed(line(content="Low"))

    with pytest.raises(FaultError) as caught:
        parser.finish()

    assert (caught.value.fault.kind, caught.value.fault.retryable) == ("network", True)
