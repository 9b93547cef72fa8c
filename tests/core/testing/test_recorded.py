"""Recorded requests are read back, built again and compared; nothing that differs goes unseen."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from officellm import ConfigError, Fault, Host, dumps
from officellm.testing import finder, misread, play, rebuilt
from officellm.testing.exchanges import read_exchange
from officellm.testing.recorded.comparing import NOTHING, Equality, Known, compare
from officellm.testing.recorded.forms import gone, unless
from officellm.testing.recorded.rebuilding import asked_in, holds_request
from officellm.wire import FaultError

from .recorded_samples import ARGUMENTS, CHAT, REQUESTS


@pytest.fixture(scope="module")
def find():
    return finder(Host())


def recorded(format: str, body: Any, path: str = "", **response: Any):
    path = path or REQUESTS[format][0]
    return read_exchange(
        {"format": format, "request": {"host": "service.invalid", "path": path, "body": body}, "response": response}
    )


def changed(body: Any, path: str, value: Any) -> Any:
    """The body with another value at the path; lists and objects are copied on the way."""
    first, _, rest = path.partition("/")
    key: Any = int(first) if isinstance(body, list) else first
    out = list(body) if isinstance(body, list) else dict(body)
    out[key] = changed(out[key], rest, value) if rest else value
    return out


@pytest.mark.parametrize("format", REQUESTS)
def test_a_request_that_uses_everything_is_built_again(format, find):
    path, body = REQUESTS[format]

    found = rebuilt(recorded(format, body, path), find)

    assert (found.differences, found.known) == ((), frozenset())


@pytest.mark.parametrize("format", REQUESTS)
def test_a_recorded_request_is_read_in_neutral_terms(format, find):
    request = asked_in(recorded(format, REQUESTS[format][1]), find).request

    reply, result = request.messages[2:]
    assert request.messages[0].text == "Be brief."
    assert request.messages[1].content[0].text == "Here?"
    assert (reply.calls[0].name, reply.calls[0].arguments) == ("weather", ARGUMENTS)
    assert (result.call_id, result.name) == (reply.calls[0].id, "weather")
    assert [tool.name for tool in request.tools] == ["weather"]
    assert request.tool_choice == ("weather" if format == "gemini" else "required")


@pytest.mark.parametrize(
    ("format", "path", "value"),
    [
        ("openai_chat", "messages/1/content/0", {"type": "video", "video": "x"}),
        ("openai_chat", "messages/3/priority", 1),
        ("openai_chat", "tools/0/function/weight", 1),
        ("openai_chat", "tool_choice", {"type": "allowed_tools"}),
        ("openai_chat", "messages/2/tool_calls/0/function/arguments", "{"),
        ("anthropic", "messages/0/content/0", {"type": "container_upload", "file_id": "f"}),
        ("anthropic", "messages/0/content/0/citations", {"enabled": True}),
        ("anthropic", "tool_choice/extra", 1),
        ("gemini", "contents/0/parts/0/videoMetadata", {"fps": 1}),
        ("gemini", "tools/0/functionDeclarations/0/behavior", "NON_BLOCKING"),
    ],
)
def test_what_we_cannot_say_is_a_difference(format, path, value, find):
    found = rebuilt(recorded(format, changed(REQUESTS[format][1], path, value)), find)

    assert [str(one) for one in found.differences if path.rpartition("/")[0] in one.path]


def test_a_limit_of_ours_is_known_by_its_reason_and_hides_nothing_else(find):
    strict = changed(CHAT, "tools/0/function/strict", True)

    known = rebuilt(recorded("openai_chat", strict), find)
    more = rebuilt(recorded("openai_chat", changed(strict, "tools/0/function/weight", 1)), find)

    assert not known.is_same
    assert (known.differences, len(known.known)) == ((), 1)
    assert [one.path for one in more.differences] == ["body/tools/0/function/weight"]


def test_another_address_is_a_difference(find):
    found = rebuilt(recorded("openai_chat", CHAT, "/v9/answers"), find)

    assert [one.path for one in found.differences] == ["url"]


@pytest.mark.parametrize("odd", [None, True, 1, "x", [], {}, [[]], {"type": 1}], ids=repr)
@pytest.mark.parametrize("format", REQUESTS)
def test_no_body_is_too_odd_to_be_read(format, odd, find):
    path, body = REQUESTS[format]
    places = list(body) + [f"{name}/0" for name, value in body.items() if isinstance(value, list)]
    for place in places:
        with suppress(ConfigError):
            assert rebuilt(recorded(format, changed(body, place, odd), path), find)


class Refusing:
    """A wire format to which no body is a reply."""

    def parse(self, body, request):
        raise FaultError(Fault("malformed", "no such thing"))


def test_a_turn_of_the_model_that_is_no_reply_of_its_format_is_a_difference():
    (found,) = rebuilt(recorded("openai_chat", CHAT), lambda driver, options: Refusing()).differences

    assert "no such thing" in str(found)


def test_a_request_without_a_body_is_no_request():
    assert not holds_request(recorded("openai_chat", None))
    assert not holds_request(recorded("ollama_generate", {"prompt": "x"}, "/api/generate"))
    assert holds_request(recorded("openai_chat", CHAT))


@pytest.mark.parametrize(
    ("recorded_value", "built", "paths"),
    [
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
        ({"a": 1}, {"a": True}, ["a"]),
        ({"a": {"b": 1}}, {"a": {}}, ["a/b"]),
        ({}, {"a": None}, ["a"]),
        ([1, 2], [2, 1], ["/0", "/1"]),
        ([1], [1, 2], [""]),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, ["a/0/b"]),
    ],
    ids=repr,
)
def test_two_values_differ_where_they_do(recorded_value, built, paths):
    assert [one.path for one in compare(recorded_value, built, ()).differences] == paths


def test_an_equality_holds_only_at_its_places():
    null = Equality("null is nothing", ("a/*", "b/**"), unless(None), but=("b/c",))

    sent = {"a": {"x": None, "y": {"z": None}}, "b": {"c": None, "d": {"e": None}}}

    found = compare(sent, {"a": {"y": {}}, "b": {"d": {}}}, (null,))

    assert [one.path for one in found.differences] == ["a/y/z", "b/c"]
    assert (found.equal_because, found.known) == ({"null is nothing"}, frozenset())


def test_a_rule_that_changes_nothing_is_not_counted():
    rules = (Equality("never", ("a",), unless(7)), Known("unsaid", ("b",), gone))

    found = compare({"a": 1, "b": 2}, {"a": 2, "b": 2}, rules)

    assert (len(found.differences), found.known, found.equal_because) == (1, frozenset(), frozenset())


def test_a_difference_says_what_was_sent_and_what_is_built():
    (found,) = compare({"a": "x" * 200}, {}, ()).differences

    assert found.built is NOTHING
    assert str(found).startswith('a: "xxx')
    assert str(found).endswith("... was sent, nothing is built")


def reply_to_groq(vendor: str, **expect: Any):
    chunk = {
        "choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}],
        "x_groq": {"usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}},
    }
    body = f"data: {dumps(chunk).decode()}\n\ndata: [DONE]\n\n"
    wanted = {"text": "hi", "tool_calls": [], "finish_reason": "stop", "usage": None, **expect}
    response = {"status": 200, "framing": "sse", "sse": body}
    return read_exchange({"format": "openai_chat", "vendor": vendor, "response": response, "expect": wanted})


@pytest.mark.parametrize(
    ("vendor", "expect", "wrong"),
    [
        ("groq", {}, []),
        ("groq", {"text": "ho"}, ["text: 'hi', not 'ho'"]),
        ("groq", {"finish_reason": "length"}, ["finish: 'stop', not 'length'"]),
        ("groq", {"usage": {"input": 1, "output": 2, "total": 4}}, ["usage, total: 3, not 4"]),
        ("openai", {}, ["usage, input: 1, not None", "usage, output: 2, not None", "usage, total: 3, not None"]),
        ("groq", {"error": {"status": 500, "retryable": True}}, ["a reply instead of an error: 'hi'"]),
        ("groq", {"reasoning": "hm"}, ["reasoning: '', not 'hm'"]),
    ],
)
def test_a_reading_is_held_against_what_is_expected(vendor, expect, wrong, find):
    exchange, wire = reply_to_groq(vendor, **expect), find("openai_compat", {})

    assert misread(wire, exchange, play(wire, exchange)) == wrong


def test_a_fault_is_held_against_the_expected_error(find):
    wire, exchange = find("openai_compat", {}), reply_to_groq("groq", error={"status": 429, "retryable": None})
    asked = reply_to_groq("groq")

    assert misread(wire, exchange, Fault("rate_limit", "slow down", 429, retryable=True)) == []
    assert misread(wire, exchange, Fault("server", "broken", 500)) == ["status: 500, not 429"]
    assert misread(wire, asked, Fault("server", "broken", 500))[0].startswith("a fault instead of a reply")
