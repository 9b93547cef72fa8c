"""Whatever the history, Ollama would take the request: its rules are written down here once more, from its side."""

from __future__ import annotations

import base64
import json

from hypothesis import given, strategies as st
from officellm_provider_ollama.wire import Ollama

from officellm import Request, ToolSpec
from officellm.testing import histories

HISTORIES = histories("ollama", "model-a")
TOOL = ToolSpec("search", "Finds pages.", {"properties": {"q": {"type": ["string", "null"]}}, "required": ["q"]})
CHOICES = st.sampled_from(["auto", "none", "required", "search"])


def complaints(body):
    if body.get("stream") is not True:
        yield "stream is not said"
    if "tool_choice" in body:
        yield "there is no tool choice"
    waiting = []
    for message in body["messages"]:
        role = message["role"]
        if not isinstance(message["content"], str):
            yield "content must be a text"
        for image in message.get("images", ()):
            base64.b64decode(image, validate=True)
        if role != "tool" and waiting:
            yield f"no result for {waiting}"
        if role == "assistant":
            if not message["content"].strip() and not message.get("tool_calls"):
                yield "an empty reply"
            waiting = [(call["id"], call["function"]["name"]) for call in message.get("tool_calls", ())]
            if not all(isinstance(call["function"]["arguments"], dict) for call in message.get("tool_calls", ())):
                yield "arguments must be an object"
        if role == "tool" and (not waiting or waiting.pop(0) != (message["tool_call_id"], message["tool_name"])):
            yield f"unexpected result {message}"
    if waiting:
        yield f"no result for {waiting}"


@given(messages=HISTORIES, choice=CHOICES)
def test_any_history_becomes_a_request_that_ollama_takes(messages, choice):
    request = Request(model="model-a", messages=messages, tools=[TOOL], tool_choice=choice, stream=True)

    body = json.loads(Ollama().build(request, "http://localhost:11434").body)

    assert list(complaints(body)) == []
    assert "FOREIGN" not in json.dumps(body)
