"""Amazon's SDK, InvokeModel with Anthropic's messages: it carries bytes, what they say is the caller's."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from ..judge import PARAMETERS, Got, Words
from .bedrock_converse import MODEL, SDK as Converse

BASE = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 4096}
TOOLS = [{"name": "search", "input_schema": dict(PARAMETERS)}]


class SDK(Converse):
    """The same client and the same errors as for Converse."""

    words = Words(
        finish={"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "refused": "refusal"},
        errors=Converse.words.errors,
    )

    def user(self, text: str) -> list[Any]:
        return [{"role": "user", "content": text}]

    def results(self, got: Got, texts: Sequence[str]) -> list[Any]:
        pairs = zip(got.ids, texts, strict=True)
        blocks = [{"type": "tool_result", "tool_use_id": id, "content": text} for id, text in pairs]
        return [{"role": "user", "content": blocks}]

    async def ask(self, history: Sequence[Any], *, stream: bool = False, tools: bool = False) -> Got:
        body = {**BASE, "messages": list(history), **({"tools": TOOLS} if tools else {})}
        return await asyncio.to_thread(
            self._streamed if stream else self._whole, {"modelId": MODEL, "body": json.dumps(body)}
        )

    def _whole(self, asked: dict[str, Any]) -> Got:
        done = json.loads(self.client.invoke_model(**asked)["body"].read())
        return _got(done["content"], done["stop_reason"], done["usage"])

    def _streamed(self, asked: dict[str, Any]) -> Got:
        with contextlib.closing(self.client.invoke_model_with_response_stream(**asked)["body"]) as stream:
            events = [json.loads(event["chunk"]["bytes"]) for event in stream]
        first, *_, last, end = events
        assert (first["type"], last["type"], end["type"]) == ("message_start", "message_delta", "message_stop")
        return _got(_joined(events), last["delta"]["stop_reason"], {**first["message"]["usage"], **last["usage"]})

    async def ask_for_nonsense(self) -> object:
        nobody = {"type": "tool_result", "tool_use_id": "toolu_nobody_made", "content": "x"}
        return await self.ask([{"role": "user", "content": [nobody]}], tools=True)


def _joined(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    blocks: dict[int, dict[str, Any]] = {}
    inputs: dict[int, str] = {}
    for event in events:
        if event["type"] == "content_block_start":
            blocks[event["index"]] = event["content_block"]
        if event["type"] == "content_block_delta":
            for name, piece in event["delta"].items():
                if name == "partial_json":
                    inputs[event["index"]] = inputs.get(event["index"], "") + piece
                elif name != "type":
                    blocks[event["index"]][name] += piece
    for index, text in inputs.items():
        blocks[index]["input"] = json.loads(text or "{}")
    return [blocks[index] for index in sorted(blocks)]


def _got(content: list[dict[str, Any]], finish: str, usage: dict[str, int]) -> Got:
    calls = [block for block in content if block["type"] == "tool_use"]
    cached = usage["cache_read_input_tokens"]
    return Got(
        text="".join(block["text"] for block in content if block["type"] == "text"),
        finish=finish,
        usage={"input": usage["input_tokens"] + cached, "output": usage["output_tokens"], "cached": cached},
        turn=[{"role": "assistant", "content": content}],
        calls=[(one["name"], one["input"]) for one in calls],
        ids=[one["id"] for one in calls],
        reasoning="".join(block["thinking"] for block in content if block["type"] == "thinking"),
    )
