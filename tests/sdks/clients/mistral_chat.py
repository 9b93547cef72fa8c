"""Mistral's SDK, chat completions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from mistralai.client import Mistral, errors, models

from officellm.testing import FakeLLM

from ..judge import PARAMETERS, Failure, Got, Tide, Words

MODEL = "mistral-fake"
TOOLS = [models.Tool(function=models.Function(name="search", parameters=dict(PARAMETERS)))]


class SDK:
    """`Mistral().chat`. The SDK puts no stream together: its deltas do, a call in each."""

    words = Words(
        finish={"stop": "stop", "length": "length", "tool_calls": "tool_calls", "refused": "stop"},
        errors={
            "rate_limit": Failure(errors.SDKError, 429),
            "bad_request": Failure(errors.SDKError, 400),
            "auth": Failure(errors.SDKError, 401),
            # The event is no chunk, and the SDK reads no other.
            "mid_stream": Failure(errors.ResponseValidationError, 200, quotes=False),
        },
    )

    def __init__(self, llm: FakeLLM, key: str) -> None:
        self.client = Mistral(api_key=key, server_url=llm.mistral_url.removesuffix("/v1"))

    def user(self, text: str) -> list[Any]:
        return [models.UserMessage(content=text)]

    def results(self, got: Got, texts: Sequence[str]) -> list[Any]:
        return [
            models.ToolMessage(content=text, tool_call_id=id, name=name)
            for id, (name, _), text in zip(got.ids, got.calls, texts, strict=True)
        ]

    async def ask(self, history: Sequence[Any], *, stream: bool = False, tools: bool = False) -> Got:
        asked: dict[str, Any] = {"model": MODEL, "messages": list(history), **({"tools": TOOLS} if tools else {})}
        if not stream:
            done = await self.client.chat.complete_async(**asked)
            return _got(done.choices[0].message, done.choices[0].finish_reason, done.usage)
        async with await self.client.chat.stream_async(**asked) as events:
            chunks = [event.data async for event in events]
        return _got(_joined(chunks), chunks[-1].choices[0].finish_reason, chunks[-1].usage)

    async def ask_for_nonsense(self) -> object:
        return await self.ask([*self.user("hi"), models.AssistantMessage(content="The last word is mine.")])

    async def parsed(self, text: str) -> Tide | None:
        done = await self.client.chat.parse_async(response_format=Tide, model=MODEL, messages=self.user(text))
        return done.choices[0].message.parsed

    async def models(self) -> list[str]:
        return [one.id for one in (await self.client.models.list_async()).data]

    def status(self, error: Exception) -> int | None:
        return error.status_code if isinstance(error, errors.MistralError) else None

    async def close(self) -> None:
        await self.client.__aexit__(None, None, None)


def _joined(chunks: Sequence[Any]) -> models.AssistantMessage:
    deltas = [chunk.choices[0].delta for chunk in chunks]
    thoughts = [part for delta in deltas if isinstance(delta.content, list) for part in delta.content]
    text = "".join(delta.content for delta in deltas if isinstance(delta.content, str))
    said = [*thoughts, models.TextChunk(text=text)] if thoughts else text
    return models.AssistantMessage(content=said, tool_calls=[c for delta in deltas for c in delta.tool_calls or ()])


def _got(message: models.AssistantMessage, finish: str, usage: models.UsageInfo) -> Got:
    said = message.content or ""
    parts = [models.TextChunk(text=said)] if isinstance(said, str) else said
    thoughts = [inner for part in parts if part.type == "thinking" for inner in part.thinking]
    calls = message.tool_calls or ()
    return Got(
        text="".join(part.text for part in parts if part.type == "text"),
        finish=finish,
        usage={"input": usage.prompt_tokens, "output": usage.completion_tokens},
        turn=[message],
        calls=[(one.function.name, json.loads(one.function.arguments)) for one in calls],
        ids=[one.id for one in calls],
        reasoning="".join(one.text for one in thoughts),
    )
