"""officellm itself, as `workloads.py` asks for it: built once, run many times."""

from __future__ import annotations

from officellm import Agent, Limits, Office


def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


class Ours:
    """What `workloads.py` asks of a peer."""

    name = "officellm"

    def __init__(self, url: str) -> None:
        provider = {"format": "openai_compat", "base_url": url}
        common = {"providers": {"bench": provider}, "limits": Limits(max_turns=None, loop_window=None)}
        adder = Agent("adder", instructions="You add numbers.", model="bench:fake", tools=[add])
        workers = [
            Agent(name, f"Worker {name}", instructions=f"You are {name}.", model="bench:fake", tools=[add])
            for name in ("worker_a", "worker_b", "worker_c")
        ]
        self._alone = Office(adder, **common)
        self._team = Office(Agent("boss", instructions="You manage.", model="bench:fake"), workers=workers, **common)

    async def tool_loop(self, prompt: str) -> str:
        """One agent, one tool."""
        return (await self._alone.run(prompt)).raise_for_error().content

    async def manager(self, prompt: str) -> str:
        """A manager and three workers, each with the tool."""
        return (await self._team.run(prompt)).raise_for_error().content

    async def close(self) -> None:
        """Close the connections."""
        await self._alone.aclose()
        await self._team.aclose()
