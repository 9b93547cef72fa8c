"""smolagents' ToolCallingAgent, which ends with a call of its tool `final_answer` and sends its history as text."""

from __future__ import annotations

import asyncio
from typing import Any

PACKAGE = "smolagents"
REQUIREMENTS = ("smolagents[openai]==1.26.0",)
WIRES = ("openai",)
MODES = ("whole", "streamed")
SETUP = "ToolCallingAgent.run on OpenAIModel, with stream_outputs=False and True; limit: max_steps=5."


async def run(url: str, wire: str, streamed: bool, tools: list[Any], limit: int) -> tuple[str, str | None]:
    """One agent, once."""
    from smolagents import LogLevel, OpenAIModel, ToolCallingAgent, tool

    agent = ToolCallingAgent(
        tools=[tool(one) for one in tools],
        model=OpenAIModel(model_id="fake", api_base=url, api_key="none"),
        max_steps=limit,
        stream_outputs=streamed,
        verbosity_level=LogLevel.OFF,
    )
    result = await asyncio.to_thread(agent.run, "go", return_full_result=True)
    return str(result.output), None if result.state == "success" else result.state
