"""Every named fault of the fake LLM server, on every wire that has it, as the bytes that a client gets."""

import asyncio
import json

import httpx
import pytest

from officellm.errors import ConfigError
from officellm.testing import FAULTS, FakeLLM, call, calls, fault, fault_table, reply
from officellm.testing.answers import _SPOILT
from officellm.testing.replies import _CHANGES

TWO_CALLS = (call("search", query="one"), call("search", query="two"))
ERROR_TYPES = {
    "400": ("invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT", "invalid_request_error"),
    "401": ("invalid_request_error", "authentication_error", "UNAUTHENTICATED", None),
    "403": ("invalid_request_error", "permission_error", "PERMISSION_DENIED", "invalid_request_error"),
    "429": ("requests", "rate_limit_error", "RESOURCE_EXHAUSTED", "rate_limited"),
    "500": ("server_error", "api_error", "INTERNAL", "internal_server_error"),
    "502": ("server_error", "api_error", "INTERNAL", "internal_server_error"),
    "503": ("server_error", "api_error", "UNAVAILABLE", "internal_server_error"),
    "529": ("server_error", "overloaded_error", "INTERNAL", "internal_server_error"),
}
#: The vendors whose errors say of what kind they are, in the order of the table.
KINDS = ("openai", "anthropic", "gemini", "mistral")
#: Amazon's names for them.
AMAZON = {
    "400": "ValidationException",
    "401": "UnrecognizedClientException",
    "403": "AccessDeniedException",
    "429": "ThrottlingException",
    "500": "InternalServerException",
    "502": "InternalServerException",
    "503": "ServiceUnavailableException",
    "529": "ServiceUnavailableException",
}
#: What the first event of a stream that had begun well says, where one comes before an error.
OPENINGS = {
    "anthropic": "message_start",
    "cohere": "message-start",
    "mistral": '"role": "assistant"',
    "ollama": '"done": false',
    "bedrock": "messageStart",
    "bedrock_invoke": "message_start",
}
#: The events of a response that fails.
FAILED = ["response.created", "response.in_progress", "error", "response.failed"]
EXERCISED = {
    *ERROR_TYPES,
    *("quota", "context_overflow", "error_in_200", "html_body", "empty_body", "malformed_json", "dropped_stream"),
    *("dropped_connection", "slow_bytes", "hang", "empty_reply", "no_usage", "cut_arguments", "null_arguments"),
    *("glued_arguments", "duplicate_ids", "empty_ids", "stop_with_calls"),
    *("index_collision", "index_gap", "repeated_name_deltas"),
}


def test_every_fault_is_exercised_here_and_has_its_doing():
    assert set(FAULTS) <= EXERCISED
    assert set(_SPOILT) == {name for name, known in FAULTS.items() if known.family == "body"}
    assert set(_CHANGES) == {name for name, known in FAULTS.items() if known.family == "reply"}


def test_the_table_has_a_line_for_every_fault():
    lines = fault_table().splitlines()
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines[2:]] == list(FAULTS)


@pytest.mark.parametrize("name", ERROR_TYPES)
async def test_an_error_has_the_vendors_status_and_shape_and_the_next_request_gets_the_next_reply(
    ask, wire, stream, name
):
    async with FakeLLM([fault(name, message="so it is"), "fine"]) as llm:
        first = await ask(llm, wire, stream=stream)
        second = await ask(llm, wire, stream=stream)
        assert [one.outcome for one in llm.requests] == [f"fault {name}", "answered"]
    message, kind = wire.error(first)
    assert first.status_code == int(name)
    assert message.startswith("so it is")
    kinds = dict(zip(KINDS, ERROR_TYPES[name], strict=True))
    kinds |= {"responses": kinds["openai"], "bedrock": AMAZON[name], "bedrock_invoke": AMAZON[name]}
    assert kind == kinds.get(wire.name)
    assert wire.read(second, stream)["text"] == "fine"


async def test_a_429_says_how_long_to_wait_where_the_vendor_says_it(ask, wires):
    async with FakeLLM([fault("429", retry_after=0.25)]) as llm:
        got = {name: await ask(llm, wire, name) for name, wire in wires.items()}
    for name in ("openai", "responses"):
        assert got[name].headers["retry-after"] == "0.25"
        assert got[name].headers["retry-after-ms"] == "250"
    for name in ("anthropic", "cohere", "mistral", "ollama", "bedrock", "bedrock_invoke"):
        assert got[name].headers["retry-after"] == "0.25"
    assert "retry-after" not in got["gemini"].headers
    (info,) = got["gemini"].json()["error"]["details"]
    assert (info["@type"], info["retryDelay"]) == ("type.googleapis.com/google.rpc.RetryInfo", "0.25s")


