"""Whatever the history, Cohere would take the request: its rules are written down here once more, from its side."""

from __future__ import annotations

import json

from hypothesis import given, strategies as st
from officellm_provider_cohere.wire import Cohere

from officellm import Request, ToolSpec
from officellm.testing import histories

HISTORIES = histories("cohere", "model-a")
TOOL = ToolSpec("search", "Finds pages.", {"properties": {"q": {"type": ["string", "null"]}}, "required": ["q"]})
CHOICES = st.sampled_from(["auto", "none", "required", "search"])

KEYS_OF_ROLE = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_plan", "tool_calls"},
    "tool": {"role", "content", "tool_call_id"},
}


def type_lists(value):
    if isinstance(value, dict):
        if isinstance(value.get("type"), list):
            yield value
        for inner in value.values():
            yield from type_lists(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from type_lists(inner)


def complaints(body):
    waiting, last = [], None
    for message in body["messages"]:
        role = message["role"]
        if message.keys() - KEYS_OF_ROLE[role]:
            yield f"unknown keys: {message}"
        if role != "tool" and waiting:
            yield f"no result for {waiting}"
        if role in ("system", "user", "tool") and not str(message["content"]).strip():
            yield f"empty {role}"
        if role == "assistant":
            if not message.get("tool_calls") and not message.get("content", "").strip():
                yield "an assistant message must have content or calls"
            waiting = [call["id"] for call in message.get("tool_calls", ())]
            if not all(waiting):
                yield "a call without an id"
            for call in message.get("tool_calls", ()):
                if not isinstance(json.loads(call["function"]["arguments"]), dict):
                    yield "arguments must be an object"
        if role == "tool" and (not waiting or waiting.pop(0) != message["tool_call_id"]):
            yield f"unexpected tool call id {message['tool_call_id']}"
        last = role
    if waiting or last not in ("user", "tool"):
        yield f"ends with {last}, waiting for {waiting}"
    if body.get("tool_choice", "NONE") not in ("NONE", "REQUIRED"):
        yield f"tool_choice {body['tool_choice']}"
    yield from type_lists(body.get("tools"))


@given(messages=HISTORIES, choice=CHOICES)
def test_any_history_becomes_a_request_that_cohere_takes(messages, choice):
    request = Request(model="model-a", messages=messages, tools=[TOOL], tool_choice=choice, stream=True)

    body = json.loads(Cohere().build(request, "https://api.cohere.com").body)

    assert list(complaints(body)) == []
    assert "FOREIGN" not in json.dumps(body)
