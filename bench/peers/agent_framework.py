"""Microsoft's agent-framework, with its chat completions client."""

from __future__ import annotations

from typing import Any

PACKAGE = "agent-framework-core"
REQUIREMENTS = ("agent-framework-core==1.23.0", "agent-framework-openai==1.17.0")
WIRES = ("openai",)
MODES = ("whole", "streamed")
SETUP = "Agent.run on OpenAIChatCompletionClient, whole and with stream=True; limit: max_iterations=5 of the client."


async def run(url: str, wire: str, streamed: bool, tools: list[Any], limit: int) -> tuple[str, str | None]:
    """One agent, once."""
    from agent_framework import Agent
    from agent_framework.openai import OpenAIChatCompletionClient

    client = OpenAIChatCompletionClient(model="fake", api_key="none", base_url=url)
    client.function_invocation_configuration["max_iterations"] = limit
    agent = Agent(client=client, instructions="You help.", tools=tools)
    if not streamed:
        return (await agent.run("go")).text, None
    running = agent.run("go", stream=True)
    async for _ in running:
        pass
    return (await running.get_final_response()).text, None
