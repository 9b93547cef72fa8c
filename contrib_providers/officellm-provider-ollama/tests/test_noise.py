"""Whatever a server sends, whole or as a stream, is a reply or a fault with words: no other exception."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st
from officellm_provider_ollama.wire import Ollama

from officellm import FaultError, Request, StreamEvent, User

REQUEST = Request(model="m", messages=(User("Hi"),))
KEYS = [
    "message",
    "content",
    "thinking",
    "tool_calls",
    "id",
    "function",
    "name",
    "arguments",
    "done",
    "done_reason",
    "response",
    "error",
    "prompt_eval_count",
    "eval_count",
    "model",
]
VALUES = ["stop", "length", "load", "{}"]
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.sampled_from(VALUES))
JSON = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)),
    max_leaves=25,
)


def fault_of(read, *given):
    """What the reader says went wrong; None where it gave a reply."""
    try:
        read(*given)
    except FaultError as error:
        return error.fault
    return None


def has_words(fault):
    return fault is None or bool(fault.message.strip())


@given(value=JSON)
def test_any_json_is_a_reply_or_a_fault(value):
    assert has_words(fault_of(Ollama().parse, json.dumps(value).encode(), REQUEST))


@given(values=st.lists(JSON, max_size=6))
def test_any_stream_is_a_reply_or_a_fault(values):
    parser = Ollama().stream_parser(REQUEST)
    faults = [fault_of(parser.feed, StreamEvent(("", json.dumps(value)))) for value in values]

    assert all(map(has_words, [*faults, fault_of(parser.finish)]))


@given(body=st.binary(max_size=60))
@pytest.mark.parametrize("status", [400, 429, 503])
def test_any_error_body_is_a_fault(status, body):
    assert Ollama().classify(status, {}, body).retryable == (status != 400)
