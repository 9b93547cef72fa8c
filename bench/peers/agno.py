"""agno, whose only limit is on calls. A run whose status is ERROR counts as an error, though nothing is raised."""

from __future__ import annotations

from typing import Any

PACKAGE = "agno"
REQUIREMENTS = ("agno==3.1.10", "openai==2.54.0")
WIRES = ("openai",)
MODES = ("whole", "streamed")
SETUP = "Agent.arun on OpenAILike, whole and with stream=True; limit: tool_call_limit=5, as there is none on requests."
ENV = {"AGNO_TELEMETRY": "false"}


async def run(url: str, wire: str, streamed: bool, tools: list[Any], limit: int) -> tuple[str, str | None]:
    """One agent, once."""
    from agno.agent import Agent
    from agno.models.openai.like import OpenAILike
    from agno.run import RunStatus
    from agno.run.agent import RunContentEvent, RunErrorEvent

    model = OpenAILike(id="fake", api_key="none", base_url=url)
    agent = Agent(model=model, instructions="You help.", tools=tools, telemetry=False, tool_call_limit=limit)
    if not streamed:
        result = await agent.arun("go")
        return result.content, str(result.content) if result.status == RunStatus.error else None
    answer, error = "", None
    async for event in agent.arun("go", stream=True):
        if isinstance(event, RunContentEvent) and isinstance(event.content, str):
            answer += event.content
        elif isinstance(event, RunErrorEvent):
            error = str(event.content)
    return answer, error
