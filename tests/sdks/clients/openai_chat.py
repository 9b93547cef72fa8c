"""OpenAI's SDK, chat completions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import openai

from officellm.testing import FakeLLM

from ..judge import PARAMETERS, Failure, Got, Tide, Words

MODEL = "gpt-fake"
TOOLS = [{"type": "function", "function": {"name": "search", "strict": True, "parameters": PARAMETERS}}]


class SDK:
    """`AsyncOpenAI().chat.completions`; streams are put together by its `stream` helper."""

    words = Words(
        finish={"stop": "stop", "length": "length", "tool_calls": "tool_calls", "refused": "content_filter"},
        errors={
            "rate_limit": Failure(openai.RateLimitError, 429),
            "bad_request": Failure(openai.BadRequestError, 400),
            "auth": Failure(openai.AuthenticationError, 401),
            "mid_stream": Failure(openai.APIError),
        },
    )

    def __init__(self, llm: FakeLLM, key: str) -> None:
        self.client = openai.AsyncOpenAI(api_key=key, base_url=llm.openai_url, max_retries=0)

    def user(self, text: str) -> list[Any]:
        return [{"role": "user", "content": text}]

    def results(self, got: Got, texts: Sequence[str]) -> list[Any]:
        return [{"role": "tool", "tool_call_id": id, "content": text} for id, text in zip(got.ids, texts, strict=True)]

    async def ask(self, history: Sequence[Any], *, stream: bool = False, tools: bool = False) -> Got:
        asked: dict[str, Any] = {"model": MODEL, "messages": list(history), **({"tools": TOOLS} if tools else {})}
        if not stream:
            return _got(await self.client.chat.completions.create(**asked))
        counted = {"stream_options": {"include_usage": True}}
        async with self.client.chat.completions.stream(**asked, **counted) as events:
            async for _ in events:
                pass
            try:
                return _got(await events.get_final_completion())
            except (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError) as cut:
                return _got(cut.completion)

    async def ask_for_nonsense(self) -> object:
        return await self.ask([{"role": "tool", "tool_call_id": "call_nobody_made", "content": "x"}])

    async def parsed(self, text: str) -> Tide | None:
        done = await self.client.chat.completions.parse(model=MODEL, messages=self.user(text), response_format=Tide)
        return done.choices[0].message.parsed

    async def models(self) -> list[str]:
        return [one.id async for one in self.client.models.list()]

    def status(self, error: Exception) -> int | None:
        return getattr(error, "status_code", None)

    async def close(self) -> None:
        await self.client.close()


def _got(done: Any) -> Got:
    choice = done.choices[0]
    message = choice.message
    calls = message.tool_calls or ()
    return Got(
        text=message.content or "",
        finish=choice.finish_reason,
        usage={
            "input": done.usage.prompt_tokens,
            "output": done.usage.completion_tokens,
            "cached": done.usage.prompt_tokens_details.cached_tokens,
            "reasoning": done.usage.completion_tokens_details.reasoning_tokens,
        },
        turn=[message],
        calls=[(one.function.name, json.loads(one.function.arguments)) for one in calls],
        ids=[one.id for one in calls],
        reasoning=getattr(message, "reasoning_content", ""),
        refusal=message.refusal or "",
    )
