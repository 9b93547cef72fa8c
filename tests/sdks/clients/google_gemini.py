"""Google's SDK, generateContent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from google import genai
from google.genai import errors, types

from officellm.testing import FakeLLM

from ..judge import PARAMETERS, Failure, Got, Tide, Words

MODEL = "gemini-3-fake"
SEARCH = types.FunctionDeclaration(name="search", description="Search.", parameters_json_schema=dict(PARAMETERS))
TOOLS = [types.Tool(function_declarations=[SEARCH])]


class SDK:
    """`Client().aio.models`. The SDK puts no stream together: its chunks' parts are the turn."""

    words = Words(
        finish={"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP", "refused": "PROHIBITED_CONTENT"},
        errors={
            "rate_limit": Failure(errors.ClientError, 429),
            "bad_request": Failure(errors.ClientError, 400),
            "auth": Failure(errors.ClientError, 401),
            "mid_stream": Failure(errors.APIError, 529),
        },
    )

    def __init__(self, llm: FakeLLM, key: str) -> None:
        once = types.HttpRetryOptions(attempts=1)
        self.client = genai.Client(
            api_key=key, vertexai=False, http_options=types.HttpOptions(base_url=llm.url, retry_options=once)
        )

    def user(self, text: str) -> list[Any]:
        return [types.UserContent(parts=[types.Part.from_text(text=text)])]

    def results(self, got: Got, texts: Sequence[str]) -> list[Any]:
        parts = [
            types.Part(function_response=types.FunctionResponse(id=id, name=name, response={"output": text}))
            for id, (name, _), text in zip(got.ids, got.calls, texts, strict=True)
        ]
        return [types.Content(role="user", parts=parts)]

    async def ask(self, history: Sequence[Any], *, stream: bool = False, tools: bool = False) -> Got:
        config = types.GenerateContentConfig(tools=TOOLS if tools else None)
        asked: dict[str, Any] = {"model": MODEL, "contents": list(history), "config": config}
        if not stream:
            return _got([await self.client.aio.models.generate_content(**asked)])
        return _got([chunk async for chunk in await self.client.aio.models.generate_content_stream(**asked)])

    async def ask_for_nonsense(self) -> object:
        answer = types.FunctionResponse(name="search", response={"output": "to nobody"})
        return await self.ask([types.Content(role="user", parts=[types.Part(function_response=answer)])])

    async def parsed(self, text: str) -> Tide | None:
        config = types.GenerateContentConfig(response_mime_type="application/json", response_schema=Tide)
        done = await self.client.aio.models.generate_content(model=MODEL, contents=self.user(text), config=config)
        return done.parsed

    async def models(self) -> list[str]:
        return [one.name.removeprefix("models/") async for one in await self.client.aio.models.list()]

    def status(self, error: Exception) -> int | None:
        return error.code if isinstance(error, errors.APIError) else None

    async def close(self) -> None:
        await self.client.aio.aclose()
        self.client.close()


def _got(chunks: Sequence[Any]) -> Got:
    parts = [part for chunk in chunks for part in chunk.parts or ()]
    last = chunks[-1]
    calls = [part.function_call for part in parts if part.function_call]
    finish = last.candidates[0].finish_reason if last.candidates else last.prompt_feedback.block_reason
    usage = last.usage_metadata
    return Got(
        text="".join(part.text for part in parts if part.text and not part.thought),
        finish=finish.value,
        usage={
            "input": usage.prompt_token_count,
            "output": usage.candidates_token_count + (usage.thoughts_token_count or 0),
            "cached": usage.cached_content_token_count,
            "reasoning": usage.thoughts_token_count,
        },
        turn=[types.ModelContent(parts=parts)] if parts else [],
        calls=[(one.name, one.args) for one in calls],
        ids=[one.id for one in calls],
        reasoning="".join(part.text for part in parts if part.thought),
    )
