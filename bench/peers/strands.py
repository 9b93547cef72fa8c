"""strands-agents. Any stop reason but the end of the turn counts as an error, though nothing is raised."""

from __future__ import annotations

from typing import Any

PACKAGE = "strands-agents"
REQUIREMENTS = ("strands-agents[openai]==1.62.0",)
WIRES = ("openai",)
MODES = ("whole", "streamed")
SETUP = "Agent.invoke_async on OpenAIModel, with stream=False and True; limit: limits={'turns': 5}, off by default."
ENV = {"OTEL_SDK_DISABLED": "true"}


async def run(url: str, wire: str, streamed: bool, tools: list[Any], limit: int) -> tuple[str, str | None]:
    """One agent, once."""
    from strands import Agent, tool
    from strands.models.openai import OpenAIModel

    model = OpenAIModel(client_args={"api_key": "none", "base_url": url}, model_id="fake", stream=streamed)
    agent = Agent(model=model, system_prompt="You help.", tools=[tool(one) for one in tools], callback_handler=None)
    result = await agent.invoke_async("go", limits={"turns": limit})
    return str(result).strip(), None if result.stop_reason == "end_turn" else f"stop reason {result.stop_reason}"
