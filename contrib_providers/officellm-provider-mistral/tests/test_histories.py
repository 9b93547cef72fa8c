"""Whatever the history, Mistral would take the request: its rules are written down here once more, from its side."""

from __future__ import annotations

import json
import re

from hypothesis import given, strategies as st
from officellm_provider_mistral.wire import Mistral

from officellm import Request, ToolSpec
from officellm.testing import histories

HISTORIES = histories("mistral", "model-a")
TOOL = ToolSpec("search", "Finds pages.", {"properties": {"q": {"type": ["string", "null"]}}, "required": ["q"]})
CHOICES = st.sampled_from(["auto", "none", "required", "search"])

KEYS = {"model", "messages", "tools", "tool_choice", "stream"}
KEYS_OF_ROLE = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls"},
    "tool": {"role", "content", "tool_call_id"},
}
PARTS = {"text", "image_url", "input_audio", "document_url"}
ID = re.compile("[a-zA-Z0-9]{9}")


def complaints(body):
    if body.keys() - KEYS:
        yield f"extra inputs: {body.keys() - KEYS}"
    waiting, last, seen = [], None, set()
    for message in body["messages"]:
        role = message["role"]
        if message.keys() - KEYS_OF_ROLE[role]:
            yield f"extra inputs: {message}"
        if role == "system" and last is not None:
            yield "a system message that is not the first"
        if role != "tool" and waiting:
            yield f"no result for {waiting}"
        if last == "tool" and role == "user":
            yield "unexpected role 'user' after role 'tool'"
        parts = message["content"] if isinstance(message["content"], list) else ()
        if not all(part["type"] in PARTS for part in parts):
            yield f"unknown part in {parts}"
        if role == "assistant":
            calls = message.get("tool_calls")
            if not calls and not message["content"]:
                yield "an assistant message must have content or calls"
            waiting = [call["id"] for call in calls or ()]
            if not all(map(ID.fullmatch, waiting)) or seen & set(waiting):
                yield f"ids {waiting}"
            seen.update(waiting)
            if not all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in calls or ()):
                yield "arguments must be an object"
        if role == "tool" and (not waiting or waiting.pop(0) != message["tool_call_id"]):
            yield f"unexpected tool call id {message['tool_call_id']}"
        last = role
    if waiting:
        yield f"no result for {waiting}"
    if last not in ("user", "tool"):
        yield f"expected last role user or tool, got {last}"
    if "tool_choice" in body and "tools" not in body:
        yield "tool_choice without tools"


@given(messages=HISTORIES, choice=CHOICES)
def test_any_history_becomes_a_request_that_mistral_takes(messages, choice):
    request = Request(model="model-a", messages=messages, tools=[TOOL], tool_choice=choice, stream=True)

    body = json.loads(Mistral().build(request, "https://api.mistral.ai").body)

    assert list(complaints(body)) == []
    assert "FOREIGN" not in json.dumps(body)
