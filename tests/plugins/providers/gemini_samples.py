"""Gemini's rules for a request, and replies of its API."""

from __future__ import annotations

import json
from typing import Any

from officellm import Reply, Request, StreamEvent, ToolCall, User
from officellm_builtin.providers.gemini import Gemini

WIRE = Gemini()
MODEL = "gemini-3-flash-preview"
OLD = "gemini-2.5-flash"
BASE = "https://generativelanguage.googleapis.com"
DUMMY = "skip_thought_signature_validator"


def request(*messages: Any, model: str = MODEL, **fields: Any) -> Request:
    return Request(model=model, messages=messages or (User("hi"),), **fields)


def body(*messages: Any, **fields: Any) -> dict[str, Any]:
    return json.loads(WIRE.build(request(*messages, **fields), BASE).body)


def call(id: str, name: str = "search", raw: str = "{}") -> ToolCall:
    return ToolCall.parse(id, name, raw)


def check_legal(sent: dict[str, Any]) -> None:
    """The vendor's rules for a request, as far as a history can break them."""
    contents = sent["contents"]
    assert contents[0]["role"] == "user"
    assert contents[-1]["role"] == "user"
    waiting: list[str] = []
    previous = ("", False)
    for content in contents:
        parts = content["parts"]
        assert parts, "a content without parts"
        answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
        assert [answer["name"] for answer in answers] == waiting
        assert len(answers) in (0, len(parts)), "results stand alone"
        assert (content["role"], bool(answers)) != previous, "neighbours of one kind must be joined"
        previous = (content["role"], bool(answers))
        for part in parts:
            check_part(part, content["role"])
        waiting = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
    assert not waiting


def check_part(part: dict[str, Any], role: str) -> None:
    if "functionCall" in part:
        assert role == "model"
        assert isinstance(part["functionCall"]["args"], dict)
        assert "id" not in part["functionCall"] or part["functionCall"]["id"] == "given"
    elif "functionResponse" in part:
        assert role == "user"
        assert part["functionResponse"]["response"].keys() in ({"result"}, {"error"})
        assert "id" not in part["functionResponse"] or part["functionResponse"]["id"] == "given"
    elif "text" in part:
        assert part["text"].strip()
    else:
        assert role == "user"
        assert part.keys() in ({"inlineData"}, {"fileData"})


CALLS = [
    {"text": "I think.", "thought": True},
    {"functionCall": {"id": "srv1", "name": "search", "args": {"q": "x"}}, "thoughtSignature": "c2ln"},
    {"functionCall": {"name": "search", "args": {}}},
    {"functionCall": {"name": "search"}},
]
TEXTS = [{"text": "Hel"}, {"text": "lo"}, {"text": "", "thoughtSignature": "c2ln"}, {"text": "!"}]
USAGE = {
    "promptTokenCount": 100,
    "cachedContentTokenCount": 40,
    "candidatesTokenCount": 5,
    "thoughtsTokenCount": 20,
    "toolUsePromptTokenCount": 3,
    "totalTokenCount": 128,
}


def response(parts: list[Any] | None, finish: Any = "STOP", **fields: Any) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
    if parts is None:
        candidate = {"index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "usageMetadata": USAGE, "modelVersion": "v", "responseId": "r"} | fields


def parsed(*responses: Any, **fields: Any) -> Reply:
    found = responses[0] if len(responses) == 1 else list(responses)
    return WIRE.parse(json.dumps(found).encode(), request(**fields))


def streamed(*responses: Any, **fields: Any) -> Reply:
    parser = WIRE.stream_parser(request(**fields))
    for one in responses:
        parser.feed(StreamEvent(("", json.dumps(one))))
    return parser.finish()
