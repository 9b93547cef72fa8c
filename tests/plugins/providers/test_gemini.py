"""What the Gemini wire format sends is what the vendor accepts."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings

from officellm import Assistant, Media, OutputSchema, Request, System, Text, ToolResult, User
from officellm.testing import histories

from .gemini_samples import BASE, DUMMY, MODEL, OLD, WIRE, body, call, check_legal, request
from .search_tool import TOOL


@settings(max_examples=200, deadline=None)
@given(history=histories(WIRE.name, MODEL))
@pytest.mark.parametrize("model", [MODEL, OLD])
def test_any_history_becomes_a_legal_body_without_foreign_signatures(model, history):
    sent = WIRE.build(Request(model=model, messages=history), BASE).body

    check_legal(json.loads(sent))
    assert b"FOREIGN" not in sent


def test_three_calls_get_three_results_in_one_content_and_words_go_into_the_next():
    sent = body(
        System("Be brief."),
        User("go"),
        Assistant("I look.", (call("a"), call("b", "read"), call("c"))),
        ToolResult("a", "search", "1"),
        ToolResult("b", "read", "no such page", is_error=True),
        ToolResult("c", "search", ""),
        User("and now?"),
        model=OLD,
        tools=[TOOL],
    )

    assert sent["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert sent["contents"] == [
        {"role": "user", "parts": [{"text": "go"}]},
        {
            "role": "model",
            "parts": [
                {"text": "I look."},
                {"functionCall": {"name": "search", "args": {}}},
                {"functionCall": {"name": "read", "args": {}}},
                {"functionCall": {"name": "search", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "search", "response": {"result": "1"}}},
                {"functionResponse": {"name": "read", "response": {"error": "no such page"}}},
                {"functionResponse": {"name": "search", "response": {"result": ""}}},
            ],
        },
        {"role": "user", "parts": [{"text": "and now?"}]},
    ]


@pytest.mark.parametrize(
    ("model", "signed"),
    [(MODEL, True), ("gemini-flash-latest", True), (OLD, False), ("gemma-3-27b", False)],
)
def test_a_foreign_call_gets_the_vendors_dummy_signature_once_a_turn_where_one_is_needed(model, signed):
    sent = body(
        User("go"),
        Assistant(calls=(call("a"), call("b"))),
        ToolResult("a", "search", "1"),
        ToolResult("b", "search", "2"),
        Assistant(calls=(call("c"),), native=[{"type": "thinking", "signature": "x"}], origin=("anthropic", model)),
        ToolResult("c", "search", "3"),
        model=model,
    )

    found = [part.get("thoughtSignature") for content in sent["contents"] for part in content["parts"] if len(part) > 1]
    assert found == ([DUMMY, DUMMY] if signed else [])
    assert [p.get("thoughtSignature") for p in sent["contents"][1]["parts"]] == (
        [DUMMY, None] if signed else [None] * 2
    )


def test_without_tools_nothing_about_tools_is_sent():
    assert body(tool_choice="required", parallel_calls=False) == {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}]
    }


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        ("auto", None),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        ("search", {"mode": "ANY", "allowedFunctionNames": ["search"]}),
    ],
)
def test_the_tool_choice_is_said_in_the_vendors_words(choice, wanted):
    config = body(tools=[TOOL], tool_choice=choice).get("toolConfig")

    assert config == ({"functionCallingConfig": wanted} if wanted else None)


def test_settings_are_sent_under_the_vendors_names_and_only_those_that_were_set():
    sent = body(
        settings={
            "max_tokens": 10,
            "temperature": 0.0,
            "top_p": 0.5,
            "top_k": None,
            "stop": ["A", "B"],
            "seed": 7,
            "reasoning_effort": "low",
            "thinking": {"includeThoughts": True},
            "safety_settings": [{"category": "X"}],
            "extra": {"generationConfig": {"seed": 8}, "tools": [{"googleSearch": {}}], "labels": {"a": "b"}},
        },
        tools=[TOOL],
    )

    del sent["contents"]
    assert sent == {
        "generationConfig": {
            "maxOutputTokens": 10,
            "temperature": 0.0,
            "topP": 0.5,
            "stopSequences": ["A", "B"],
            "seed": 8,
            "thinkingConfig": {"thinkingLevel": "low", "includeThoughts": True},
        },
        "safetySettings": [{"category": "X"}],
        "labels": {"a": "b"},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "search", "description": "Finds pages.", "parameters": dict(TOOL.parameters)}
                ]
            },
            {"googleSearch": {}},
        ],
    }


@pytest.mark.parametrize(
    ("model", "effort", "config"),
    [
        (OLD, "none", {"thinkingBudget": 0}),
        (OLD, "high", {"thinkingBudget": 24576}),
        (MODEL, "none", {"thinkingLevel": "minimal"}),
        (MODEL, "high", {"thinkingLevel": "high"}),
    ],
)
def test_a_reasoning_effort_is_a_budget_or_a_level(model, effort, config):
    sent = body(model=model, settings={"reasoning_effort": effort})

    assert sent["generationConfig"]["thinkingConfig"] == config


def test_a_typed_output_is_asked_for_with_a_reduced_schema():
    sent = body(output=OutputSchema("n", {"type": ["integer", "null"], "$schema": "x"}))

    assert sent["generationConfig"] == {
        "responseMimeType": "application/json",
        "responseSchema": {"type": "integer", "nullable": True},
    }


@pytest.mark.parametrize(
    ("model", "tools", "mode"),
    [(OLD, [], "native"), (OLD, [TOOL], "prompt"), (MODEL, [TOOL], "native")],
)
def test_a_typed_output_beside_tools_needs_gemini_3(model, tools, mode):
    assert WIRE.output_mode(request(model=model, tools=tools)) == mode


def test_files_are_sent_inline_or_by_address():
    sent = body(
        User((Text("look"), Media("image/png", data=b"\x00"), Media("video/mp4", url="gs://x/y.mp4"), Text("")))
    )

    assert sent["contents"][0]["parts"] == [
        {"text": "look"},
        {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
        {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://x/y.mp4"}},
    ]


@pytest.mark.parametrize(
    "base",
    [
        BASE,
        f"{BASE}/",
        f"{BASE}/v1beta",
        f"{BASE}/v1beta/models",
        f"{BASE}/v1beta/models/",
        f"{BASE}/v1beta/models/other:generateContent?key=SECRET",
        f"{BASE}/v1beta/models/other:streamGenerateContent?alt=sse&key=SECRET",
    ],
)
def test_the_base_url_may_be_a_root_the_models_folder_or_the_full_endpoint(base):
    assert WIRE.build(request(), base).url == f"{BASE}/v1beta/models/{MODEL}:generateContent"
    streaming = WIRE.build(request(stream=True, model=f"models/{MODEL}"), base)
    assert streaming.url == f"{BASE}/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"
    assert WIRE.models_request(base).url == f"{BASE}/v1beta/models?pageSize=1000"


def test_a_vertex_address_is_kept_and_a_proxys_query_too():
    vertex = "https://h/v1beta1/projects/p/locations/l/publishers/google/models"

    assert WIRE.build(request(), vertex).url == f"{vertex}/{MODEL}:generateContent"
    assert WIRE.build(request(), vertex.removesuffix("/models")).url == f"{vertex}/{MODEL}:generateContent"
    assert WIRE.build(request(), "https://h/v1?team=a").url == f"https://h/v1/models/{MODEL}:generateContent?team=a"


def test_a_models_name_cannot_reach_another_path():
    assert "/models/..%2Fx%3Fy:generateContent" in WIRE.build(request(model="../x?y"), BASE).url


def test_the_key_goes_into_its_header():
    assert WIRE.auth("k") == {"x-goog-api-key": "k"}


def test_models_are_listed_without_their_folder():
    assert WIRE.parse_models(b'{"models":[{"name":"models/a"},{"name":"b"},{}]}') == ["a", "b"]


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
