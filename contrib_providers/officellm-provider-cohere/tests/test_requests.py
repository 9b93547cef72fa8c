"""What Cohere is sent: its own names, choices and schemas, and nothing that the user did not set."""

from __future__ import annotations

import json

import pytest
from officellm_provider_cohere.schema import reduced
from officellm_provider_cohere.wire import Cohere

from officellm import Assistant, ConfigError, Media, OutputSchema, Request, Text, ToolCall, ToolResult, ToolSpec, User

TOOL = ToolSpec("search", "Finds pages.", {"type": "object", "properties": {"q": {"type": "string"}}})
CLOCK = ToolSpec("clock", "Tells the time.", {})
URL = "https://api.cohere.com"


class Watched(dict):
    """Arguments that count how often they are written."""

    writes = 0

    def items(self):
        self.writes += 1
        return super().items()


def body(*messages, **fields):
    request = Request(model="command-a", messages=messages or (User("Hi"),), **fields)
    return json.loads(Cohere().build(request, URL).body)


def test_a_plain_request_holds_the_model_and_the_messages_alone():
    assert body() == {"model": "command-a", "messages": [{"role": "user", "content": "Hi"}]}


@pytest.mark.parametrize(
    ("settings", "fields"),
    [
        ({"top_p": 0.5, "top_k": 3}, {"p": 0.5, "k": 3}),
        ({"stop": "x"}, {"stop_sequences": ["x"]}),
        ({"stop": ["x", "y"]}, {"stop_sequences": ["x", "y"]}),
        ({"max_tokens": 50, "seed": 7}, {"max_tokens": 50, "seed": 7}),
        ({"temperature": None}, {}),
        ({"reasoning_effort": "none"}, {"thinking": {"type": "disabled"}}),
        ({"reasoning_effort": "high"}, {"thinking": {"type": "enabled"}}),
        ({"thinking": {"type": "enabled", "token_budget": 9}}, {"thinking": {"type": "enabled", "token_budget": 9}}),
        ({"extra": {"safety_mode": "OFF"}}, {"safety_mode": "OFF"}),
    ],
    ids=["sampling", "one-stop", "stops", "same-name", "unset", "no-effort", "effort", "thinking", "extra"],
)
def test_a_setting_is_sent_under_coheres_name(settings, fields):
    assert {key: value for key, value in body(settings=settings).items() if key not in ("model", "messages")} == fields


def test_a_setting_that_is_no_json_is_the_users_error():
    with pytest.raises(ConfigError, match="settings"):
        body(settings={"temperature": float("nan")})


@pytest.mark.parametrize(
    ("choice", "sent", "offered"),
    [
        ("auto", None, ["search", "clock"]),
        ("none", "NONE", ["search", "clock"]),
        ("required", "REQUIRED", ["search", "clock"]),
        ("clock", "REQUIRED", ["clock"]),
    ],
    ids=["auto", "none", "required", "named"],
)
def test_a_tool_choice_is_said_as_far_as_cohere_can_say_it(choice, sent, offered):
    made = body(tools=[TOOL, CLOCK], tool_choice=choice)

    assert made.get("tool_choice") == sent
    assert [tool["function"]["name"] for tool in made["tools"]] == offered


def test_no_choice_is_sent_without_tools():
    assert "tool_choice" not in body(tool_choice="required")


