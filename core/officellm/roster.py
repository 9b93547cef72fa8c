"""The agents of one office: gathered, checked against each other, and made ready to run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from officellm.agents import Agent
from officellm.cycles import cycles
from officellm.errors import ConfigError, UnknownAgentError, nearest
from officellm.fallback import Fallback
from officellm.limits import Limits
from officellm.messages import ToolSpec
from officellm.protocols import Catalog, Provider
from officellm.providers import Providers
from officellm.setup import Setup
from officellm.tools import Tool
from officellm.toolset import (
    TRANSFER,
    Entry,
    Toolset,
    catalog_entry,
    renamed,
    tool_entry,
    transfer_entry,
    worker_entry,
)

#: A catalog's tools under the catalog's name.
Catalogs = Mapping[str, tuple[Catalog, Sequence[ToolSpec | Tool]]]


class Roster:
    """Raises `ConfigError` at once for names that clash, unknown workers and worker cycles."""

    def __init__(self, agents: Iterable[Agent]) -> None:
        self._agents: dict[str, Agent] = {}
        folded: dict[str, str] = {}
        for agent in _with_workers(agents):
            if not isinstance(agent, Agent):
                raise ConfigError(f"an office is made of agents, not of {agent!r}")
            known = self._agents.get(agent.name)
            if known is agent:
                continue
            other = folded.get(agent.name.casefold())
            if other is not None:
                if other == agent.name:
                    raise ConfigError(f"the agent name {other!r} stands twice")
                raise ConfigError(f"the agent names {other!r} and {agent.name!r} differ only in case")
            folded[agent.name.casefold()] = agent.name
            self._agents[agent.name] = agent
        for agent in self._agents.values():
            for name in self.workers(agent.name):
                if name not in self._agents:
                    hint = nearest(name, self._agents)
                    raise ConfigError(f"agent {agent.name!r}: unknown worker {name!r}.{hint}")
            for name in agent.transfers or ():
                if name not in self._agents or name == agent.name:
                    others = [other for other in self._agents if other != agent.name]
                    raise ConfigError(f"agent {agent.name!r}: cannot transfer to {name!r}.{nearest(name, others)}")
        self._refuse_cycles()

    def __contains__(self, name: str) -> bool:
        return name in self._agents

    def __iter__(self) -> Iterator[str]:
        return iter(self._agents)

    def get(self, name: str) -> Agent:
        """The agent of this name. Raises `UnknownAgentError`."""
        agent = self._agents.get(name)
        if agent is None:
            raise UnknownAgentError(name, self._agents)
        return agent

    def all(self) -> Mapping[str, Agent]:
        """Every agent by name, in order."""
        return dict(self._agents)

    def workers(self, name: str) -> list[str]:
        """Names of an agent's workers."""
        return [worker if isinstance(worker, str) else worker.name for worker in self._agents[name].workers]

    def _refuse_cycles(self) -> None:
        for circle in cycles({name: self.workers(name) for name in self._agents}):
            raise ConfigError(f"workers form a cycle: {' -> '.join(circle)}")


def _with_workers(agents: Iterable[Agent]) -> Iterator[Agent]:
    stack = list(reversed(list(agents)))
    seen: set[int] = set()
    while stack:
        agent = stack.pop()
        yield agent
        if id(agent) not in seen:
            seen.add(id(agent))
            stack.extend(worker for worker in reversed(agent.workers) if isinstance(worker, Agent))


