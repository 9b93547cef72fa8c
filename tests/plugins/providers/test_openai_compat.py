from __future__ import annotations

import json
from dataclasses import replace

import pytest

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
from officellm_builtin.providers import openai_compat
from officellm_builtin.providers.openai_compat import OpenAICompat, OpenAICompatSettings, endpoint

from .openai_chat import BASE, REQUEST, STREAM, sent, sent_messages


def test_it_is_a_wire_format():
    assert isinstance(OpenAICompat(), WireFormat)


def test_nothing_is_sent_that_was_not_asked_for():
    assert sent(REQUEST) == {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    assert sent(replace(REQUEST, tool_choice="required", parallel_calls=False)) == sent(REQUEST)


def test_a_conversation_is_encoded_as_documented():
    calls = (ToolCall.parse("a", "f", '{"x": "é"}'), ToolCall.parse("b", "f", ""))

    assert sent_messages(
        System("be brief"),
        User((Text("look "), Text("here"))),
        Assistant("", calls),
        ToolResult("a", "f", "18 °C"),
        ToolResult("b", "f", "no such city", is_error=True),
        Assistant("done"),
    ) == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "look here"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":"é"}'}},
                {"id": "b", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "18 °C"},
        {"role": "tool", "tool_call_id": "b", "content": "Error: no such city"},
        {"role": "assistant", "content": "done"},
    ]


