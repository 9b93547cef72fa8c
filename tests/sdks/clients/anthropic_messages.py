"""Anthropic's SDK, messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anthropic

from officellm.testing import FakeLLM

from ..judge import PARAMETERS, Failure, Got, Tide, Words

BASE = {"model": "claude-fake", "max_tokens": 4096}
TOOLS = [{"name": "search", "input_schema": PARAMETERS}]


class SDK:
    """`AsyncAnthropic().messages`; streams are put together by its `stream` helper."""

    words = Words(
        finish={"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "refused": "refusal"},
        errors={
            "rate_limit": Failure(anthropic.RateLimitError, 429),
            "bad_request": Failure(anthropic.BadRequestError, 400),
            "auth": Failure(anthropic.AuthenticationError, 401),
            "mid_stream": Failure(anthropic.APIStatusError),
        },
    )

    def __init__(self, llm: FakeLLM, key: str) -> None:
        self.client = anthropic.AsyncAnthropic(
            api_key=key, base_url=llm.anthropic_url.removesuffix("/v1"), max_retries=0
        )

    def user(self, text: str) -> list[Any]:
        return [{"role": "user", "content": text}]

    def results(self, got: Got, texts: Sequence[str]) -> list[Any]:
        blocks = [
            {"type": "tool_result", "tool_use_id": id, "content": text} for id, text in zip(got.ids, texts, strict=True)
        ]
        return [{"role": "user", "content": blocks}]

    async def ask(
        self, history: Sequence[Any], *, stream: bool = False, tools: bool = False, thinking: bool = False
    ) -> Got:
        asked: dict[str, Any] = {**BASE, "messages": list(history), **({"tools": TOOLS} if tools else {})}
        if thinking:
            asked["thinking"] = {"type": "enabled", "budget_tokens": 2048}
        if not stream:
            return _got(await self.client.messages.create(**asked))
        async with self.client.messages.stream(**asked) as events:
            return _got(await events.get_final_message())

    async def ask_for_nonsense(self) -> object:
        nobody = {"type": "tool_result", "tool_use_id": "toolu_nobody_made", "content": "x"}
        return await self.ask([{"role": "user", "content": [nobody]}], tools=True)

    async def parsed(self, text: str) -> Tide | None:
        done = await self.client.messages.parse(**BASE, messages=self.user(text), output_format=Tide)
        return done.parsed_output

    async def models(self) -> list[str]:
        return [one.id async for one in self.client.models.list()]

    def status(self, error: Exception) -> int | None:
        return getattr(error, "status_code", None)

    async def close(self) -> None:
        await self.client.close()


def _got(done: Any) -> Got:
    calls = [block for block in done.content if block.type == "tool_use"]
    return Got(
        text="".join(block.text for block in done.content if block.type == "text"),
        finish=done.stop_reason,
        usage={
            "input": done.usage.input_tokens + done.usage.cache_read_input_tokens,
            "output": done.usage.output_tokens,
            "cached": done.usage.cache_read_input_tokens,
        },
        turn=[{"role": "assistant", "content": done.content}],
        calls=[(one.name, one.input) for one in calls],
        ids=[one.id for one in calls],
        reasoning="".join(block.thinking for block in done.content if block.type == "thinking"),
    )
