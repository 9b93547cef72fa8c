"""openai-agents, with its chat completions model, which is the one for servers other than OpenAI's own."""

from __future__ import annotations

from typing import Any

PACKAGE = "openai-agents"
REQUIREMENTS = ("openai-agents==0.24.0",)
WIRES = ("openai",)
MODES = ("whole", "streamed")
SETUP = "Runner.run, Runner.run_streamed on OpenAIChatCompletionsModel; limit: max_turns=5."
ENV = {"OPENAI_AGENTS_DISABLE_TRACING": "1"}


async def run(url: str, wire: str, streamed: bool, tools: list[Any], limit: int) -> tuple[str, str | None]:
    """One agent, once."""
    from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool
    from openai import AsyncOpenAI

    model = OpenAIChatCompletionsModel(model="fake", openai_client=AsyncOpenAI(base_url=url))
    agent = Agent(name="agent", instructions="You help.", model=model, tools=[function_tool(one) for one in tools])
    if not streamed:
        return (await Runner.run(agent, "go", max_turns=limit)).final_output, None
    result = Runner.run_streamed(agent, "go", max_turns=limit)
    async for _ in result.stream_events():
        pass
    return result.final_output, None
