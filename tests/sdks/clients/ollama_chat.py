"""Ollama's SDK, chat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ollama

from officellm.testing import FakeLLM

from ..judge import PARAMETERS, Failure, Got, Words

MODEL = "llama-fake"
TOOLS = [ollama.Tool.model_validate({"type": "function", "function": {"name": "search", "parameters": PARAMETERS}})]


class SDK:
    """`AsyncClient.chat`. The SDK puts no stream together, and drops the ids of calls."""

    words = Words(
        finish={"stop": "stop", "length": "length", "tool_calls": "stop", "refused": "stop"},
        errors={
            "rate_limit": Failure(ollama.ResponseError, 429),
            "bad_request": Failure(ollama.ResponseError, 400),
            "auth": Failure(ollama.ResponseError, 401),
            "mid_stream": Failure(ollama.ResponseError),
        },
    )

    def __init__(self, llm: FakeLLM, key: str) -> None:
        self.client = ollama.AsyncClient(host=llm.ollama_url, headers={"authorization": f"Bearer {key}"})

    def user(self, text: str) -> list[Any]:
        return [ollama.Message(role="user", content=text)]

    def results(self, got: Got, texts: Sequence[str]) -> list[Any]:
        return [
            ollama.Message(role="tool", tool_name=name, content=text)
            for (name, _), text in zip(got.calls, texts, strict=True)
        ]

    async def ask(self, history: Sequence[Any], *, stream: bool = False, tools: bool = False) -> Got:
        asked: dict[str, Any] = {"model": MODEL, "messages": list(history), **({"tools": TOOLS} if tools else {})}
        if not stream:
            return _got([await self.client.chat(**asked)])
        return _got([line async for line in await self.client.chat(**asked, stream=True)])

    async def ask_for_nonsense(self) -> object:
        return await self.client.chat(model=MODEL, messages=self.user("hi"), keep_alive="for a while")

    async def models(self) -> list[str]:
        return [one.model for one in (await self.client.list()).models]

    def status(self, error: Exception) -> int | None:
        return error.status_code if isinstance(error, ollama.ResponseError) else None

    async def close(self) -> None:
        await self.client._client.aclose()


def _got(lines: Sequence[Any]) -> Got:
    said = [line.message for line in lines]
    calls = [one for message in said for one in message.tool_calls or ()]
    text = "".join(message.content or "" for message in said)
    thinking = "".join(message.thinking or "" for message in said)
    last = lines[-1]
    turn = ollama.Message(role="assistant", content=text, thinking=thinking or None, tool_calls=calls or None)
    return Got(
        text=text,
        finish=last.done_reason,
        usage={"input": last.prompt_eval_count, "output": last.eval_count},
        turn=[turn],
        calls=[(one.function.name, one.function.arguments) for one in calls],
        reasoning=thinking,
    )
