"""The public face: an office of agents that runs tasks, calls agents, and streams what happens."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from officellm.agents import Agent
from officellm.clock import Clock, SystemClock
from officellm.errors import ConfigError
from officellm.events import Listener
from officellm.execution import Execution
from officellm.host import Host
from officellm.kinds import Kind
from officellm.limits import Limits
from officellm.messages import Message, ToolSpec
from officellm.order import Order
from officellm.outputs import OutputType
from officellm.protocols import Catalog, Orchestrator, Provider, Router
from officellm.providers import ProviderBlock, Providers
from officellm.results import Result
from officellm.roster import Roster, Setups
from officellm.signatures import ArgumentsError
from officellm.stream import RunStream
from officellm.tasks import Task
from officellm.tools import Tool
from officellm.toolset import parameters_of, worker_entry, worker_prompt
from officellm.transport import HttpPool

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

T = TypeVar("T")
#: A driver's name, a mapping with `name` and its settings, or an object that is one already.
RouterChoice = str | Mapping[str, Any] | Router
OrchestratorChoice = str | Mapping[str, Any] | Orchestrator


def _as_task(task: str | Task) -> Task:
    """Raises `ConfigError` for what is no task."""
    if isinstance(task, Task):
        return task
    if not isinstance(task, str) or not task.strip():
        raise ConfigError(f"a task must be a Task or a text that is not empty, not {task!r}")
    return Task.of(task)


def _as_limits(limits: Limits | None) -> Limits:
    """Raises `ConfigError` for what are no limits."""
    if limits is not None and not isinstance(limits, Limits):
        raise ConfigError(f"limits must be a Limits, not {limits!r}")
    return limits or Limits()


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine from code that has no event loop. Raises `ConfigError` inside one."""
    if _in_loop():
        work.close()
        raise ConfigError("run_sync was called inside a running event loop: use `await office.run(...)` there")
    return asyncio.run(work)


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class Office:
    """Agents that work together: a manager with its workers, or any agents with a router.

    `entry` is the manager, or the one agent; `workers` are added to its own; `agents` are further agents that a router
    may choose and others may transfer to. `providers` names endpoints beside the presets. `model` is used by agents
    that name none. `limits` are the team's: per agent run, and the purse of each run. `catalogs` are named sources of
    tools, `policies` further limit policies by name with their settings. Wrong configuration raises `ConfigError` here.
    """

    def __init__(
        self,
        entry: Agent | None = None,
        *,
        workers: Sequence[Agent] = (),
        agents: Sequence[Agent] = (),
        providers: Mapping[str, ProviderBlock] | None = None,
        model: str | Provider | None = None,
        limits: Limits | None = None,
        router: RouterChoice | None = None,
        orchestrator: OrchestratorChoice | None = None,
        catalogs: Mapping[str, Catalog | Mapping[str, Any]] | None = None,
        tool_options: Mapping[str, Mapping[str, Any]] | None = None,
        policies: Mapping[str, Mapping[str, Any]] | None = None,
        host: Host | None = None,
        clock: Clock | None = None,
    ) -> None:
        if entry is not None and workers:
            entry = entry.but(workers=[*entry.workers, *workers])
        everyone = [*([entry] if entry is not None else []), *(workers if entry is None else ()), *agents]
        if not everyone:
            raise ConfigError("an office needs at least one agent")
        self.clock: Clock = clock or SystemClock()
        self.limits = _as_limits(limits)
        self.roster = Roster(everyone)
        self.entry = entry.name if entry is not None else None
        self.router = router
        self.orchestrator = orchestrator
        self.policies = dict(policies or {})
        self.host = host or Host()
        self._http = HttpPool(self.clock)
        self.providers = Providers(self.host, self._http, providers or {})
        self.model = model
        self._tool_options = dict(tool_options or {})
        self._catalogs = {name: self._catalog(name, value) for name, value in (catalogs or {}).items()}
        self._setups: Setups | None = None
        if not self._catalogs:
            self._make_ready({})

    @classmethod
    def from_file(cls, path: str | Path, **changes: Any) -> Office:
        """The office of a team file (YAML, TOML or JSON). `changes` replace constructor arguments."""
        from officellm.files.teamfile import load_team

        return load_team(path).office(**changes)

    def _catalog(self, name: str, value: Catalog | Mapping[str, Any]) -> Catalog:
        if not isinstance(value, Mapping):
            return value
        settings = dict(value)
        driver = str(settings.pop("name", name))
        return self.host.catalog(driver, name, self.host.settings(Kind.CATALOG, driver, settings), self._http)

    def _make_ready(self, tools: Mapping[str, Sequence[ToolSpec | Tool]]) -> Setups:
        catalogs = {name: (catalog, tools[name]) for name, catalog in self._catalogs.items()}
        setups = Setups(self.roster, self.providers, self.limits, catalogs, self._tool_options, self.model)
        for name in self.roster:
            setups.get(name)
        self._setups = setups
        return setups

    async def ready(self) -> Setups:
        """Every agent with its provider and tools. Raises `ConfigError` for one that cannot run."""
        if self._setups is not None and not any(getattr(one, "stale", False) for one in self._catalogs.values()):
            return self._setups
        return self._make_ready({name: await catalog.tools() for name, catalog in self._catalogs.items()})

    @property
    def agents(self) -> Mapping[str, Agent]:
        """Every agent by name."""
        return self.roster.all()

    def agent_spec(self, name: str) -> ToolSpec:
        """An agent as a tool that others may call: name, description, what to pass. Raises `UnknownAgentError`."""
        return worker_entry(self.roster.get(name)).spec

    async def run(
        self,
        task: str | Task,
        *,
        agent: str | None = None,
        router: RouterChoice | None = None,
        orchestrator: OrchestratorChoice | None = None,
        limits: Limits | None = None,
        output_type: Any = None,
        history: Sequence[Message] = (),
        deps: Any = None,
        listener: Listener | None = None,
    ) -> Result:
        """Work one task through to one outcome. Never raises for run-time trouble; wrong arguments raise `ConfigError`.

        `agent` pins the entry and skips routing. `output_type` (a type, or a JSON Schema) makes `result.output`.
        `history` comes before the task in the first agent's conversation, but for instructions: the agent's own hold.
        `deps` reaches tools through `Context`.
        """
        order = self._order(task, agent, router, orchestrator, limits, output_type, history, deps)
        return await self._execute(order, listener).go()

    def run_sync(self, task: str | Task, **options: Any) -> Result:
        """`run`, from code that has no event loop."""
        return run_blocking(self.run(task, **options))

    async def call(
        self,
        agent: str,
        /,
        task: str | Task | None = None,
        *,
        limits: Limits | None = None,
        output_type: Any = None,
        history: Sequence[Message] = (),
        deps: Any = None,
        listener: Listener | None = None,
        **params: Any,
    ) -> Result:
        """Run one agent, without a manager or a router. `params` are what its `params` model asks for.

        Raises `UnknownAgentError`, and `ConfigError` for parameters that do not fit, before any request.
        """
        order = self.call_order(agent, task, limits, output_type, history, deps, params)
        return await self._execute(order, listener).go()

    def call_order(
        self,
        agent: str,
        task: str | Task | None,
        limits: Limits | None,
        output_type: Any,
        history: Sequence[Message],
        deps: Any,
        params: Mapping[str, Any],
    ) -> Order:
        """What `call` is to do. Raises `ConfigError`."""
        wanted = self.roster.get(agent)
        prompt: str | None = None
        if isinstance(task, Task):
            if params:
                raise ConfigError(f"agent {agent!r}: give a Task or parameters, not both")
            about = task
        else:
            if task is not None:
                params = {"task": task, **params}
            _, check = parameters_of(wanted)
            try:
                checked = check(params)
            except ArgumentsError as error:
                raise ConfigError(f"agent {agent!r}: {error}") from None
            prompt = worker_prompt(wanted, checked, "medium")
            about = Task.of(prompt or agent)
            if wanted.params is None and "priority" in checked:
                about = about.model_copy(update={"priority": checked["priority"]})
        return self._order(about, agent, None, "none", limits, output_type, history, deps, prompt=prompt)

    def call_sync(self, agent: str, /, task: str | Task | None = None, **options: Any) -> Result:
        """`call`, from code that has no event loop."""
        return run_blocking(self.call(agent, task, **options))

    def stream(
        self,
        task: str | Task,
        *,
        agent: str | None = None,
        router: RouterChoice | None = None,
        orchestrator: OrchestratorChoice | None = None,
        limits: Limits | None = None,
        output_type: Any = None,
        history: Sequence[Message] = (),
        deps: Any = None,
    ) -> RunStream:
        """`async with office.stream(task) as run: async for event in run: ...`; leaving the block cancels the run."""
        order = self._order(task, agent, router, orchestrator, limits, output_type, history, deps)
        return RunStream(self._execute(order, None))

    def _execute(self, order: Order, listener: Listener | None) -> Execution:
        execution = Execution(self, order)
        if listener is not None:
            execution.listen(listener)
        return execution

    def _order(
        self,
        task: str | Task,
        agent: str | None,
        router: RouterChoice | None,
        orchestrator: OrchestratorChoice | None,
        limits: Limits | None,
        output_type: Any,
        history: Sequence[Message],
        deps: Any,
        prompt: str | None = None,
    ) -> Order:
        if agent is not None:
            self.roster.get(agent)
        return Order(
            task=_as_task(task),
            agent=agent,
            router=router,
            orchestrator=orchestrator,
            limits=_as_limits(limits),
            output=OutputType(output_type) if output_type is not None else None,
            history=tuple(history),
            deps=deps,
            prompt=prompt,
        )

    async def aclose(self) -> None:
        """Close this event loop's connections, and what catalogs opened. Without it they are closed with the loop."""
        for catalog in self._catalogs.values():
            close = getattr(catalog, "aclose", None)
            if close is not None:
                await close()
        await self._http.aclose()

    async def __aenter__(self) -> Office:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
