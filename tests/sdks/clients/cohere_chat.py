"""Cohere's SDK, chat of version 2."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import cohere
from cohere import errors

from officellm.testing import FakeLLM

from ..judge import PARAMETERS, Failure, Got, Words

MODEL = "command-fake"
TOOLS = [
    cohere.ToolV2(
        type="function",
        function=cohere.ToolV2Function(name="search", description="Search.", parameters=dict(PARAMETERS)),
    )
]


class SDK:
    """`AsyncClientV2`. The SDK puts no stream together: its events do."""

    words = Words(
        finish={"stop": "COMPLETE", "length": "MAX_TOKENS", "tool_calls": "TOOL_CALL", "refused": "ERROR_TOXIC"},
        errors={
            "rate_limit": Failure(errors.TooManyRequestsError, 429),
            "bad_request": Failure(errors.BadRequestError, 400),
            "auth": Failure(errors.UnauthorizedError, 401),
        },
    )

    def __init__(self, llm: FakeLLM, key: str) -> None:
        self.client = cohere.AsyncClientV2(api_key=key, base_url=llm.cohere_url, max_retries=0)

    def user(self, text: str) -> list[Any]:
        return [cohere.UserChatMessageV2(content=text)]

    def results(self, got: Got, texts: Sequence[str]) -> list[Any]:
        return [
            cohere.ToolChatMessageV2(
                tool_call_id=id, content=[cohere.DocumentToolContent(document=cohere.Document(data={"text": text}))]
            )
            for id, text in zip(got.ids, texts, strict=True)
        ]

    async def ask(self, history: Sequence[Any], *, stream: bool = False, tools: bool = False) -> Got:
        asked: dict[str, Any] = {"model": MODEL, "messages": list(history), **({"tools": TOOLS} if tools else {})}
        if not stream:
            done = await self.client.chat(**asked)
            return _got(done.message, done.finish_reason, done.usage)
        events = [event async for event in self.client.chat_stream(**asked)]
        last = events[-1].delta
        return _got(_joined(events), last.finish_reason, last.usage)

    async def ask_for_nonsense(self) -> object:
        unnamed = cohere.ToolV2Function(name="not-a-name", description="x", parameters=dict(PARAMETERS))
        tools = [cohere.ToolV2(type="function", function=unnamed)]
        return await self.client.chat(model=MODEL, messages=self.user("hi"), tools=tools)

    async def models(self) -> list[str]:
        return [one.name for one in (await self.client.models.list()).models]

    def status(self, error: Exception) -> int | None:
        return getattr(error, "status_code", None)

    async def close(self) -> None:
        await self.client._client_wrapper.httpx_client.httpx_client.aclose()


def _joined(events: Sequence[Any]) -> cohere.AssistantMessageResponse:
    said: dict[str, str] = {"text": "", "thinking": "", "plan": ""}
    calls: list[cohere.ToolCallV2] = []
    for event in events:
        if event.type == "content-delta":
            said["text"] += event.delta.message.content.text or ""
            said["thinking"] += event.delta.message.content.thinking or ""
        elif event.type == "tool-plan-delta":
            said["plan"] += event.delta.message.tool_plan
        elif event.type == "tool-call-start":
            calls.append(event.delta.message.tool_calls.model_copy(deep=True))
        elif event.type == "tool-call-delta":
            calls[-1].function.arguments += event.delta.message.tool_calls.function.arguments
    parts: list[Any] = [{"type": kind, kind: said[kind]} for kind in ("thinking", "text") if said[kind]]
    return cohere.AssistantMessageResponse(
        role="assistant", content=parts or None, tool_plan=said["plan"] or None, tool_calls=calls or None
    )


def _got(message: Any, finish: str, usage: Any) -> Got:
    parts = message.content or ()
    calls = message.tool_calls or ()
    counts = {"input": usage.tokens.input_tokens, "output": usage.tokens.output_tokens} if usage else {}
    content = [cohere.TextAssistantMessageV2ContentOneItem(text=part.text) for part in parts if part.type == "text"]
    turn = cohere.AssistantChatMessageV2(
        tool_plan=message.tool_plan, tool_calls=message.tool_calls, content=content or None
    )
    return Got(
        text=message.tool_plan or "".join(part.text for part in parts if part.type == "text"),
        finish=finish,
        usage=counts,
        turn=[turn],
        calls=[(one.function.name, json.loads(one.function.arguments)) for one in calls],
        ids=[one.id for one in calls],
        reasoning="".join(part.thinking for part in parts if part.type == "thinking"),
    )
