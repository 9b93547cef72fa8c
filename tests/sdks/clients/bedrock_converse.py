"""Amazon's SDK, Bedrock's Converse. It is not async: its calls run in a thread."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError, EventStreamError

from officellm.testing import FakeLLM

from ..judge import PARAMETERS, Failure, Got, Words

MODEL = "anthropic.claude-fake-v1:0"
SCHEMA = {"json": dict(PARAMETERS)}
TOOLS = {"tools": [{"toolSpec": {"name": "search", "description": "Search.", "inputSchema": SCHEMA}}]}


class SDK:
    """`client("bedrock-runtime")`, which signs its requests. The SDK puts no stream together: its events do."""

    words = Words(
        finish={
            "stop": "end_turn",
            "length": "max_tokens",
            "tool_calls": "tool_use",
            "refused": "content_filtered",
        },
        errors={
            "rate_limit": Failure(ClientError, 429),
            "bad_request": Failure(ClientError, 400),
            "auth": Failure(ClientError, 403),
            "mid_stream": Failure(EventStreamError),
        },
    )

    def __init__(self, llm: FakeLLM, key: str) -> None:
        # The SDK sends an API key over HTTPS only: without, the key is the access key's id, which is sent in the clear.
        self.client = boto3.client(
            "bedrock-runtime",
            region_name="us-east-1",
            endpoint_url=llm.bedrock_url,
            aws_access_key_id=key,
            aws_secret_access_key="secret",
            config=Config(retries={"total_max_attempts": 1}),
        )

    def user(self, text: str) -> list[Any]:
        return [{"role": "user", "content": [{"text": text}]}]

    def results(self, got: Got, texts: Sequence[str]) -> list[Any]:
        blocks = [
            {"toolResult": {"toolUseId": id, "content": [{"text": text}]}}
            for id, text in zip(got.ids, texts, strict=True)
        ]
        return [{"role": "user", "content": blocks}]

    async def ask(self, history: Sequence[Any], *, stream: bool = False, tools: bool = False) -> Got:
        asked: dict[str, Any] = {"modelId": MODEL, "messages": list(history)}
        if tools:
            asked["toolConfig"] = TOOLS
        return await asyncio.to_thread(self._streamed if stream else self._whole, asked)

    def _whole(self, asked: dict[str, Any]) -> Got:
        done = self.client.converse(**asked)
        return _got(done["output"]["message"]["content"], done["stopReason"], done["usage"])

    def _streamed(self, asked: dict[str, Any]) -> Got:
        with contextlib.closing(self.client.converse_stream(**asked)["stream"]) as stream:
            events = list(stream)
        found = {name: value for event in events for name, value in event.items()}
        return _got(_joined(events), found["messageStop"]["stopReason"], found["metadata"]["usage"])

    async def ask_for_nonsense(self) -> object:
        nobody = {"toolResult": {"toolUseId": "tooluse_nobody_made", "content": [{"text": "x"}]}}
        return await self.ask([{"role": "user", "content": [nobody]}], tools=True)

    def status(self, error: Exception) -> int | None:
        return error.response["ResponseMetadata"]["HTTPStatusCode"] if isinstance(error, ClientError) else None

    async def close(self) -> None:
        self.client.close()


def _joined(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    blocks: dict[int, dict[str, Any]] = {}
    for event in events:
        if start := event.get("contentBlockStart"):
            blocks[start["contentBlockIndex"]] = {"toolUse": {**start["start"]["toolUse"], "input": ""}}
        if piece := event.get("contentBlockDelta"):
            _add(blocks.setdefault(piece["contentBlockIndex"], {}), piece["delta"])
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"] or "{}")
    return [blocks[index] for index in sorted(blocks)]


def _add(block: dict[str, Any], delta: dict[str, Any]) -> None:
    if "text" in delta:
        block["text"] = block.get("text", "") + delta["text"]
    if "toolUse" in delta:
        block["toolUse"]["input"] += delta["toolUse"]["input"]
    for name, text in delta.get("reasoningContent", {}).items():
        thought = block.setdefault("reasoningContent", {"reasoningText": {}})["reasoningText"]
        thought[name] = thought.get(name, "") + text


def _got(content: list[dict[str, Any]], finish: str, usage: dict[str, int]) -> Got:
    calls = [block["toolUse"] for block in content if "toolUse" in block]
    thoughts = [block["reasoningContent"]["reasoningText"] for block in content if "reasoningContent" in block]
    cached = usage.get("cacheReadInputTokens", 0)
    return Got(
        text="".join(block.get("text", "") for block in content),
        finish=finish,
        usage={"input": usage["inputTokens"] + cached, "output": usage["outputTokens"], "cached": cached},
        turn=[{"role": "assistant", "content": content}],
        calls=[(one["name"], one["input"]) for one in calls],
        ids=[one["toolUseId"] for one in calls],
        reasoning="".join(one["text"] for one in thoughts),
    )
