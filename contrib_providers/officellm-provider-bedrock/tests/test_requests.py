"""What a Converse request says: settings, tools, choices, files, results, and where each of them goes."""

from __future__ import annotations

import base64
import json

import pytest
from officellm_provider_bedrock.converse import BedrockConverse

from officellm import Assistant, Media, OutputSchema, Request, System, Text, ToolCall, ToolResult, ToolSpec, User

CLAUDE = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
NOVA, LLAMA = "us.amazon.nova-2-lite-v1:0", "meta.llama3-3-70b-instruct-v1:0"
SEARCH = ToolSpec("search", "Finds pages.", {"properties": {"q": {"type": "string"}}})
CLOCK = ToolSpec("clock", " ", {})
ASKED = (User("hello"),)
CALLED = (
    User("hello"),
    Assistant(calls=(ToolCall.parse("a|1", "search", '{"q": "x"}'), ToolCall.parse("b", "clock", ""))),
    ToolResult("a|1", "search", "found"),
    ToolResult("b", "clock", " ", is_error=True),
)


def built(messages=ASKED, model=CLAUDE, cache=False, base="https://x.example", **fields):
    return BedrockConverse(cache=cache).build(Request(model=model, messages=messages, **fields), base)


def body_of(*arguments, **fields):
    return json.loads(built(*arguments, **fields).body)


def test_what_is_not_set_is_not_sent():
    assert body_of() == {"messages": [{"role": "user", "content": [{"text": "hello"}]}]}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "base", ["https://x.example/p", "https://x.example/p/", "https://x.example/p/model/m%3A0/converse"]
)
def test_the_model_and_streaming_stand_in_the_address(base, stream):
    action = "converse-stream" if stream else "converse"

    assert (
        built(model="amazon.nova:0", base=base, stream=stream).url
        == f"https://x.example/p/model/amazon.nova%3A0/{action}"
    )


SETTINGS = [
    (
        {"max_tokens": 9, "top_p": 0.5, "stop": "x"},
        {"inferenceConfig": {"maxTokens": 9, "topP": 0.5, "stopSequences": ["x"]}},
    ),
    ({"temperature": 0, "seed": None}, {"inferenceConfig": {"temperature": 0}}),
    ({"top_k": 5}, {"additionalModelRequestFields": {"top_k": 5}}),
    ({"guardrail_config": {"guardrailIdentifier": "g"}}, {"guardrailConfig": {"guardrailIdentifier": "g"}}),
    ({"extra": {"requestMetadata": {"team": "a"}}}, {"requestMetadata": {"team": "a"}}),
    ({"reasoning_effort": "minimal"}, {"outputConfig": {"effort": "low"}}),
    ({"reasoning_effort": "none"}, {"additionalModelRequestFields": {"thinking": {"type": "disabled"}}}),
]


@pytest.mark.parametrize(("settings", "wanted"), SETTINGS)
def test_settings_go_to_their_place(settings, wanted):
    body = body_of(settings=settings)
    del body["messages"]

    assert body == wanted


EFFORTS = [
    (NOVA, {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "low"}}),
    ("qwen.qwen3-32b-v1:0", {"reasoning_config": "low"}),
    ("openai.gpt-oss-120b-1:0", {"reasoning_effort": "low"}),
]


@pytest.mark.parametrize(("model", "fields"), EFFORTS)
def test_effort_is_said_in_the_words_of_the_models_family(model, fields):
    assert body_of(model=model, settings={"reasoning_effort": "low"})["additionalModelRequestFields"] == fields


CHOICES = [
    (CLAUDE, "auto", {}, ["search", "clock"]),
    (CLAUDE, "required", {"toolChoice": {"any": {}}}, ["search", "clock"]),
    (NOVA, "clock", {"toolChoice": {"tool": {"name": "clock"}}}, ["search", "clock"]),
    (LLAMA, "required", {}, ["search", "clock"]),
    (LLAMA, "clock", {}, ["clock"]),
    ("arn:aws:bedrock:us-east-1:1:application-inference-profile/abc", "required", {"toolChoice": {"any": {}}}, None),
]


@pytest.mark.parametrize(("model", "choice", "wanted", "names"), CHOICES)
def test_a_call_is_demanded_where_that_can_be(model, choice, wanted, names):
    config = body_of(model=model, tools=[SEARCH, CLOCK], tool_choice=choice)["toolConfig"]
    offered = [tool["toolSpec"]["name"] for tool in config.pop("tools")]

    assert config == wanted
    assert offered == (names or ["search", "clock"])


def test_a_claude_that_thinks_is_not_forced():
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}}

    config = body_of(tools=[SEARCH, CLOCK], tool_choice="clock", settings=thinking)["toolConfig"]

    assert [tool["toolSpec"]["name"] for tool in config["tools"]] == ["clock"]
    assert "toolChoice" not in config