class Setups:
    """Agents made ready, each once."""

    def __init__(
        self,
        roster: Roster,
        providers: Providers,
        limits: Limits,
        catalogs: Catalogs,
        tool_options: Mapping[str, Mapping[str, Any]],
        default_model: str | Provider | None,
    ) -> None:
        self._roster = roster
        self._providers = providers
        self._limits = limits
        self._catalogs = catalogs
        self._tool_options = tool_options
        self._default_model = default_model
        self._made: dict[str, Setup] = {}

    def get(self, name: str) -> Setup:
        """The agent's setup. Raises `ConfigError`."""
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = self._make(self._roster.get(name))
        return made

    def _make(self, agent: Agent) -> Setup:
        owner = f"agent {agent.name!r}"
        provider, model = self._providers.resolve(agent.model or self._default_model, owner=owner)
        if agent.fallback:
            others = [self._providers.resolve(other, owner=f"{owner}: fallback") for other in agent.fallback]
            provider = Fallback([(provider, model), *others], agent.fallback_on)
        workers = [self._roster.get(name) for name in self._roster.workers(agent.name)]
        entries = [*self._tools(agent), *(worker_entry(worker) for worker in workers)]
        toolset = Toolset(entries, owner=agent.name)
        if toolset.get(TRANSFER) is not None:
            raise ConfigError(f"{owner}: the name {TRANSFER!r} is reserved for transfers")
        limits = Limits.merge(agent.limits, self._limits)
        return Setup(agent, provider, model, toolset, limits, bool(workers))

    def with_extras(self, setup: Setup, targets: Sequence[str], tools: Sequence[Tool] = ()) -> Toolset:
        """The agent's toolset plus a transfer tool for these targets and these tools.

        The same object for the same targets, where no tools are added. Raises `ConfigError` for names that clash.
        """
        toolset = setup.toolset
        key = tuple(sorted(targets))
        if key:
            known = setup.variants.get(key)
            if known is None:
                entry = transfer_entry([self._roster.get(name) for name in key])
                known = setup.variants[key] = Toolset([*toolset.entries(), entry], owner=setup.name)
            toolset = known
        if tools:
            toolset = Toolset([*toolset.entries(), *map(tool_entry, tools)], owner=setup.name)
        return toolset

    def _tools(self, agent: Agent) -> list[Entry]:
        entries: dict[str, Entry] = {}
        for item in agent.tools:
            found = [tool_entry(item)] if isinstance(item, Tool) else self._matching(agent, str(item))
            for entry in found:
                if _denied(agent, entry.spec.name):
                    continue
                if isinstance(item, Tool) and entry.spec.name in entries:
                    raise ConfigError(f"agent {agent.name!r}: two tools share the name {entry.spec.name!r}")
                entries.setdefault(entry.spec.name, self._tuned(entry))
        return list(entries.values())

    def _matching(self, agent: Agent, pattern: str) -> list[Entry]:
        """Catalog tools that a name or pattern names: `web_search`, `read_*`, `board.*`, `board.task_get`."""
        found: list[Entry] = []
        denied = False
        taken: set[str] = set()
        for catalog_name, (catalog, tools) in self._catalogs.items():
            for tool in tools:
                name = tool.name
                # Of two catalogs with a tool of one name the first keeps it: the other's is `catalog_name`.
                offered = f"{catalog_name}_{name}" if name in taken else name
                taken.add(offered)
                qualified = f"{catalog_name}.{name}"
                if not (fnmatchcase(offered, pattern) or fnmatchcase(qualified, pattern)):
                    continue
                if _denied(agent, qualified):
                    denied = True
                else:
                    entry = tool_entry(tool) if isinstance(tool, Tool) else catalog_entry(catalog, tool, {})
                    found.append(entry if offered == name else renamed(entry, offered))
        if not found and not denied and "*" not in pattern:
            known = [tool.name for _, tools in self._catalogs.values() for tool in tools]
            raise ConfigError(
                f'agent {agent.name!r}: Tool "{pattern}" has no implementation provided.{nearest(pattern, known)}'
            )
        return found

    def _tuned(self, entry: Entry) -> Entry:
        options = self._tool_options.get(entry.spec.name)
        if not options:
            return entry
        from dataclasses import replace

        return replace(entry, **options)


def _denied(agent: Agent, name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in agent.deny)
