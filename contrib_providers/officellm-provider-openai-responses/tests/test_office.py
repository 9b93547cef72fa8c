"""An office that works over this format: tools, reasoning and a typed output, streamed and whole."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest
from officellm_provider_openai_responses import OpenAIResponsesSettings, make_provider
from pydantic import BaseModel

from officellm import Agent, Office

from .samples import USAGE, check_legal, function_call, message, reasoning, sse, streamed, whole


class Tide(BaseModel):
    hour: int


def low_tide(place: str) -> str:
    """When low tide is."""
    return f"6 in {place}"


TURNS = [
    (reasoning("rs_1", "AAAA"), function_call("call_1", "low_tide", '{"place": "Sylt"}')),
    (reasoning("rs_2", "BBBB"), message('{"hour": 6}')),
]


@pytest.mark.parametrize("as_stream", [False, True], ids=["whole", "streamed"])
def test_an_agent_works_with_tools_and_keeps_its_thoughts(as_stream: bool) -> None:
    bodies: list[dict[str, Any]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        output = TURNS[len(bodies)]
        bodies.append(json.loads(request.content))
        if bodies[-1].get("stream"):
            body = sse(*streamed(*output, usage=USAGE))
            return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=body)
        return httpx.Response(200, json=json.loads(whole(*output, usage=USAGE)))

    async def work() -> Any:
        async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
            block = OpenAIResponsesSettings(base_url="https://h/v1")
            provider = make_provider("gpt", block, lambda: client)
            office = Office(Agent("guide", model="gpt:gpt-5", tools=[low_tide]), providers={"gpt": provider})
            async with office:
                if not as_stream:
                    return await office.run("When?", output_type=Tide)
                async with office.stream("When?", output_type=Tide) as run:
                    async for _ in run:
                        pass
                    return run.result

    result = asyncio.run(work())

    assert (result.success, result.output) == (True, Tide(hour=6))
    assert (result.usage.input, result.usage.output, result.usage.cached, result.usage.complete) == (40, 14, 32, True)
    assert bodies[0].get("stream", False) is as_stream
    assert bodies[0]["text"]["format"]["type"] == "json_schema"
    assert bodies[1]["input"][-3:] == [
        *TURNS[0],
        {"type": "function_call_output", "call_id": "call_1", "output": "6 in Sylt"},
    ]
    for body in bodies:
        check_legal(body)
