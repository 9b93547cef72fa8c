"""pydantic-ai. Streams go by `run_stream_events`: its `run_stream` is documented to end at the first text."""

from __future__ import annotations

from typing import Any

PACKAGE = "pydantic-ai-slim"
REQUIREMENTS = ("pydantic-ai-slim[openai]==2.68.0",)
WIRES = ("openai",)
MODES = ("whole", "streamed")
SETUP = "Agent.run, Agent.run_stream_events on OpenAIChatModel; limit: UsageLimits(request_limit=5)."


async def run(url: str, wire: str, streamed: bool, tools: list[Any], limit: int) -> tuple[str, str | None]:
    """One agent, once."""
    from pydantic_ai import Agent, AgentRunResultEvent, UsageLimits
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("fake", provider=OpenAIProvider(base_url=url, api_key="none"))
    agent = Agent(model, instructions="You help.", tools=tools)
    limits = UsageLimits(request_limit=limit)
    if not streamed:
        return (await agent.run("go", usage_limits=limits)).output, None
    answer = ""
    async with agent.run_stream_events("go", usage_limits=limits) as events:
        async for event in events:
            if isinstance(event, AgentRunResultEvent):
                answer = event.result.output
    return answer, None
