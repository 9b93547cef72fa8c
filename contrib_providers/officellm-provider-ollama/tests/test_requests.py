"""What Ollama is sent: options in their place, objects as arguments, bare images, and streaming always said."""

from __future__ import annotations

import json

import pytest
from officellm_provider_ollama import OllamaSettings, make_provider
from officellm_provider_ollama.wire import Ollama

from officellm import (
    Assistant,
    ConfigError,
    HttpProvider,
    Media,
    OutputSchema,
    Request,
    Text,
    ToolCall,
    ToolResult,
    ToolSpec,
    User,
)

TOOL = ToolSpec("search", "Finds pages.", {"type": "object", "properties": {"q": {"type": "string"}}})
CLOCK = ToolSpec("clock", "Tells the time.", {})
URL = "http://localhost:11434"


class Watched(dict):
    """Arguments that count how often they are written."""

    writes = 0

    def items(self):
        self.writes += 1
        return super().items()


def body(*messages, wire=None, **fields):
    request = Request(model="qwen3", messages=messages or (User("Hi"),), **fields)
    return json.loads((wire or Ollama()).build(request, URL).body)


def small(**fields):
    return {key: value for key, value in body(**fields).items() if key not in ("model", "messages", "stream")}


@pytest.mark.parametrize("stream", [True, False])
def test_streaming_is_always_said(stream):
    assert body(stream=stream) == {
        "model": "qwen3",
        "stream": stream,
        "messages": [{"role": "user", "content": "Hi"}],
    }


@pytest.mark.parametrize(
    ("settings", "fields"),
    [
        ({"temperature": 0.5, "seed": 7}, {"options": {"temperature": 0.5, "seed": 7}}),
        ({"max_tokens": 50}, {"options": {"num_predict": 50}}),
        ({"num_ctx": 8192}, {"options": {"num_ctx": 8192}}),
        ({"stop": "x"}, {"options": {"stop": ["x"]}}),
        ({"options": {"mirostat": 1}, "seed": 7}, {"options": {"mirostat": 1, "seed": 7}}),
        ({"keep_alive": "5m", "think": True}, {"keep_alive": "5m", "think": True}),
        ({"reasoning_effort": "none"}, {"think": False}),
        ({"reasoning_effort": "minimal"}, {"think": "low"}),
        ({"reasoning_effort": "high"}, {"think": "high"}),
        ({"temperature": None}, {}),
        (
            {"seed": 7, "extra": {"options": {"num_gpu": 1}, "raw": True}},
            {"options": {"seed": 7, "num_gpu": 1}, "raw": True},
        ),
    ],
    ids=[
        "sampling",
        "max_tokens",
        "num_ctx",
        "stop",
        "options",
        "top-level",
        "no-effort",
        "least-effort",
        "effort",
        "unset",
        "extra",
    ],
)
def test_a_setting_has_its_place(settings, fields):
    assert small(settings=settings) == fields


def test_settings_of_the_block_hold_where_the_request_has_none():
    settings = OllamaSettings(num_ctx=8192, keep_alive=-1, think="low")
    provider = make_provider("mine", settings, None)

    assert isinstance(provider, HttpProvider)
    made = body(wire=provider.wire, settings={"num_ctx": 4096})
    assert (made["options"], made["keep_alive"], made["think"]) == ({"num_ctx": 4096}, -1, "low")


def test_a_setting_that_is_no_json_is_the_users_error():
    with pytest.raises(ConfigError, match="settings"):
        body(settings={"temperature": float("nan")})


@pytest.mark.parametrize(
    ("choice", "offered"),
    [("auto", ["search", "clock"]), ("none", None), ("required", ["search", "clock"]), ("clock", ["clock"])],
    ids=["auto", "none", "required", "named"],
)
def test_a_tool_choice_is_said_by_what_is_offered(choice, offered):
    made = body(tools=[TOOL, CLOCK], tool_choice=choice)

    assert "tool_choice" not in made
    assert [tool["function"]["name"] for tool in made.get("tools", ())] == (offered or [])


def test_calls_are_objects_with_ids_and_results_name_their_tool():
    history = (
        User("Hi"),
        Assistant("", (ToolCall("a", "search", {"q": "x"}), ToolCall.parse("b", "search", '{"q": '))),
        ToolResult("a", "search", "found"),
        ToolResult("b", "search", "unreadable", is_error=True),
    )

    assert body(*history)["messages"][1:] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "a", "function": {"name": "search", "arguments": {"q": "x"}}},
                {"id": "b", "function": {"name": "search", "arguments": {}}},
            ],
        },
        {"role": "tool", "content": "found", "tool_name": "search", "tool_call_id": "a"},
        {"role": "tool", "content": "Error: unreadable", "tool_name": "search", "tool_call_id": "b"},
    ]


def test_images_are_bare_base64_and_what_the_server_cannot_load_is_words():
    parts = (
        Text("Look:"),
        Media("image/png", data=b"PNG"),
        Media("image/png", url="https://example.org/a.png"),
        Media("text/csv", data=b"a,b", name="a.csv"),
    )

    assert body(User(parts))["messages"] == [
        {
            "role": "user",
            "content": "Look:\n"
            "[a file of type image/png that this model cannot read: https://example.org/a.png]\n"
            "a.csv:\na,b",
            "images": ["UE5H"],
        }
    ]


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("tools", "choice", "mode"),
    [([], "auto", "native"), ([TOOL], "auto", "prompt"), ([TOOL], "none", "native")],
    ids=["no-tools", "tools", "no-call-wanted"],
)
def test_a_typed_output_uses_the_servers_parameter_where_no_tool_is_offered(tools, choice, mode):
    output = OutputSchema("answer", SCHEMA)
    request = Request(model="m", messages=(User("Hi"),), tools=tools, tool_choice=choice, output=output)

    assert Ollama().output_mode(request) == mode
    assert small(output=output) == {"format": SCHEMA}


@pytest.mark.parametrize(
    "base_url",
    ["", "/", "/api", "/api/chat", "/v1", "/v1/", "/v1/chat/completions"],
    ids=lambda path: path or "root",
)
def test_any_form_of_the_base_url_will_do(base_url):
    request = Request(model="m", messages=(User("Hi"),))

    assert Ollama().build(request, URL + base_url).url == "http://localhost:11434/api/chat"
    assert Ollama().models_request(URL + base_url).url == "http://localhost:11434/api/tags"


def test_models_are_listed_by_name():
    assert Ollama().parse_models(b'{"models": [{"name": "qwen3:latest"}, {"name": null}, 7]}') == ["qwen3:latest"]


def test_a_message_is_written_once_however_many_turns_follow():
    arguments = Watched(q="x")
    call = ToolCall("a", "search", arguments)
    history = [User("Hi"), Assistant("", (call,)), ToolResult("a", "search", "found")]

    for _ in range(3):
        history.append(User("Go on"))
        body(*history)

    assert arguments.writes == 1
