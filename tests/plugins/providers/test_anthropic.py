"""What the Anthropic wire format sends is what the vendor accepts."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings

from officellm import Assistant, Media, OutputSchema, Request, System, Text, ToolCall, ToolResult, ToolSpec, User
from officellm.testing import histories
from officellm_builtin.providers.anthropic import DEFAULT_MAX_TOKENS, Anthropic, AnthropicSettings

from .anthropic_samples import BASE, MODEL, WIRE, body, call, check_legal, request
from .search_tool import TOOL


@settings(max_examples=200, deadline=None)
@given(history=histories(WIRE.name, MODEL))
def test_any_history_becomes_a_legal_body_without_foreign_signatures(history):
    sent = WIRE.build(Request(model=MODEL, messages=history), BASE).body

    check_legal(json.loads(sent))
    assert b"FOREIGN" not in sent


def test_three_calls_get_three_results_first_in_one_user_message():
    sent = body(
        User("go"),
        Assistant(calls=(call("a"), call("b"), call("c"))),
        ToolResult("a", "search", "1"),
        ToolResult("b", "search", "2", is_error=True),
        ToolResult("c", "search", ""),
        User("and now?"),
        tools=[TOOL],
    )

    assert sent["messages"][2] == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "1"},
            {"type": "tool_result", "tool_use_id": "b", "content": "2", "is_error": True},
            {"type": "tool_result", "tool_use_id": "c", "content": "(empty)"},
            {"type": "text", "text": "and now?"},
        ],
    }


def test_an_id_that_the_vendor_refuses_is_replaced_in_the_call_and_in_its_result():
    sent = body(User("go"), Assistant(calls=(call("call:1.2"),)), ToolResult("call:1.2", "search", "1"), tools=[TOOL])

    used = sent["messages"][1]["content"][0]["id"]
    assert used != "call:1.2"
    assert sent["messages"][2]["content"][0]["tool_use_id"] == used
    check_legal(sent)


def test_without_tools_nothing_about_tools_is_sent():
    sent = body(tool_choice="required", parallel_calls=False)

    assert sent == {
        "model": MODEL,
        "max_tokens": DEFAULT_MAX_TOKENS,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
    }


def test_tools_of_the_history_are_declared_where_the_agent_has_none():
    sent = body(User("go"), Assistant(calls=(call("a"),)), ToolResult("a", "search", "1"))

    assert [tool["name"] for tool in sent["tools"]] == ["search"]
    assert sent["tool_choice"] == {"type": "none"}


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        pytest.param({}, None, id="auto is the default"),
        pytest.param({"tool_choice": "none"}, {"type": "none"}, id="none"),
        pytest.param({"tool_choice": "required"}, {"type": "any"}, id="required"),
        pytest.param({"tool_choice": "search"}, {"type": "tool", "name": "search"}, id="one tool"),
        pytest.param({"parallel_calls": True}, None, id="parallel is the default"),
        pytest.param(
            {"parallel_calls": False}, {"type": "auto", "disable_parallel_tool_use": True}, id="auto, one at a time"
        ),
        pytest.param({"tool_choice": "none", "parallel_calls": False}, {"type": "none"}, id="none has no parallel"),
        pytest.param(
            {"tool_choice": "required", "settings": {"thinking": {"type": "enabled", "budget_tokens": 2000}}},
            None,
            id="thinking takes no forced choice",
        ),
    ],
)
def test_the_tool_choice_is_said_in_the_vendors_words(fields, wanted):
    assert body(tools=[TOOL], **fields).get("tool_choice") == wanted


def test_one_wanted_tool_is_offered_alone_where_thinking_takes_no_forced_choice():
    other = ToolSpec("other", "", {})
    sent = body(
        tools=[other, TOOL], tool_choice="search", settings={"thinking": {"type": "enabled", "budget_tokens": 2000}}
    )

    assert [tool["name"] for tool in sent["tools"]] == ["search"]


def test_settings_are_sent_under_the_vendors_names_and_only_those_that_were_set():
    sent = body(
        System("Be brief."),
        User("hi"),
        settings={
            "max_tokens": 10,
            "temperature": 0.2,
            "top_p": None,
            "stop": "END",
            "reasoning_effort": "low",
            "metadata": {"user_id": "u"},
            "extra": {"container": "c", "output_config": {"x": 1}, "tools": [{"type": "web_search_20250305"}]},
        },
        stream=True,
    )

    del sent["messages"]
    assert sent == {
        "model": MODEL,
        "max_tokens": 10,
        "temperature": 0.2,
        "stop_sequences": ["END"],
        "output_config": {"effort": "low", "x": 1},
        "metadata": {"user_id": "u"},
        "container": "c",
        "tools": [{"type": "web_search_20250305"}],
        "system": [{"type": "text", "text": "Be brief."}],
        "stream": True,
    }


def test_the_default_maximum_leaves_room_beside_the_thinking_budget():
    sent = body(settings={"thinking": {"type": "enabled", "budget_tokens": 10_000}})

    assert sent["max_tokens"] > 10_000


def test_a_typed_output_is_asked_for_with_every_object_closed():
    schema = {"type": "object", "properties": {"properties": {"type": "array", "items": {"properties": {}}}}}
    sent = body(output=OutputSchema("post", schema))

    assert sent["output_config"]["format"] == {
        "type": "json_schema",
        "schema": {
            "type": "object",
            "properties": {
                "properties": {"type": "array", "items": {"properties": {}, "additionalProperties": False}},
            },
            "additionalProperties": False,
        },
    }
    assert WIRE.output_mode(request()) == "prompt"


def test_images_and_documents_become_blocks_and_an_unknown_file_is_named():
    sent = body(
        User(
            (
                Text("look"),
                Media("image/png", data=b"\x00"),
                Media("image/png", url="https://e.org/x.png"),
                Media("application/pdf", data=b"\x00", name="x.pdf"),
                Media("text/csv", data=b"a,b"),
                Media("audio/mpeg", data=b"\x00", name="x.mp3"),
            )
        )
    )

    content = sent["messages"][0]["content"]
    assert content[:5] == [
        {"type": "text", "text": "look"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
        {"type": "image", "source": {"type": "url", "url": "https://e.org/x.png"}},
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "AA=="},
            "title": "x.pdf",
        },
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a,b"}},
    ]
    assert "audio/mpeg" in content[5]["text"]
    assert "x.mp3" in content[5]["text"]


def test_the_cache_is_marked_on_instructions_tools_and_the_last_block():
    mark = {"type": "ephemeral"}
    history = (System("s"), User("go"), Assistant(calls=(call("a"),)), ToolResult("a", "search", "1"))
    sent = body(*history, tools=[TOOL, ToolSpec("b", "", {})], wire=Anthropic(cache=True))

    assert sent["system"][-1]["cache_control"] == mark
    assert [tool.get("cache_control") for tool in sent["tools"]] == [None, mark]
    assert sent["messages"][-1]["content"][-1]["cache_control"] == mark
    assert json.dumps(sent).count("cache_control") == 3
    assert "cache_control" not in json.dumps(body(*history, tools=[TOOL]))


@pytest.mark.parametrize(
    ("base", "url"),
    [
        (BASE, f"{BASE}/v1/messages"),
        (f"{BASE}/", f"{BASE}/v1/messages"),
        (f"{BASE}/v1/", f"{BASE}/v1/messages"),
        (f"{BASE}/v1/messages", f"{BASE}/v1/messages"),
        (f"{BASE}/v1/messages?beta=true", f"{BASE}/v1/messages?beta=true"),
        ("http://gateway/anthropic", "http://gateway/anthropic/v1/messages"),
    ],
)
def test_the_base_url_may_be_a_root_or_the_full_endpoint(base, url):
    assert WIRE.build(request(), base).url == url
    assert WIRE.models_request(base).url == f"{url.partition('/v1/')[0]}/v1/models?limit=1000"


def test_the_key_goes_into_its_header_and_the_version_into_another():
    assert WIRE.auth("k") == {"x-api-key": "k"}
    assert WIRE.build(request(), BASE).headers["anthropic-version"] == "2023-06-01"


def test_models_are_listed_by_id():
    assert WIRE.parse_models(b'{"data":[{"id":"a"},{"id":"b"},{}]}') == ["a", "b"]


def test_a_turn_costs_what_is_new():
    history: list[Any] = [User("go")]
    for turn in range(100):
        history += [Assistant("t" * 200, (call(f"c{turn}"),)), ToolResult(f"c{turn}", "search", "r" * 200)]
    asked = request(*history, tools=[TOOL])

    def seconds() -> float:
        start = time.perf_counter()
        WIRE.build(asked, BASE)
        return time.perf_counter() - start

    seconds()
    assert min(seconds() for _ in range(20)) < 0.002


def test_the_settings_of_a_block_take_the_cache_option_and_no_unknown_one():
    assert AnthropicSettings(base_url=BASE, cache=True).cache is True
    with pytest.raises(ValueError, match="chace"):
        AnthropicSettings(base_url=BASE, chace=True)


@pytest.mark.parametrize(("thought", "thinks"), [(True, True), (False, False)], ids=["own", "another vendor's"])
def test_a_turn_whose_calls_carry_no_thought_goes_on_without_thinking(thought, thinks):
    native = [{"type": "thinking", "thinking": "t", "signature": "s"}, {"type": "tool_use", "id": "t1", "name": "f"}]
    own = {"native": native, "origin": ("anthropic", "m")} if thought else {}
    turn = Assistant("", (ToolCall("t1", "f", {}),), **own)
    settings = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 4096}
    history = [User("hi"), turn, ToolResult("t1", "f", "six")]
    body = json.loads(Anthropic().build(Request(model="m", messages=history, settings=settings), "http://h").body)
    assert ("thinking" in body) is thinks
    answered = [*history, Assistant("done"), User("more")]
    body = json.loads(Anthropic().build(Request(model="m", messages=answered, settings=settings), "http://h").body)
    assert "thinking" in body
