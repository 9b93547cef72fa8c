"""officellm itself, from the interpreter that runs the table."""

from __future__ import annotations

from typing import Any

PACKAGE = "officellm"
REQUIREMENTS = ()
WIRES = ("openai", "anthropic", "gemini")
MODES = ("whole", "streamed")
SETUP = "Agent.run, Office.stream; limit: max_turns=5."

FORMATS = {"openai": "openai_compat", "anthropic": "anthropic", "gemini": "gemini"}


async def run(url: str, wire: str, streamed: bool, tools: list[Any], limit: int) -> tuple[str, str | None]:
    """One agent, once."""
    from officellm import Agent, Limits, Office

    providers = {"fake": {"format": FORMATS[wire], "base_url": url}}
    agent = Agent("agent", instructions="You help.", model="fake:fake", tools=tools)
    async with Office(agent, providers=providers, limits=Limits(max_turns=limit)) as office:
        if streamed:
            async with office.stream("go") as running:
                async for _ in running:
                    pass
            result = running.result
        else:
            result = await office.run("go")
    return result.content, None if result.success else f"{result.stop_reason}: {result.error}"
