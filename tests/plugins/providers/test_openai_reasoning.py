from __future__ import annotations

import json

import pytest

from officellm import (
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolResult,
    User,
)
from officellm_builtin.providers.openai_compat import OpenAICompat, OpenAICompatSettings

from .openai_chat import CALL, STREAM, delta, sent_messages, streamed, whole


@pytest.mark.parametrize(
    "fields", [{"reasoning_content": "hm"}, {"reasoning": "hm"}, {"reasoning": "hm", "reasoning_content": "hm"}]
)
def test_reasoning_is_taken_once_from_whatever_field(fields):
    assert whole({"content": "x", **fields}).message.reasoning == "hm"
    assert streamed(delta(**fields), delta("stop", content="x")).message.reasoning == "hm"


def test_reasoning_details_are_joined_and_go_back_unchanged():
    def detail(**fields):
        return delta(reasoning_details=[{"index": 0, "format": "f", **fields}])

    reply = streamed(
        detail(type="reasoning.text", text="I th"),
        detail(type="reasoning.text", text="ink"),
        detail(type="reasoning.text", signature="S"),
        detail(type="reasoning.encrypted", data="D", id="e"),
        delta("stop", content="x"),
    )
    details = [
        {"index": 0, "format": "f", "type": "reasoning.text", "text": "I think", "signature": "S"},
        {"index": 0, "format": "f", "type": "reasoning.encrypted", "data": "D", "id": "e"},
    ]

    assert reply.message.reasoning == "I think"
    assert sent_messages(User("u"), reply.message)[1]["reasoning_details"] == details


def test_content_in_parts_is_read_and_goes_back_in_parts():
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "ok"}]
    pieces = [
        delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "h"}]}]),
        delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "m"}]}]),
        delta(content="o"),
        delta(content=[{"type": "text", "text": "k"}]),
    ]

    for reply in (whole({"content": parts}), streamed(*pieces, delta("stop"))):
        assert (reply.message.text, reply.message.reasoning) == ("ok", "hm")
        assert sent_messages(User("u"), reply.message)[1]["content"] == parts


THOUGHTS = {
    "a thought": ("<think>hm</think>\n\nok", "ok", "hm"),
    "only the closing tag": ("hm\n</think>ok", "ok", "hm"),
    "a thought that was cut": ("<think>hm", "", "hm"),
    "no thought": ("a < b ", "a < b ", ""),
}


@pytest.mark.parametrize(("content", "text", "reasoning"), THOUGHTS.values(), ids=THOUGHTS)
def test_thoughts_between_tags_are_taken_out_where_the_settings_say_so(content, text, reasoning):
    wire = OpenAICompat(OpenAICompatSettings(think_tags=True))

    reply = streamed(*(delta(content=letter) for letter in content), delta("stop"), wire=wire)

    assert (reply.message.text, reply.message.reasoning) == (text, reasoning)
    assert streamed(delta("stop", content=content)).message.text == content


def test_a_tag_cut_over_chunks_is_not_shown():
    parser = OpenAICompat(OpenAICompatSettings(think_tags=True)).stream_parser(STREAM)

    shown = [
        d
        for each in ["<th", "ink>h", "m</", "think>a<b"]
        for d in parser.feed(StreamEvent(("", json.dumps(delta(content=each)))))
    ]

    assert shown == [ReasoningDelta("h"), ReasoningDelta("m"), TextDelta("a<b")]


def test_what_the_vendor_wants_back_goes_to_the_same_model_only_and_under_the_present_ids():
    extra = {"extra_content": {"google": {"thought_signature": "S"}}}
    reply = whole({"extra_content": {"google": {}}, "tool_calls": [{**CALL[0], "id": "", **extra}]}, "tool_calls")
    result = ToolResult("", "f", "ok")

    same = sent_messages(User("u"), reply.message, result)[1]
    other = sent_messages(User("u"), reply.message, result, model="other")[1]

    assert same["extra_content"] == {"google": {}}
    assert same["tool_calls"][0] == {**CALL[0], **extra, "id": "call_1_0"}
    assert "extra_content" not in other
    assert other["tool_calls"] == [{**CALL[0], "id": "call_1_0"}]


def test_extra_fields_of_a_call_go_back_without_fields_of_the_message():
    extra = {"extra_content": {"google": {"thought_signature": "S"}}}
    reply = whole({"tool_calls": [{**CALL[0], **extra}]}, "tool_calls")

    assert sent_messages(User("u"), reply.message)[1]["tool_calls"] == [{**CALL[0], **extra}]
    assert sent_messages(User("u"), reply.message, model="other")[1]["tool_calls"] == CALL


REASONING = {
    "with calls, as received": ({"reasoning_content": "", "tool_calls": CALL}, {}, ""),
    "without calls, as received": ({"reasoning_content": "hm", "content": "x"}, {}, None),
    "with calls, none received": ({"tool_calls": CALL}, {}, None),
    "with calls, always": ({"tool_calls": CALL}, {"send_reasoning": "always"}, ""),
    "with calls, never": ({"reasoning_content": "hm", "tool_calls": CALL}, {"send_reasoning": "never"}, None),
}


@pytest.mark.parametrize(("message", "options", "wanted"), REASONING.values(), ids=REASONING)
def test_reasoning_goes_back_where_a_vendor_demands_it(message, options, wanted):
    reply = whole(message, "stop")

    assert sent_messages(User("u"), reply.message, **options)[1].get("reasoning_content") == wanted