@pytest.mark.parametrize(
    ("name", "wire_name", "status", "marker"),
    [
        ("quota", "openai", 429, '"code":"insufficient_quota"'),
        ("quota", "anthropic", 402, "billing_error"),
        ("quota", "gemini", 429, "PerDay"),
        ("quota", "cohere", 402, "check your plan and billing details"),
        ("quota", "mistral", 401, "usage limit reached"),
        ("quota", "ollama", 402, "usage limit"),
        ("quota", "responses", 429, '"code":"insufficient_quota"'),
        ("quota", "bedrock", 400, "exceeds the service quota"),
        ("quota", "bedrock_invoke", 400, "exceeds the service quota"),
        ("context_overflow", "responses", 400, "context_length_exceeded"),
        ("context_overflow", "bedrock", 400, "Input Tokens Exceeded"),
        ("context_overflow", "bedrock_invoke", 400, "prompt is too long"),
        ("context_overflow", "openai", 400, "context_length_exceeded"),
        ("context_overflow", "anthropic", 400, "prompt is too long"),
        ("context_overflow", "gemini", 400, "input token count (1250074) exceeds"),
        ("context_overflow", "cohere", 400, "TOO_MANY_TOKENS"),
        ("context_overflow", "mistral", 400, "32768 maximum context length"),
        ("context_overflow", "ollama", 400, "exceeded max context length"),
    ],
)
async def test_quota_and_overflow_are_told_as_each_vendor_tells_them(ask, wires, name, wire_name, status, marker):
    async with FakeLLM([fault(name)]) as llm:
        response = await ask(llm, wires[wire_name])
    assert response.status_code == status
    assert marker in response.text