def test_tools_of_the_users_own_stand_beside_ours():
    own = {"type": "function", "function": {"name": "own"}}

    assert body(tools=[TOOL], settings={"extra": {"tools": [own]}})["tools"][1:] == [own]


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({"type": ["string", "null"]}, {"type": "string", "description": "May be null."}),
        (
            {"type": ["integer", "null"], "description": "A day.", "minimum": 1},
            {"type": "integer", "description": "A day. May be null.", "minimum": 1},
        ),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"type": ["null"]}, {"type": "null"}),
        (
            {"properties": {"type": {"type": ["string", "null"]}}, "required": ["type"]},
            {"properties": {"type": {"type": "string", "description": "May be null."}}, "required": ["type"]},
        ),
        (
            {"type": "array", "items": {"type": ["number", "null"]}},
            {"type": "array", "items": {"type": "number", "description": "May be null."}},
        ),
        ({"enum": ["a", ["type"]], "default": {"type": ["x"]}}, {"enum": ["a", ["type"]], "default": {"type": ["x"]}}),
    ],
    ids=["nullable", "described", "several", "null", "property-named-type", "items", "values"],
)
def test_lists_of_types_are_taken_apart_and_nothing_else(schema, wanted):
    assert reduced(schema) == wanted


def test_a_tool_without_parameters_has_an_empty_object():
    assert body(tools=[CLOCK])["tools"][0]["function"]["parameters"] == {"type": "object", "properties": {}}


OBJECT = {"type": "object", "properties": {"n": {"type": ["integer", "null"]}}, "required": ["n"]}


@pytest.mark.parametrize(
    ("schema", "tools", "mode"),
    [(OBJECT, [], "native"), (OBJECT, [TOOL], "prompt"), ({"type": "array"}, [], "prompt"), ({}, [], "prompt")],
    ids=["object", "with-tools", "array", "anything"],
)
def test_a_typed_output_uses_the_vendors_parameter_where_it_can(schema, tools, mode):
    request = Request(model="m", messages=(User("Hi"),), tools=tools, output=OutputSchema("answer", schema))

    assert Cohere().output_mode(request) == mode


def test_the_outputs_schema_is_reduced_too():
    assert body(output=OutputSchema("answer", OBJECT))["response_format"] == {
        "type": "json_object",
        "json_schema": reduced(OBJECT),
    }


def test_images_are_parts_and_other_files_are_words():
    sent = body(
        User(
            (
                Text("Look:"),
                Media("image/png", data=b"PNG"),
                Media("text/csv", data=b"a,b", name="a.csv"),
                Media("application/pdf", data=b"PDF", name="a.pdf"),
            )
        )
    )["messages"][0]["content"]

    assert sent == [
        {"type": "text", "text": "Look:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}},
        {"type": "text", "text": "a.csv:\na,b"},
        {"type": "text", "text": "[a file of type application/pdf that this model cannot read: a.pdf]"},
    ]


def test_an_error_of_a_tool_says_so_once():
    history = (
        User("Hi"),
        Assistant("", (ToolCall("a", "search", {}), ToolCall("b", "search", {}))),
        ToolResult("a", "search", "no such page", is_error=True),
        ToolResult("b", "search", "Error: no such page", is_error=True),
    )

    assert [message["content"] for message in body(*history)["messages"][2:]] == ["Error: no such page"] * 2


@pytest.mark.parametrize(
    "base_url",
    [
        "https://api.cohere.com",
        "https://api.cohere.com/",
        "https://api.cohere.com/v2",
        "https://api.cohere.com/v1/",
        "https://api.cohere.com/v2/chat",
    ],
)
def test_any_form_of_the_base_url_will_do(base_url):
    request = Request(model="m", messages=(User("Hi"),))

    assert Cohere().build(request, base_url).url == "https://api.cohere.com/v2/chat"
    assert Cohere().models_request(base_url).url == "https://api.cohere.com/v1/models?page_size=1000&endpoint=chat"


def test_models_are_listed_by_name():
    assert Cohere().parse_models(b'{"models": [{"name": "command-a"}, {"name": null}, 7]}') == ["command-a"]


def test_a_message_is_written_once_however_many_turns_follow():
    arguments = Watched(q="x")
    call = ToolCall("a", "search", arguments)
    history = [User("Hi"), Assistant("", (call,)), ToolResult("a", "search", "found")]

    for _ in range(3):
        history.append(User("Go on"))
        body(*history)

    assert arguments.writes == 1
