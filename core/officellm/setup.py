"""An agent made ready to run in one office: its provider, model, toolset and limits, built once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from officellm.agents import Agent
from officellm.limits import MANAGER_TURNS, WORKER_TURNS, Limits
from officellm.messages import ToolSpec
from officellm.protocols import Provider
from officellm.toolset import Toolset


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """What the loop needs of an agent."""

    agent: Agent
    provider: Provider
    model: str
    toolset: Toolset
    #: The agent's own limits over the team's.
    limits: Limits
    has_workers: bool
    #: Toolsets with a transfer tool, by targets: built once each.
    variants: dict[Any, Toolset] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.agent.name

    def max_turns(self, limits: Limits) -> int | None:
        """Turns of one run of this agent; None for no limit."""
        if limits.is_set("max_turns"):
            return limits.max_turns
        return MANAGER_TURNS if self.has_workers else WORKER_TURNS

    def instructions(self) -> str:
        """What the agent is told, with generated guidance where it asked for that."""
        if not self.agent.guidance:
            return self.agent.instructions
        return f"{self.agent.instructions}\n\n{guidance(self.toolset.specs)}".strip()


def guidance(specs: tuple[ToolSpec, ...]) -> str:
    """How to work, in words that suit any model: what there is to call, and how to finish."""
    lines = []
    if specs:
        lines.append("You can call:")
        lines.extend(f"- {spec.name}: {spec.description.splitlines()[0]}" for spec in specs)
        lines.append("Do not repeat a call that you already have the result of.")
    lines.append("When you are done, answer without calling anything: that answer is your result.")
    return "\n".join(lines)