def test_media_become_parts():
    [message] = sent_messages(
        User(
            (
                Text("see"),
                Media("image/png", b"\x00"),
                Media("image/jpeg", url="https://x/y.jpg"),
                Media("audio/mpeg", b"\x00"),
                Media("application/pdf", b"\x00", name="a.pdf"),
            )
        )
    )

    assert message["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
        {"type": "image_url", "image_url": {"url": "https://x/y.jpg"}},
        {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="}},
    ]


def test_an_illegal_history_is_repaired_on_the_way_out():
    messages = sent_messages(Assistant("", (ToolCall.parse("", "f", "{}"),)))

    assert [message["role"] for message in messages] == ["user", "assistant", "tool"]
    assert messages[1]["tool_calls"][0]["id"] == messages[2]["tool_call_id"] != ""


def test_a_reply_without_words_and_calls_is_left_out():
    thought = Assistant(native={"reasoning_details": [{}]}, origin=("openai_compat", "m"))

    assert [message["role"] for message in sent_messages(User("u"), thought, User("v"))] == ["user", "user"]


def test_tools_are_encoded_with_legal_names_and_complete_schemas():
    tools = [
        ToolSpec("now", "Tells the time", {}),
        ToolSpec("files.read", "", {"type": "object", "properties": {"p": {}}, "required": []}),
    ]
    request = replace(REQUEST, tools=tools, tool_choice="files.read", parallel_calls=False)

    body = sent(request)
    first, second = (tool["function"] for tool in body["tools"])

    assert first == {"name": "now", "description": "Tells the time", "parameters": {"type": "object", "properties": {}}}
    assert second["parameters"] == {"type": "object", "properties": {"p": {}}}
    assert body["tool_choice"] == {"type": "function", "function": {"name": second["name"]}}
    assert body["parallel_tool_calls"] is False
    reply = {"choices": [{"message": {"tool_calls": [{"id": "a", "function": {"name": second["name"]}}]}}]}
    parsed = OpenAICompat().parse(
        json.dumps({**reply, "choices": [{**reply["choices"][0], "finish_reason": "stop"}]}).encode(), request
    )
    assert parsed.message.calls[0].name == "files.read"


TOOLS = [ToolSpec("f", "", {}), ToolSpec("g", "", {})]
CHOICES = {
    "auto": ("auto", True, None, 2),
    "none": ("none", True, "none", 2),
    "required": ("required", True, "required", 2),
    "one": ("g", True, {"type": "function", "function": {"name": "g"}}, 2),
    "one, not forced": ("g", False, None, 1),
    "required, not forced": ("required", False, None, 2),
}


@pytest.mark.parametrize(("choice", "forced", "wanted", "offered"), CHOICES.values(), ids=CHOICES)
def test_the_tool_choice_is_what_the_server_takes(choice, forced, wanted, offered):
    body = sent(replace(REQUEST, tools=TOOLS, tool_choice=choice), forced_tool_choice=forced)

    assert body.get("tool_choice") == wanted
    assert len(body["tools"]) == offered


def test_settings_go_as_they_are_and_extra_is_merged():
    settings = {"temperature": 0, "top_k": 3, "guided_json": {}, "stop": None, "stream": True}
    settings["extra"] = {"provider": {"sort": "price"}, "tools": [{"type": "web_search"}]}

    body = sent(replace(REQUEST, settings=settings, tools=TOOLS[:1]))

    assert {key: body[key] for key in ("temperature", "top_k", "guided_json", "provider")} == {
        "temperature": 0,
        "top_k": 3,
        "guided_json": {},
        "provider": {"sort": "price"},
    }
    assert "stop" not in body
    assert "stream" not in body
    assert body["tools"][1] == {"type": "web_search"}


def test_settings_that_are_no_json_are_the_users_mistake():
    with pytest.raises(ConfigError, match="settings"):
        sent(replace(REQUEST, settings={"temperature": float("nan")}))


LIMITS = {
    "openai": ("https://api.openai.com/v1", {}, "max_completion_tokens"),
    "others": (BASE, {}, "max_tokens"),
    "as the settings say": (BASE, {"max_tokens_field": "max_completion_tokens"}, "max_completion_tokens"),
}


@pytest.mark.parametrize(("base", "options", "field"), LIMITS.values(), ids=LIMITS)
def test_the_token_limit_has_the_name_that_the_server_knows(base, options, field):
    body = sent(replace(REQUEST, settings={"max_tokens": 7}), base, **options)

    assert {key: value for key, value in body.items() if key.startswith("max")} == {field: 7}


def test_a_stream_asks_for_usage_unless_the_server_refuses_that():
    assert sent(STREAM)["stream_options"] == {"include_usage": True}
    assert sent(STREAM, stream_usage=False).keys() == {"model", "messages", "stream"}


@pytest.mark.parametrize("role", ["developer", "user"])
def test_instructions_have_the_role_that_the_model_takes(role):
    assert sent_messages(System("s"), User("u"), system_role=role)[0] == {"role": role, "content": "s"}


CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
OPEN = {"type": "object", "properties": {"a": {"type": "string"}}}
NESTED = {**CLOSED, "properties": {"a": OPEN}}


@pytest.mark.parametrize(
    ("schema", "strict"), [(CLOSED, True), (OPEN, None), (NESTED, None)], ids=["closed", "open", "nested"]
)
def test_a_typed_output_is_strict_where_the_schema_can_be(schema, strict):
    asked = sent(replace(REQUEST, output=OutputSchema("My Post", schema)))["response_format"]

    assert asked["type"] == "json_schema"
    assert asked["json_schema"]["schema"] == schema
    assert asked["json_schema"].get("strict") is strict
    assert " " not in asked["json_schema"]["name"]


class Almost(OpenAICompat):
    """A format that is almost this one."""

    name = "almost"

    def part(self, part):
        return {"kind": "picture"} if isinstance(part, Media) else super().part(part)


def test_a_format_that_is_almost_this_one_has_its_own_replies_and_parts():
    picture = User((Text("Look:"), Media("image/png", data=b"x"), Text(" ")))
    reasoned = {"reasoning_content": "hm"}
    calls = (ToolCall.parse("c", "f", "{}"),)
    history = [picture] + [
        message
        for name in ("almost", "openai_compat")
        for message in (Assistant("a", calls, "", reasoned, (name, "m")), ToolResult("c", "f", "ok"), picture)
    ]
    answer = json.dumps({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}).encode()

    ours, plain = (
        json.loads(wire.build(Request(model="m", messages=history), BASE).body)["messages"] for wire in WIRES
    )

    assert ours[0]["content"] == [{"type": "text", "text": "Look:"}, {"kind": "picture"}]
    assert plain[0]["content"][1]["type"] == "image_url"
    assert [message.get("reasoning_content") for message in ours if message["role"] == "assistant"] == ["hm", None]
    assert [message.get("reasoning_content") for message in plain if message["role"] == "assistant"] == [None, "hm"]
    assert WIRES[0].parse(answer, Request(model="m", messages=[])).message.origin == ("almost", "m")


WIRES = (Almost(), OpenAICompat())


def test_a_message_is_encoded_once():
    history = [System("s"), User("u"), Assistant("a")]
    wire = OpenAICompat()

    wire.build(Request(model="m", messages=history), BASE)
    kept = [dict(message._wire) for message in history]
    wire.build(Request(model="m", messages=[*history, User("v")]), BASE)

    assert all(kept)
    for before, message in zip(kept, history, strict=True):
        assert all(message._wire[key] is value for key, value in before.items())


URLS = {
    "root": ("http://h:1", "http://h:1/v1/chat/completions"),
    "root with a slash": ("http://h:1/", "http://h:1/v1/chat/completions"),
    "version": ("http://h/v1", "http://h/v1/chat/completions"),
    "version with a slash": ("http://h/v1/", "http://h/v1/chat/completions"),
    "endpoint": ("http://h/v1/chat/completions", "http://h/v1/chat/completions"),
    "endpoint without a version": ("http://h/chat/completions/", "http://h/chat/completions"),
    "groq": ("https://api.groq.com/openai", "https://api.groq.com/openai/v1/chat/completions"),
    "openrouter": ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"),
    "gemini": (
        "https://generativelanguage.googleapis.com/v1beta/openai/",
        "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
    ),
    "z.ai": ("https://api.z.ai/api/paas/v4", "https://api.z.ai/api/paas/v4/chat/completions"),
    "perplexity": ("https://api.perplexity.ai", "https://api.perplexity.ai/chat/completions"),
    "azure": (
        "https://x.openai.azure.com/openai/deployments/d?api-version=1",
        "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=1",
    ),
}


@pytest.mark.parametrize(("base", "url"), URLS.values(), ids=URLS)
def test_the_endpoint_is_found_from_any_form_of_the_base_url(base, url):
    assert endpoint(base, "chat/completions") == url
    assert endpoint(url, "models") == url.replace("chat/completions", "models")


def test_the_key_goes_where_the_host_looks_for_it():
    azure = OpenAICompatSettings(base_url="https://x.openai.azure.com/openai/v1")

    assert OpenAICompat().auth("k") == {"authorization": "Bearer k"}
    assert OpenAICompat(azure).auth("k") == {"api-key": "k"}


@pytest.mark.parametrize("listed", [{"data": [{"id": "a"}, {"id": 7}, None, {"id": "b"}]}, [{"id": "a"}, {"id": "b"}]])
def test_models_are_listed(listed):
    assert OpenAICompat().parse_models(json.dumps(listed).encode()) == ["a", "b"]


def test_the_driver_makes_a_provider_of_its_settings():
    settings = openai_compat.settings_model("provider", "openai_compat")(base_url=BASE, system_role="developer")

    provider = openai_compat.make_provider("mine", settings, lambda: None)

    assert provider.name == "mine"
    assert isinstance(provider.wire, OpenAICompat)