async def test_an_error_inside_a_200_is_a_body_or_an_event(ask, wire, stream):
    async with FakeLLM([fault("error_in_200", message="busy")]) as llm:
        response = await ask(llm, wire, stream=stream)
    assert response.status_code == 200
    if not stream:
        assert wire.error(response)[0] == "busy"
        return
    *before, last = wire.events(response)
    assert '"busy"' in json.dumps(last)
    if wire.name == "responses":
        assert [one["type"] for one in (*before, last)] == FAILED
        assert before[-1]["error"]["message"] == "busy"
        return
    assert len(before) == (wire.name in OPENINGS)
    assert all(OPENINGS[wire.name] in json.dumps(one) for one in before)
    if wire.name.startswith("bedrock"):
        assert last == {"serviceUnavailableException": {"message": "busy"}}
    elif wire.name == "anthropic":
        assert 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"' in response.text
    elif wire.name == "cohere":
        assert last == {"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "busy"}}


@pytest.mark.parametrize("status", [200, 502])
async def test_an_html_body(ask, wire, stream, status):
    async with FakeLLM([fault("html_body", status=status)]) as llm:
        response = await ask(llm, wire, stream=stream)
    assert (response.status_code, response.headers["content-type"]) == (status, "text/html")
    assert response.text.startswith("<!DOCTYPE html>")


async def test_an_empty_body(ask, wire, stream):
    async with FakeLLM([fault("empty_body")]) as llm:
        response = await ask(llm, wire, stream=stream)
    assert (response.status_code, response.content) == (200, b"")


async def test_malformed_json(ask, wire, stream):
    async with FakeLLM([reply("a text of some length", fault="malformed_json")]) as llm:
        response = await ask(llm, wire, stream=stream)
    assert response.status_code == 200
    with pytest.raises(json.JSONDecodeError):
        wire.read(response, stream)


@pytest.mark.parametrize("text", ["", "short", "a text of several pieces, surely"])
async def test_a_dropped_stream_ends_cleanly_without_a_sign_of_its_end(ask, wire, text):
    async with FakeLLM([reply(text, fault="dropped_stream")]) as llm:
        response = await ask(llm, wire, stream=True)
    ends = ("[DONE]", "message_delta", "message_stop", "finishReason", '"finish_reason":"stop"', "message-end")
    ends += ("messageStop", "response.completed")
    assert response.status_code == 200
    assert response.content or len(text) < 10
    assert not any(end in response.text for end in (*ends, '"done":true'))


@pytest.mark.parametrize("after", [0, 1, 3])
async def test_a_dropped_stream_can_end_after_any_number_of_events(ask, wire, after):
    said = reply("a text of several pieces, more than four", fault=fault("dropped_stream", after=after))
    async with FakeLLM([said]) as llm:
        response = await ask(llm, wire, stream=True)
    assert len(wire.events(response)) == after


async def test_a_whole_body_can_break_off(ask, wire):
    async with FakeLLM([reply("text", fault="dropped_stream"), "fine"]) as llm:
        with pytest.raises(httpx.TransportError):
            await ask(llm, wire)
        assert wire.read(await ask(llm, wire), stream=False)["text"] == "fine"


async def test_a_dropped_connection_gives_no_byte(ask, wire, stream):
    async with FakeLLM([fault("dropped_connection"), "fine"]) as llm:
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            await ask(llm, wire, stream=stream)
        assert wire.read(await ask(llm, wire, stream=stream), stream)["text"] == "fine"


async def test_slow_bytes_cut_characters_and_still_add_up(http, wire, stream):
    text = "ünïcödé → 🐙"
    pieces = []
    async with FakeLLM([reply(text, fault=fault("slow_bytes", size=5, delay=0.001))]) as llm:
        request = http.build_request("POST", wire.address(llm, stream), json=wire.request(stream=stream))
        request.headers.update(wire.headers())
        response = await http.send(request, stream=True)
        async for piece in response.aiter_raw():
            pieces.append(piece)
    whole = httpx.Response(200, content=b"".join(pieces))
    assert len(pieces) > 10
    assert wire.read(whole, stream)["text"] == text


async def test_a_hang_ends_by_itself_without_an_answer(ask, wire):
    async with FakeLLM([fault("hang", seconds=0.05)]) as llm:
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            await ask(llm, wire)


async def test_a_hang_does_not_outlive_the_server(wires):
    began = asyncio.get_running_loop().time()
    arrived = asyncio.Event()

    def hang(heard):
        arrived.set()
        return fault("hang", seconds=30)

    async with httpx.AsyncClient(timeout=5) as client:
        async with FakeLLM(hang) as llm:
            wire = wires["openai"]
            asked = asyncio.create_task(client.post(wire.address(llm), json=wire.request()))
            await arrived.wait()
        with pytest.raises(httpx.TransportError):
            await asked
    assert asyncio.get_running_loop().time() - began < 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fault("429s"), "unknown fault '429s'. Did you mean '429'?"),
        (lambda: fault("399"), "unknown fault '399'"),
        (lambda: fault("429", retry_afte=1), "has no parameter 'retry_afte'. Did you mean 'retry_after'?"),
        (lambda: fault("429", retry_after="1"), "must be a number, 0 or more, not '1'"),
        (lambda: fault("hang", seconds=1e9), "may be at most 60 seconds"),
        (lambda: fault("400", message=1), "must be a text"),
        (lambda: reply("x", fault="cut_arguments"), "does something to calls, and this reply has none"),
        (lambda: fault("index_gap") and reply(fault=fault("index_gap")), "this reply has none"),
    ],
    ids=["name", "status", "parameter", "type", "long", "text", "no calls", "no calls either"],
)
def test_a_fault_that_cannot_work_is_a_config_error(make, message):
    with pytest.raises(ConfigError) as error:
        make()
    assert message in str(error.value)


async def test_faults_before_a_later_turn_belong_to_that_turn(ask, wire):
    script = [call("search", query="x"), fault("503"), fault("529"), "done"]
    async with FakeLLM(script) as llm:
        read = wire.read(await ask(llm, wire), stream=False)
        history = wire.turn(read, ["r"])
        statuses = [(await ask(llm, wire, history=history)).status_code for _ in range(4)]
    assert statuses == [503, 529, 200, 200]


async def test_calls_beside_a_fault_of_the_bytes_still_count_as_a_turn(ask, wire):
    said = calls(*TWO_CALLS)
    async with FakeLLM([reply(calls=said.calls, fault=fault("slow_bytes", delay=0)), "done"]) as llm:
        read = wire.read(await ask(llm, wire), stream=False)
        last = await ask(llm, wire, history=wire.turn(read, ["1", "2"]))
    assert wire.read(last, stream=False)["text"] == "done"
