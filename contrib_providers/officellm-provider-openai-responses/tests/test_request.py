"""What a request becomes: nothing that was not asked for, and what was asked for as the vendor takes it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from officellm_provider_openai_responses import OpenAIResponses, OpenAIResponsesSettings, make_provider, settings_model
from officellm_provider_openai_responses.wire import endpoint

from officellm import (
    Assistant,
    ConfigError,
    Media,
    OutputSchema,
    Request,
    System,
    Text,
    ToolCall,
    ToolResult,
    ToolSpec,
    User,
    WireFormat,
)

from .samples import BASE, MODEL, WIRE, check_legal, sent

TOOLS = [ToolSpec("f", "Finds.", {}), ToolSpec("g", "", {})]
CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


def test_it_is_a_wire_format() -> None:
    assert isinstance(WIRE, WireFormat)
    assert WIRE.output_mode(Request(model="m", messages=())) == "native"


def test_nothing_is_sent_that_was_not_asked_for() -> None:
    plain = {
        "model": MODEL,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "input": [{"role": "user", "content": "hi"}],
    }

    assert sent() == plain
    assert sent(tool_choice="required", parallel_calls=False) == plain
    assert sent(stream=True) == {**plain, "stream": True}


def test_a_conversation_is_encoded_as_documented() -> None:
    calls = (ToolCall.parse("a", "f", '{"x": "é"}'), ToolCall.parse("b", "f", ""))
    body = sent(
        System("be brief"),
        User((Text("look "), Text("here"))),
        Assistant("I look.", calls),
        ToolResult("a", "f", "18 °C"),
        ToolResult("b", "f", "no such city", is_error=True),
        Assistant("done"),
    )

    assert body["instructions"] == "be brief"
    assert body["input"] == [
        {"role": "user", "content": "look here"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
        },
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": '{"x":"é"}'},
        {"type": "function_call", "call_id": "b", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "18 °C"},
        {"type": "function_call_output", "call_id": "b", "output": "Error: no such city"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "done", "annotations": []}],
        },
    ]


def test_instructions_alone_still_have_an_input() -> None:
    body = sent(System("be brief"))

    check_legal(body)
    assert "instructions" not in sent(System("  "), User("hi"))


def test_media_become_parts() -> None:
    [message] = sent(
        User(
            (
                Text("see"),
                Text(""),
                Media("image/png", b"\x00"),
                Media("image/jpeg", url="https://x/y.jpg"),
                Media("application/pdf", b"\x00", name="a.pdf"),
                Media("text/csv", b"\x00"),
                Media("application/pdf", url="https://x/a.pdf"),
            )
        )
    )["input"]

    assert message["content"] == [
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": "data:image/png;base64,AA=="},
        {"type": "input_image", "image_url": "https://x/y.jpg"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="},
        {"type": "input_file", "filename": "file.csv", "file_data": "data:text/csv;base64,AA=="},
        {"type": "input_file", "file_url": "https://x/a.pdf"},
    ]


def test_a_long_id_of_another_vendor_is_shortened_in_call_and_result_alike() -> None:
    long = "x" * 70
    body = sent(User("u"), Assistant("", (ToolCall.parse(long, "f", ""),)), ToolResult(long, "f", "ok"))

    check_legal(body)


def test_tools_are_flat_with_legal_names_and_strict_where_the_schema_is() -> None:
    tools = [
        ToolSpec("now", " ", {}),
        ToolSpec("files.read", "Reads.", {"type": "object", "properties": {"p": {}}, "required": []}),
        ToolSpec("find", "Finds.", CLOSED),
    ]
    now, read, find = sent(tools=tools)["tools"]

    assert now == {
        "type": "function",
        "name": "now",
        "parameters": {"type": "object", "properties": {}},
        "strict": False,
    }
    assert read["parameters"] == {"type": "object", "properties": {"p": {}}}
    assert (read["description"], read["strict"], "." in read["name"]) == ("Reads.", False, False)
    assert (find["parameters"], find["strict"]) == (CLOSED, True)


CHOICES = {
    "auto": ("auto", True, None, ["f", "g"]),
    "none": ("none", True, "none", ["f", "g"]),
    "required": ("required", True, "required", ["f", "g"]),
    "named": ("g", True, {"type": "function", "name": "g"}, ["f", "g"]),
    "required-unforced": ("required", False, None, ["f", "g"]),
    "named-unforced": ("g", False, None, ["g"]),
    "none-unforced": ("none", False, "none", ["f", "g"]),
}


@pytest.mark.parametrize(("choice", "forced", "expected", "offered"), CHOICES.values(), ids=CHOICES)
def test_a_tool_choice_is_put_in_the_vendors_words(choice: str, forced: bool, expected: Any, offered: Any) -> None:
    body = sent(wire=OpenAIResponses(forced_tool_choice=forced), tools=TOOLS, tool_choice=choice)

    assert body.get("tool_choice") == expected
    assert [tool["name"] for tool in body["tools"]] == offered


@pytest.mark.parametrize("parallel", [True, False, None])
def test_parallel_calls_are_a_wish_or_not_mentioned(parallel: bool | None) -> None:
    assert sent(tools=TOOLS, parallel_calls=parallel).get("parallel_tool_calls") is parallel


def test_settings_stand_where_the_format_has_them() -> None:
    body = sent(
        settings={
            "max_tokens": 100,
            "reasoning_effort": "low",
            "reasoning": {"summary": "auto"},
            "text": {"verbosity": "low"},
            "temperature": 0,
            "top_p": None,
            "prompt_cache_key": "team",
        },
        output=OutputSchema("My Post", CLOSED),
    )

    assert body["max_output_tokens"] == 100
    assert body["reasoning"] == {"effort": "low", "summary": "auto"}
    assert body["text"]["verbosity"] == "low"
    assert (body["text"]["format"]["type"], body["text"]["format"]["schema"]) == ("json_schema", CLOSED)
    assert " " not in body["text"]["format"]["name"]
    assert (body["temperature"], body["prompt_cache_key"]) == (0, "team")
    assert not {"max_tokens", "reasoning_effort", "top_p"} & body.keys()


def test_extra_is_merged_last_and_its_tools_are_added() -> None:
    body = sent(
        tools=TOOLS,
        tool_choice="required",
        settings={
            "reasoning_effort": "low",
            "include": ["web_search_call.action.sources"],
            "extra": {
                "tools": [{"type": "web_search"}],
                "include": ["reasoning.encrypted_content", "message.output_text.logprobs"],
                "reasoning": {"summary": "detailed"},
                "tool_choice": "auto",
                "truncation": "auto",
            },
        },
    )

    assert [tool["type"] for tool in body["tools"]] == ["function", "function", "web_search"]
    assert body["include"] == [
        "web_search_call.action.sources",
        "reasoning.encrypted_content",
        "message.output_text.logprobs",
    ]
    assert body["reasoning"] == {"effort": "low", "summary": "detailed"}
    assert (body["tool_choice"], body["truncation"]) == ("auto", "auto")


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": float("nan")},
        {"metadata": {"a": object()}},
        {"extra": {"tools": [object()]}},
        {"include": 7},
    ],
    ids=["nan", "object", "tool", "include"],
)
def test_settings_that_are_no_json_are_the_users_mistake(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="settings"):
        sent(settings=settings)


ENCRYPTED = {
    "reasoning": ("gpt-5.2", None, {}, True),
    "o-series": ("o4-mini", None, {}, True),
    "grok": ("grok-4.3", None, {}, True),
    "deepseek": ("deepseek-v4-flash", None, {}, True),
    "gpt-4o": ("gpt-4o-mini", None, {}, False),
    "gateway": ("openai/gpt-4.1", None, {}, False),
    "fine-tuned": ("ft:gpt-4o-mini:us:x", None, {}, False),
    "chat": ("gpt-5-chat-latest", None, {}, False),
    "wanted": ("gpt-4o", True, {}, True),
    "unwanted": ("gpt-5", False, {}, False),
    "stored": ("gpt-5", None, {"store": True}, False),
    "stored-by-extra": ("gpt-5", None, {"extra": {"store": True}}, False),
}


@pytest.mark.parametrize(("model", "option", "settings", "asked"), ENCRYPTED.values(), ids=ENCRYPTED)
def test_encrypted_reasoning_is_asked_for_where_it_can_be_had(
    model: str, option: bool | None, settings: Any, asked: bool
) -> None:
    body = sent(wire=OpenAIResponses(encrypted_reasoning=option), model=model, settings=settings)

    assert body.get("include") == (["reasoning.encrypted_content"] if asked else None)


@pytest.mark.parametrize(
    ("schema", "strict"), [(CLOSED, True), ({**CLOSED, "required": []}, False)], ids=["closed", "optional"]
)
def test_a_schema_is_strict_where_the_vendor_can_promise_it_and_is_never_changed(schema: Any, strict: bool) -> None:
    form = sent(output=OutputSchema("post", schema))["text"]["format"]

    assert (form["schema"], form["strict"]) == (schema, strict)


def test_a_message_is_encoded_once() -> None:
    call = ToolCall.parse("a", "f", "{}")
    history = [System("s"), User("u"), Assistant("x", (call,)), ToolResult("a", "f", "ok")]

    WIRE.build(Request(model=MODEL, messages=history, tools=TOOLS), BASE)
    kept = [dict(one._wire) for one in (*history, *TOOLS)]
    WIRE.build(Request(model=MODEL, messages=[*history, User("v")], tools=TOOLS), BASE)

    assert all(kept)
    for before, one in zip(kept, (*history, *TOOLS), strict=True):
        assert all(one._wire[key] is value for key, value in before.items())


URLS = {
    "root": ("http://h:1", "http://h:1/v1/responses"),
    "version": ("http://h/v1/", "http://h/v1/responses"),
    "endpoint": ("http://h/v1/responses", "http://h/v1/responses"),
    "endpoint-without-a-version": ("http://h/responses/", "http://h/responses"),
    "openrouter": ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/responses"),
    "deepseek": ("https://api.deepseek.com", "https://api.deepseek.com/responses"),
    "gateway": ("https://g/router/v2/openai/v1", "https://g/router/v2/openai/v1/responses"),
    "azure": ("https://x.openai.azure.com/openai/v1", "https://x.openai.azure.com/openai/v1/responses"),
    "azure-by-date": (
        "https://x.openai.azure.com/openai?api-version=2025-04-01-preview",
        "https://x.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
    ),
}


@pytest.mark.parametrize(("base", "url"), URLS.values(), ids=URLS)
def test_the_endpoint_is_found_from_any_form_of_the_base_url(base: str, url: str) -> None:
    request = Request(model="m", messages=(User("hi"),))

    assert WIRE.build(request, base).url == endpoint(url, "responses") == url
    assert WIRE.models_request(base).url == url.replace("responses", "models")
    assert WIRE.models_request(base).method == "GET"


def settings(**values: Any) -> OpenAIResponsesSettings:
    return settings_model("providers", "openai_responses").model_validate(values)


def test_without_a_base_url_it_is_openai_and_another_server_never_gets_its_key() -> None:
    assert (settings().base_url, settings().api_key_env) == ("https://api.openai.com/v1", "OPENAI_API_KEY")
    assert settings(base_url="").api_key_env == "OPENAI_API_KEY"
    assert settings(api_key_env="MINE").api_key_env == "MINE"
    assert settings(base_url="https://h").api_key_env is None


@pytest.mark.parametrize(
    ("base", "header"),
    [
        ("https://h/v1", {"authorization": "Bearer k"}),
        ("https://x.openai.azure.com/openai/v1", {"api-key": "k"}),
        ("https://x.azure.com.evil.example/v1", {"authorization": "Bearer k"}),
    ],
    ids=["bearer", "azure", "not-azure"],
)
def test_the_key_goes_where_the_host_looks_for_it(base: str, header: dict[str, str]) -> None:
    provider = make_provider("mine", settings(base_url=base), lambda: None)  # type: ignore[arg-type, return-value]

    assert provider.wire.auth("k") == header


def test_options_reach_the_wire() -> None:
    block = settings(base_url=BASE, encrypted_reasoning=False, forced_tool_choice=False)
    wire = make_provider("mine", block, lambda: None).wire  # type: ignore[arg-type, return-value]

    body = json.loads(wire.build(Request(model=MODEL, messages=(), tools=TOOLS, tool_choice="f"), BASE).body)

    assert "include" not in body
    assert "tool_choice" not in body
