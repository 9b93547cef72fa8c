"""An agent: who it is, what it is told, which model, which tools, which workers, which limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from officellm.errors import ConfigError
from officellm.limits import Limits
from officellm.tools import Tool, as_tool

if TYPE_CHECKING:
    from pydantic import BaseModel

    from officellm.protocols import Provider
    from officellm.results import Result
    from officellm.tasks import Task

#: Safe as a function name on every wire.
LEGAL_NAME = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_-]{0,63}\Z")


@dataclass(frozen=True, eq=False)
class Agent:
    """A name, a description, instructions, a model, tools, limits; maybe workers, which it calls like tools.

    `model` is `"provider:model"`, or a provider object such as `officellm.testing.scripted([...])`. `description` is
    what routers, managers and transfers choose by. `params` (a pydantic model or a JSON Schema) is what a caller must
    pass; a task, priority and context without it. `transfers` names the agents it may hand over to (every other one
    without it). `context_window` is the number of messages sent at most, the instructions and the task always among
    them. `on_limit="summarize"` allows one closing request without tools after a limit.
    """

    name: str
    description: str = ""
    model: str | Provider | None = field(default=None, kw_only=True)
    instructions: str = field(default="", kw_only=True)
    tools: Sequence[Callable[..., Any] | Tool | str] = field(default=(), kw_only=True)
    workers: Sequence[Agent | str] = field(default=(), kw_only=True)
    params: type[BaseModel] | Mapping[str, Any] | None = field(default=None, kw_only=True)
    transfers: Sequence[str] | None = field(default=None, kw_only=True)
    settings: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    limits: Limits = field(default_factory=Limits, kw_only=True)
    context_window: int | None = field(default=None, kw_only=True)
    on_limit: Literal["stop", "summarize"] = field(default="stop", kw_only=True)
    guidance: bool = field(default=False, kw_only=True)
    role: str = field(default="", kw_only=True)
    capabilities: Sequence[str] = field(default=(), kw_only=True)
    deny: Sequence[str] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not LEGAL_NAME.match(self.name):
            raise ConfigError(
                f"agent name {self.name!r} is not legal: a letter or _, then letters, digits, _ or -, 64 at most"
            )
        for what in ("tools", "workers", "transfers", "deny", "capabilities"):
            if isinstance(getattr(self, what), str):
                raise ConfigError(f"agent {self.name!r}: {what} must be a list, not the text {getattr(self, what)!r}")
        if not isinstance(self.limits, Limits):
            raise ConfigError(f"agent {self.name!r}: limits must be a Limits, not {self.limits!r}")
        if self.on_limit not in ("stop", "summarize"):
            raise ConfigError(f"agent {self.name!r}: on_limit must be 'stop' or 'summarize', not {self.on_limit!r}")
        if self.context_window is not None and self.context_window < 4:
            raise ConfigError(f"agent {self.name!r}: context_window must be at least 4, not {self.context_window}")
        for worker in self.workers:
            if worker is self or worker == self.name:
                raise ConfigError(f"agent {self.name!r} cannot be its own worker")
        object.__setattr__(
            self, "tools", tuple(item if isinstance(item, str) else as_tool(item) for item in self.tools)
        )
        object.__setattr__(self, "workers", tuple(self.workers))

    def but(self, **changes: Any) -> Agent:
        """A copy with some fields changed."""
        return replace(self, **changes)

    def purpose(self) -> str:
        """The description, or a fallback that names the agent."""
        return self.description or f"The agent {self.name}."

    async def run(
        self, task: str | Task | None = None, *, model: str | Provider | None = None, **options: Any
    ) -> Result:
        """Run this agent by itself, in an office of its own; `model` replaces its model, say in a test.

        The other keyword arguments are those of `Office.call`.
        """
        from officellm.office import Office

        changes = {"transfers": None} if model is None else {"transfers": None, "model": model}
        async with Office(self.but(**changes)) as office:
            return await office.call(self.name, task, **options)

    def run_sync(
        self, task: str | Task | None = None, *, model: str | Provider | None = None, **options: Any
    ) -> Result:
        """`run`, from code that has no event loop."""
        from officellm.office import run_blocking

        return run_blocking(self.run(task, model=model, **options))
