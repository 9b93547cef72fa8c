"""The JSON form of messages, requests and replies: nothing is lost, and what does not fit is said with its place."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from officellm import (
    Assistant,
    ConfigError,
    Media,
    OutputSchema,
    Reply,
    Request,
    System,
    Text,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    User,
    dumps,
    loads,
)
from officellm.neutral import (
    message_from_dict,
    messages_from_list,
    reply_from_dict,
    reply_to_dict,
    request_from_dict,
    request_to_dict,
)

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=3)
RAW = st.one_of(OBJECTS, TEXTS, st.just('{"cut": '), st.just(""), st.just('{"a": 1, "a": 1}'))
CALLS = st.builds(ToolCall.parse, TEXTS, TEXTS, RAW, st.none() | OBJECTS)
MEDIA = st.builds(Media, TEXTS, st.none() | st.binary(max_size=9), st.none() | TEXTS, st.none() | TEXTS)
PARTS = st.builds(Text, TEXTS) | MEDIA
ASSISTANTS = st.builds(
    Assistant,
    TEXTS,
    st.lists(CALLS, max_size=3).map(tuple),
    TEXTS,
    JSON,
    st.none() | st.tuples(TEXTS, TEXTS),
)
MESSAGES = st.one_of(
    st.builds(System, TEXTS),
    st.builds(User, TEXTS | st.lists(PARTS, max_size=3).map(tuple)),
    ASSISTANTS,
    st.builds(ToolResult, TEXTS, TEXTS, TEXTS, st.booleans()),
)
OUTPUTS = st.builds(OutputSchema, TEXTS, OBJECTS, TEXTS, st.dictionaries(TEXTS, TEXTS, max_size=2))
REQUESTS = st.builds(
    Request,
    model=TEXTS,
    messages=st.lists(MESSAGES, max_size=4),
    tools=st.lists(st.builds(ToolSpec, TEXTS, TEXTS, OBJECTS), max_size=2),
    tool_choice=TEXTS.filter(bool),
    parallel_calls=st.none() | st.booleans(),
    output=st.none() | OUTPUTS,
    settings=OBJECTS,
    stream=st.booleans(),
)
COUNTS = st.integers(0, 10**9)
USAGES = st.builds(
    Usage,
    *[COUNTS] * 6,
    cost_usd=st.none() | st.floats(0, 100),
    complete=st.booleans(),
)
REPLIES = st.builds(
    Reply,
    ASSISTANTS,
    st.sampled_from(["stop", "tool_calls", "length", "refused", "error", "pause", "other"]),
    USAGES,
    *[st.none() | TEXTS, st.none() | OBJECTS, *[st.none() | TEXTS] * 3],
)


@given(REQUESTS)
def test_a_request_is_the_same_after_a_file(request_):
    assert request_from_dict(loads(dumps(request_to_dict(request_)))) == request_


@given(REPLIES)
def test_a_reply_is_the_same_after_a_file(reply):
    assert reply_from_dict(loads(dumps(reply_to_dict(reply)))) == reply


@given(JSON)
def test_any_json_is_read_or_refused_with_its_place(value):
    for read in (messages_from_list, request_from_dict, reply_from_dict):
        refusals = []
        try:
            read(value)
        except ConfigError as error:
            refusals.append(error.place)
        assert None not in refusals


def test_a_call_written_by_hand_needs_no_raw_text():
    value = {"role": "assistant", "calls": [{"id": "c1", "name": "search", "arguments": {"q": "tide"}}]}

    assert message_from_dict(value) == Assistant(calls=(ToolCall.parse("c1", "search", {"q": "tide"}),))


@pytest.mark.parametrize(
    ("value", "place", "words"),
    [
        ({"role": "robot"}, "message", "unknown role 'robot'"),
        ({"role": "user", "text": "hi"}, "message", "unknown key 'text'"),
        ({"role": "user", "content": 5}, "message.content", "must be a list, not 5"),
        ({"role": "user", "content": [{"type": "image"}]}, "message.content[0]", "unknown type 'image'"),
        (
            {"role": "user", "content": [{"type": "media", "media_type": "image/png", "data": "%"}]},
            "message.content[0].data",
            "must be base64",
        ),
        ({"role": "tool", "is_error": "yes"}, "message.is_error", "must be true or false, not 'yes'"),
        ({"role": "assistant", "calls": [{"id": 7}]}, "message.calls[0].id", "must be a text, not 7"),
        ({"role": "assistant", "origin": "x"}, "message.origin", "must be the format and the model"),
        ("hello", "message", "must be an object, not 'hello'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_does_not_fit_is_said_with_its_place(value, place, words):
    with pytest.raises(ConfigError, match=re.escape(words)) as raised:
        message_from_dict(value)

    assert raised.value.place == place
