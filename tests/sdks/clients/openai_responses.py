"""OpenAI's SDK, responses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import openai

from officellm.testing import FakeLLM

from ..judge import PARAMETERS, Failure, Got, Tide, Words

BASE = {"model": "gpt-fake", "store": False, "include": ["reasoning.encrypted_content"]}
TOOLS = [{"type": "function", "name": "search", "strict": True, "parameters": PARAMETERS}]


class SDK:
    """`AsyncOpenAI().responses`; streams are put together by its `stream` helper."""

    words = Words(
        finish={
            "stop": "completed",
            "length": "max_output_tokens",
            "tool_calls": "completed",
            "refused": "content_filter",
        },
        errors={
            "rate_limit": Failure(openai.RateLimitError, 429),
            "bad_request": Failure(openai.BadRequestError, 400),
            "auth": Failure(openai.AuthenticationError, 401),
            "mid_stream": Failure(openai.APIError),
        },
    )

    def __init__(self, llm: FakeLLM, key: str) -> None:
        self.client = openai.AsyncOpenAI(api_key=key, base_url=llm.responses_url, max_retries=0)

    def user(self, text: str) -> list[Any]:
        return [{"role": "user", "content": text}]

    def results(self, got: Got, texts: Sequence[str]) -> list[Any]:
        return [
            {"type": "function_call_output", "call_id": id, "output": text}
            for id, text in zip(got.ids, texts, strict=True)
        ]

    async def ask(self, history: Sequence[Any], *, stream: bool = False, tools: bool = False) -> Got:
        asked: dict[str, Any] = {**BASE, "input": list(history), **({"tools": TOOLS} if tools else {})}
        if not stream:
            return _got(await self.client.responses.create(**asked))
        ending = None
        async with self.client.responses.stream(**asked) as events:
            async for event in events:
                if event.type in ("response.completed", "response.incomplete"):
                    ending = event.response
        return _got(ending)

    async def ask_for_nonsense(self) -> object:
        return await self.ask([{"type": "function_call_output", "call_id": "call_nobody_made", "output": "x"}])

    async def parsed(self, text: str) -> Tide | None:
        done = await self.client.responses.parse(**BASE, input=self.user(text), text_format=Tide)
        return done.output_parsed

    async def models(self) -> list[str]:
        return [one.id async for one in self.client.models.list()]

    def status(self, error: Exception) -> int | None:
        return getattr(error, "status_code", None)

    async def close(self) -> None:
        await self.client.close()


def _got(done: Any) -> Got:
    calls = [item for item in done.output if item.type == "function_call"]
    thoughts = [item for item in done.output if item.type == "reasoning"]
    parts = [part for item in done.output if item.type == "message" for part in item.content]
    return Got(
        text=done.output_text,
        finish=done.incomplete_details.reason if done.incomplete_details else done.status,
        usage={
            "input": done.usage.input_tokens,
            "output": done.usage.output_tokens,
            "cached": done.usage.input_tokens_details.cached_tokens,
            "reasoning": done.usage.output_tokens_details.reasoning_tokens,
        },
        turn=done.output,
        calls=[(one.name, json.loads(one.arguments)) for one in calls],
        ids=[one.call_id for one in calls],
        reasoning="".join(part.text for one in thoughts for part in one.summary),
        refusal="".join(part.refusal for part in parts if part.type == "refusal"),
    )
