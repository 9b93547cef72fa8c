"""Anthropic's rules for a request, and one reply of its API whole and as a stream."""

from __future__ import annotations

import json
import re
from typing import Any

from officellm import Reply, Request, StreamEvent, ToolCall, ToolSpec, User
from officellm_builtin.providers.anthropic import Anthropic

WIRE = Anthropic()
MODEL = "claude-test"
ORIGIN = ("anthropic", MODEL)
BASE = "https://api.anthropic.com"


def request(*messages: Any, **fields: Any) -> Request:
    return Request(model=MODEL, messages=messages or (User("hi"),), **fields)


def body(*messages: Any, wire: Anthropic = WIRE, **fields: Any) -> dict[str, Any]:
    return json.loads(wire.build(request(*messages, **fields), BASE).body)


def call(id: str, name: str = "search", raw: str = "{}") -> ToolCall:
    return ToolCall.parse(id, name, raw)


def check_legal(sent: dict[str, Any]) -> None:
    """The vendor's rules for a request, as far as a history can break them."""
    turns = sent["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * (len(turns) // 2) + ["user"]
    waiting: list[str] = []
    seen: set[str] = set()
    for turn in turns:
        content = turn["content"]
        assert content, "a turn without content"
        results = [block for block in content if block["type"] == "tool_result"]
        assert content[: len(results)] == results, "results must come first"
        assert [block["tool_use_id"] for block in results] == waiting
        for block in content:
            check_block(block, turn["role"])
        waiting = [block["id"] for block in content if block["type"] == "tool_use"]
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", id) for id in waiting)
        assert not seen & set(waiting)
        assert len(set(waiting)) == len(waiting)
        seen |= set(waiting)
        assert content[-1]["type"] not in ("thinking", "redacted_thinking")
    assert "tools" in sent or not seen
    assert "tool_choice" not in sent or "tools" in sent
    assert all(block["text"].strip() for block in sent.get("system", []))


def check_block(block: dict[str, Any], role: str) -> None:
    kind = block["type"]
    allowed = {"user": ("text", "image", "document", "tool_result"), "assistant": ("text", "tool_use")}
    assert kind in allowed[role]
    if kind == "text":
        assert block["text"].strip()
    if kind == "tool_use":
        assert isinstance(block["input"], dict)
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", block["name"])
    if kind == "tool_result":
        assert block["content"].strip()


THINKING = [
    {"type": "thinking", "thinking": "", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "b3BhcXVl"},
    {"type": "text", "text": "I look."},
    {"type": "thinking", "thinking": "more", "signature": "bW9yZQ=="},
    {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": "x"}},
    {"type": "thinking", "thinking": "again", "signature": "YWdhaW4="},
    {"type": "tool_use", "id": "toolu_2", "name": "search", "input": {}},
]
USAGE = {
    "input_tokens": 2,
    "cache_read_input_tokens": 100,
    "cache_creation_input_tokens": 10,
    "output_tokens": 7,
    "output_tokens_details": {"thinking_tokens": 3},
}


def message(content: list[Any], stop: str = "end_turn", **fields: Any) -> bytes:
    return json.dumps(
        {"type": "message", "id": "msg_1", "model": MODEL, "content": content, "stop_reason": stop, "usage": USAGE}
        | fields
    ).encode()


def event(kind: str, **fields: Any) -> StreamEvent:
    return StreamEvent((kind, json.dumps({"type": kind, **fields})))


def events(content: list[dict[str, Any]], stop: str = "end_turn") -> list[StreamEvent]:
    """The same message as a stream, every text cut in two and with noise that must be ignored."""
    start = {"id": "msg_1", "model": MODEL, "content": [], "stop_reason": None, "usage": {**USAGE, "output_tokens": 1}}
    out = [event("message_start", message=start), event("ping"), event("new_thing", index=9)]
    for index, block in enumerate(content):
        grown = {"text": "text_delta", "thinking": "thinking_delta", "signature": "signature_delta"}
        first = {key: "" if key in grown else value for key, value in block.items() if key != "input"}
        out.append(event("content_block_start", index=index, content_block=first))
        out.append(event("content_block_delta", index=index, delta={"type": "new_delta"}))
        for key, kind in grown.items():
            text = block.get(key, "")
            out += [
                event("content_block_delta", index=index, delta={"type": kind, key: piece})
                for piece in (text[:2], text[2:])
                if piece
            ]
        raw = json.dumps(block["input"]) if block.get("input") else ""
        if "input" in block:
            out += [
                event("content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": piece})
                for piece in ("", raw[:3], raw[3:])
            ]
        out.append(event("content_block_stop", index=index))
    out.append(event("message_delta", delta={"stop_reason": stop}, usage={"output_tokens": 7, "input_tokens": None}))
    out.append(event("message_stop"))
    return out


def streamed(feed: list[StreamEvent], tools: tuple[ToolSpec, ...] = ()) -> Reply:
    parser = WIRE.stream_parser(request(tools=tools))
    for one in feed:
        parser.feed(one)
    return parser.finish()


def parsed(content: list[Any], stop: str = "end_turn", **fields: Any) -> Reply:
    return WIRE.parse(message(content, stop, **fields), request())