def test_a_tool_without_words_has_none():
    config = body_of(tools=[CLOCK])["toolConfig"]

    assert config == {"tools": [{"toolSpec": {"name": "clock", "inputSchema": {"json": {"type": "object"}}}}]}


def test_no_call_is_wanted_and_there_was_none_so_no_tools_are_sent():
    assert "toolConfig" not in body_of(tools=[SEARCH], tool_choice="none")


@pytest.mark.parametrize("tools", [[SEARCH, CLOCK], []], ids=["offered", "gone"])
def test_tools_stay_where_the_history_has_calls_and_the_model_is_told(tools):
    body = body_of(CALLED, tools=tools, tool_choice="none")

    assert [tool["toolSpec"]["name"] for tool in body["toolConfig"]["tools"]] == ["search", "clock"]
    assert body["system"] == [{"text": "Call no tool now: answer in words."}]


def test_one_call_at_a_time_is_claudes_alone():
    config = {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}}

    body = body_of(tools=[SEARCH], tool_choice="required", parallel_calls=False)
    assert body["additionalModelRequestFields"] == config
    assert "additionalModelRequestFields" not in body_of(model=NOVA, tools=[SEARCH], parallel_calls=False)
    assert "additionalModelRequestFields" not in body_of(parallel_calls=False)


def test_tools_of_the_service_stand_beside_ours():
    extra = {"toolConfig": {"tools": [{"systemTool": {"name": "nova_grounding"}}]}}

    config = body_of(model=NOVA, tools=[CLOCK], settings={"extra": extra})["toolConfig"]
    assert [next(iter(tool)) for tool in config["tools"]] == ["toolSpec", "systemTool"]
    assert body_of(model=NOVA, settings={"extra": extra})["toolConfig"] == extra["toolConfig"]


def test_results_share_one_turn_and_nothing_else_does():
    messages = body_of((*CALLED, User("and now?")), tools=[SEARCH, CLOCK])["messages"]

    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant", "user"]
    first, second = (block["toolResult"] for block in messages[2]["content"])
    assert first == {"toolUseId": messages[1]["content"][0]["toolUse"]["toolUseId"], "content": [{"text": "found"}]}
    assert second == {"toolUseId": "b", "content": [{"text": "(empty)"}], "status": "error"}
    assert messages[3]["content"] == [{"text": "."}]


def test_a_model_that_takes_no_status_gets_none():
    assert "status" not in json.dumps(body_of(CALLED, "writer.palmyra-x5-v1:0", tools=[SEARCH]))


def test_cache_points_stand_at_the_ends():
    body = body_of((System("Be brief."), *ASKED), tools=[SEARCH], cache=True)
    point = {"cachePoint": {"type": "default"}}

    assert [body["system"][-1], body["toolConfig"]["tools"][-1], body["messages"][-1]["content"][-1]] == [point] * 3


def test_typed_output_is_a_text_of_a_closed_schema():
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"properties": {}}}}}

    form = body_of(output=OutputSchema("post", schema))["outputConfig"]["textFormat"]

    given = form["structure"]["jsonSchema"]
    assert (form["type"], given["name"]) == ("json_schema", "post")
    assert json.loads(given["schema"])["additionalProperties"] is False
    assert json.loads(given["schema"])["properties"]["a"]["items"]["additionalProperties"] is False


def test_files_become_blocks_or_words():
    data = base64.b64encode(b"data").decode()
    parts = (
        Media("image/jpg", data=b"data"),
        Media("application/pdf", data=b"data", name="my_file.v2.pdf"),
        Media("video/mp4", url="s3://bucket/a.mp4"),
        Media("image/png", url="https://example.org/a.png"),
    )

    content = body_of((User(parts), User((Media("text/x-log", data=b"data"),))))["messages"][0]["content"]

    assert content[0] == {"image": {"format": "jpeg", "source": {"bytes": data}}}
    assert content[1] == {"document": {"format": "pdf", "name": "my file v2 2", "source": {"bytes": data}}}
    assert content[2] == {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://bucket/a.mp4"}}}}
    assert "https://example.org/a.png" in content[3]["text"]
    assert content[4] == {"document": {"format": "txt", "name": "document 5", "source": {"bytes": data}}}
    assert content[5] == {"text": "."}


def test_a_message_is_encoded_once():
    """A turn costs what is new."""
    image = User((Text("look"), Media("image/png", data=b"\0" * 2_000_000)))
    first = built((image,))
    before = dict(image._wire)

    built((image, Assistant("seen"), User("more")))

    assert image._wire == before
    assert first.body.count(b"AAAA") > 1000
