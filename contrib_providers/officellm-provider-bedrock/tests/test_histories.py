"""Whatever the history, Bedrock would take it: by Amazon's own description of a request, and by rules it leaves out."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import pairwise

from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator
from hypothesis import given, strategies as st
from officellm_provider_bedrock.converse import BedrockConverse
from officellm_provider_bedrock.invoke import AnthropicInvoke

from officellm import Media, Request, ToolSpec
from officellm.testing import histories

MODEL = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
SEALED = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "SEALED"}}}
REDACTED = {"reasoningContent": {"redactedContent": "AA=="}}
HISTORIES = histories(
    "bedrock_converse",
    MODEL,
    natives=[
        None,
        [SEALED, {"text": "hello"}],
        [SEALED, {"toolUse": {}}, REDACTED, {"toolUse": {}}],
        [{"text": "hello"}, SEALED],
        [SEALED],
    ],
    media=[
        Media("image/tiff", data=b"II*"),
        Media("application/pdf", data=b"%PDF", name="a_b  (1).pdf"),
        Media("text/plain; charset=utf-8", data=b"words"),
        Media("video/mp4", url="s3://bucket/film.mp4"),
        Media("application/zip", data=b"PK"),
    ],
)
TOOL = ToolSpec("search", "Finds pages.", {"properties": {"q": {"type": "string"}}, "required": ["q"]})
CHOICES = st.sampled_from(["auto", "none", "required", "search"])
MODELS = st.sampled_from([MODEL, "meta.llama3-3-70b-instruct-v1:0", "amazon.nova-lite-v1:0", "writer.palmyra-x5-v1:0"])
BASE = "https://bedrock-runtime.eu-central-1.amazonaws.com"
DOCUMENT_NAME = re.compile(r"[a-zA-Z0-9()\[\]-]+( [a-zA-Z0-9()\[\]-]+)*")


@cache
def shape():
    model = ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"))
    return model.operation_model("Converse").input_shape


def complaints(body, model):
    report = ParamValidator().validate({**body, "modelId": model}, shape())
    if report.has_errors():
        yield report.generate_report()
    known = set(shape().members)
    if body.keys() - known:
        yield f"unknown keys {body.keys() - known}"
    messages = body["messages"]
    roles = [message["role"] for message in messages]
    if roles[0] != "user" or roles[-1] != "user" or any(a == b for a, b in pairwise(roles)):
        yield f"roles {roles}"
    blocks = [block for message in messages for block in message["content"]]
    if any("toolUse" in block or "toolResult" in block for block in blocks) and not body.get("toolConfig"):
        yield "tool blocks without tools"
    yield from texts(body)
    yield from pairs(messages)
    yield from documents(messages)


def texts(body):
    for block in [*body.get("system", ()), *(block for message in body["messages"] for block in message["content"])]:
        if len(block) != 1:
            yield f"not one key: {block}"
        if "text" in block and not block["text"].strip():
            yield "blank text"


def pairs(messages):
    waiting, seen = [], set()
    for message in messages:
        content = message["content"]
        results = [block["toolResult"]["toolUseId"] for block in content if "toolResult" in block]
        if results != waiting:
            yield f"{waiting} answered by {results}"
        if results and len(results) != len(content):
            yield "something stands beside results"
        calls = [block["toolUse"] for block in content if "toolUse" in block]
        waiting = [call["toolUseId"] for call in calls]
        if seen.intersection(waiting) or len(set(waiting)) != len(waiting):
            yield f"ids used twice: {waiting}"
        seen.update(waiting)
        if not all(re.fullmatch(r"[a-zA-Z0-9_.:-]{1,64}", id) for id in waiting):
            yield f"ids {waiting}"
        if not all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["name"]) for call in calls):
            yield "a name that is not allowed"
        if message["role"] == "assistant" and "reasoningContent" in content[-1]:
            yield "a turn ends with reasoning"
    if waiting:
        yield f"no results for {waiting}"


def documents(messages):
    names = []
    for message in messages:
        found = [block["document"]["name"] for block in message["content"] if "document" in block]
        names += found
        if found and not any("text" in block for block in message["content"]):
            yield "a document without words"
    if len(set(names)) != len(names) or not all(map(DOCUMENT_NAME.fullmatch, names)):
        yield f"names {names}"


@given(messages=HISTORIES, choice=CHOICES, model=MODELS, offered=st.booleans(), marked=st.booleans())
def test_any_history_becomes_a_request_that_bedrock_takes(messages, choice, model, offered, marked):
    tools = [TOOL] if offered else []
    request = Request(model=model, messages=messages, tools=tools, tool_choice=choice, parallel_calls=False)

    body = json.loads(BedrockConverse().build(request, BASE).body)
    cached = json.loads(BedrockConverse(cache=True).build(request, BASE).body)

    assert list(complaints(body, model)) == []
    assert "FOREIGN" not in json.dumps(body)
    assert model == MODEL or "SEALED" not in json.dumps(body)
    assert not ParamValidator().validate({**cached, "modelId": model}, shape()).has_errors()
    assert "cachePoint" in cached["messages"][-1]["content"][-1]


@given(messages=HISTORIES, choice=CHOICES)
def test_any_history_becomes_a_body_of_invoke_model(messages, choice):
    request = Request(model=MODEL, messages=messages, tools=[TOOL], tool_choice=choice, stream=True)

    body = json.loads(AnthropicInvoke().build(request, BASE).body)

    assert body["anthropic_version"] == "bedrock-2023-05-31"
    assert not {"model", "stream"} & body.keys()
    assert body["messages"]
