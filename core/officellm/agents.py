"""An agent: who it is, what it is told, which model, which tools, which workers, which limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from officellm.errors import ConfigError
from officellm.fallback import FALLBACK_ON, FallbackOn
from officellm.limits import Limits
from officellm.tools import Tool, as_tool
from officellm.transcript import LEGAL_NAME, LEGAL_NAME_IN_WORDS

if TYPE_CHECKING:
    from pydantic import BaseModel

    from officellm.protocols import Provider
    from officellm.results import Result
    from officellm.tasks import Task

_KINDS: tuple[tuple[str, type, str], ...] = (
    ("description", str, "a text"),
    ("instructions", str, "a text"),
    ("role", str, "a text"),
    ("settings", Mapping, "a mapping"),
    ("limits", Limits, "a Limits"),
)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


@dataclass(frozen=True, eq=False)
class Agent:
    """A name, a description, instructions, a model, tools, limits; maybe workers, which it calls like tools.

    `model` is `"provider:model"`, or a provider object such as `officellm.testing.scripted([...])`. `description` is
    what routers, managers and transfers choose by. `params` (a pydantic model or a JSON Schema) is what a caller must
    pass; a task, priority and context without it. `entry=False` keeps routers from starting with it. `transfers` names
    the agents it may hand over to (every other one without it). `context_window` is the number of messages sent at
    most, the instructions and the task always among them. `on_limit="summarize"` allows one closing request without
    tools after a limit. `fallback` holds models that are asked in order where the model fails; `fallback_on` says what
    is a failure: `error`, `refused`, `bad_reply`.
    """

    name: str
    description: str = ""
    model: str | Provider | None = field(default=None, kw_only=True)
    fallback: Sequence[str | Provider] = field(default=(), kw_only=True)
    fallback_on: Sequence[FallbackOn] = field(default=("error",), kw_only=True)
    instructions: str = field(default="", kw_only=True)
    tools: Sequence[Callable[..., Any] | Tool | str] = field(default=(), kw_only=True)
    workers: Sequence[Agent | str] = field(default=(), kw_only=True)
    params: type[BaseModel] | Mapping[str, Any] | None = field(default=None, kw_only=True)
    transfers: Sequence[str] | None = field(default=None, kw_only=True)
    entry: bool = field(default=True, kw_only=True)
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
            raise ConfigError(f"agent name {self.name!r} is not legal: {LEGAL_NAME_IN_WORDS}")
        for what, kind, must in _KINDS:
            if not isinstance(getattr(self, what), kind):
                raise self._wrong(what, must)
        for what in ("tools", "workers", "deny", "capabilities", "fallback", "fallback_on"):
            if not _is_list(getattr(self, what)):
                raise self._wrong(what, "a list")
        if self.transfers is not None and not _is_list(self.transfers):
            raise self._wrong("transfers", "a list")
        if self.params is not None and not isinstance(self.params, (Mapping, type)):
            raise self._wrong("params", "a pydantic model or a JSON Schema")
        if not all(one in FALLBACK_ON for one in self.fallback_on):
            raise self._wrong("fallback_on", f"a list of {', '.join(FALLBACK_ON)}")
        if self.on_limit not in ("stop", "summarize"):
            raise self._wrong("on_limit", "'stop' or 'summarize'")
        if self.context_window is not None and not (isinstance(self.context_window, int) and self.context_window >= 4):
            raise self._wrong("context_window", "a whole number of at least 4")
        for worker in self.workers:
            if not isinstance(worker, (Agent, str)):
                raise self._wrong("workers", "agents or their names")
            if worker is self or worker == self.name:
                raise ConfigError(f"agent {self.name!r} cannot be its own worker")
        object.__setattr__(
            self, "tools", tuple(item if isinstance(item, str) else as_tool(item) for item in self.tools)
        )
        object.__setattr__(self, "workers", tuple(self.workers))

    def _wrong(self, what: str, must: str) -> ConfigError:
        return ConfigError(f"agent {self.name!r}: {what} must be {must}, not {getattr(self, what)!r}")

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
