"""What Mistral is sent: its own names, ids, order and parts, and nothing that it does not know."""

from __future__ import annotations

import json

import pytest
from officellm_provider_mistral.wire import Mistral

from officellm import (
    Assistant,
    Media,
    OutputSchema,
    Request,
    System,
    Text,
    ToolCall,
    ToolResult,
    ToolSpec,
    User,
)

TOOL = ToolSpec("search", "Finds pages.", {"type": "object", "properties": {"q": {"type": "string"}}})
URL = "https://api.mistral.ai/v1"


class Watched(dict):
    """Arguments that count how often they are written."""

    writes = 0

    def items(self):
        self.writes += 1
        return super().items()


def body(*messages, **fields):
    request = Request(model="mistral-small-latest", messages=messages or (User("Hi"),), **fields)
    return json.loads(Mistral().build(request, URL).body)


def called(*ids, text="", arguments=None):
    return Assistant(text, tuple(ToolCall(id, "search", arguments or {"q": "x"}) for id in ids))


def test_a_plain_request_holds_the_model_and_the_messages_alone():
    assert body() == {"model": "mistral-small-latest", "messages": [{"role": "user", "content": "Hi"}]}


def test_a_streamed_request_has_no_stream_options():
    assert body(stream=True).keys() == {"model", "messages", "stream"}


@pytest.mark.parametrize(
    ("settings", "fields"),
    [
        ({"seed": 7}, {"random_seed": 7}),
        ({"max_tokens": 50}, {"max_tokens": 50}),
        ({"max_completion_tokens": 50}, {"max_tokens": 50}),
        ({"temperature": None}, {}),
        ({"safe_prompt": True, "stop": ["x"]}, {"safe_prompt": True, "stop": ["x"]}),
        ({"extra": {"prompt_mode": "reasoning"}}, {"prompt_mode": "reasoning"}),
    ],
    ids=["seed", "max_tokens", "max_completion_tokens", "unset", "own", "extra"],
)
def test_a_setting_is_sent_under_mistrals_name(settings, fields):
    assert {key: value for key, value in body(settings=settings).items() if key not in ("model", "messages")} == fields


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", None),
        ("none", "none"),
        ("required", "any"),
        ("search", {"type": "function", "function": {"name": "search"}}),
    ],
    ids=["auto", "none", "required", "named"],
)
def test_tool_choice_has_mistrals_words(choice, sent):
    assert body(tools=[TOOL], tool_choice=choice).get("tool_choice") == sent
    assert "tool_choice" not in body(tool_choice="required")


def test_the_users_own_fields_win_over_the_forced_choice():
    assert (
        body(tools=[TOOL], tool_choice="required", settings={"extra": {"tool_choice": "auto"}})["tool_choice"] == "auto"
    )


def test_an_id_of_mistrals_goes_back_as_it_came():
    sent = body(User("Hi"), called("qDEcl0n92"), ToolResult("qDEcl0n92", "search", "found"))["messages"]

    assert [sent[1]["tool_calls"][0]["id"], sent[2]["tool_call_id"]] == ["qDEcl0n92", "qDEcl0n92"]


def test_other_ids_are_hashed_alike_in_the_call_and_in_its_result():
    ids = ["toolu_01A09q90qw90lq917835lq9", "call_a"]
    history = (User("Hi"), called(*ids), *(ToolResult(id, "search", "found") for id in ids))

    sent = body(*history)["messages"]

    written = [call["id"] for call in sent[1]["tool_calls"]]
    assert written == [message["tool_call_id"] for message in sent[2:]]
    assert all(len(id) == 9 and id.isalnum() for id in written)
    assert len(set(written)) == 2


def test_a_user_who_speaks_directly_after_a_tool_is_kept_apart_by_a_filler():
    sent = body(User("Hi"), called("qDEcl0n92"), ToolResult("qDEcl0n92", "search", "found"), User("Go on"))["messages"]

    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "assistant", "user"]
    assert sent[3]["content"] == "OK"


def test_a_history_that_ends_with_a_reply_is_continued_by_the_user():
    assert body(User("Hi"), Assistant("Hello"))["messages"][-1]["role"] == "user"


def test_several_systems_become_one_in_front():
    assert [one["role"] for one in body(User("Hi"), System("a"), System("b"))["messages"]] == ["system", "user"]


@pytest.mark.parametrize(
    ("media", "part"),
    [
        (
            Media("image/png", data=b"PNG"),
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}},
        ),
        (
            Media("image/png", url="https://example.org/a.png"),
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        ),
        (
            Media("application/pdf", data=b"PDF", name="a.pdf"),
            {
                "type": "document_url",
                "document_url": "data:application/pdf;base64,UERG",
                "document_name": "a.pdf",
            },
        ),
        (
            Media("application/pdf", url="https://example.org/a.pdf"),
            {"type": "document_url", "document_url": "https://example.org/a.pdf"},
        ),
        (Media("text/csv", data=b"a,b", name="a.csv"), {"type": "text", "text": "a.csv:\na,b"}),
        (Media("audio/mpeg", data=b"ID3"), {"type": "input_audio", "input_audio": "SUQz"}),
    ],
    ids=["image", "image-url", "pdf", "pdf-url", "text", "audio"],
)
def test_media_have_mistrals_parts(media, part):
    sent = body(User((Text("Look:"), media, Text(" "))))["messages"]

    assert sent == [{"role": "user", "content": [{"type": "text", "text": "Look:"}, part]}]


def test_a_typed_output_is_asked_for_by_the_vendors_parameter():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    output = OutputSchema("answer", schema)
    request = Request(model="m", messages=(User("Hi"),), output=output)

    assert Mistral().output_mode(request) == "native"
    assert body(output=output)["response_format"]["json_schema"] == {"name": "answer", "schema": schema}


@pytest.mark.parametrize(
    "base_url",
    ["https://api.mistral.ai", "https://api.mistral.ai/v1/", "https://api.mistral.ai/v1/chat/completions"],
)
def test_any_form_of_the_base_url_will_do(base_url):
    request = Request(model="m", messages=(User("Hi"),))

    assert Mistral().build(request, base_url).url == "https://api.mistral.ai/v1/chat/completions"
    assert Mistral().models_request(base_url).url == "https://api.mistral.ai/v1/models"


def test_a_message_is_written_once_however_many_turns_follow():
    arguments = Watched(q="x")
    history = [User("Hi"), called("call_a", arguments=arguments), ToolResult("call_a", "search", "found")]

    for _ in range(3):
        history.append(User("Go on"))
        body(*history)

    assert arguments.writes == 1
