"""Finds the agent that starts: pinned, the manager, the only one, or a router's choice. It runs no agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from officellm import events as ev
from officellm.asking import Asking
from officellm.errors import ConfigError, PluginBrokenError, UnknownAgentError
from officellm.kinds import Kind
from officellm.messages import Reply, Request
from officellm.order import Order
from officellm.protocols import Ask, Candidate, Choice, Router
from officellm.results import Hop
from officellm.run import Run

if TYPE_CHECKING:
    from officellm.office import Office


class Routing:
    """Of one run."""

    def __init__(self, office: Office, order: Order, asking: Asking) -> None:
        self._office = office
        self._order = order
        self._asking = asking

    async def entry(self, run: Run) -> str:
        """Its name. Raises `ConfigError`, `RouteError`, `ProviderError`, `LimitReached`."""
        office, order = self._office, self._order
        if order.agent is not None:
            run.chain.append(Hop(agent=order.agent, by="pinned"))
            return order.agent
        router = order.router if order.router is not None else office.router
        if router is None and order.orchestrator is None:
            router = office.host.choose_driver(Kind.ROUTER, order.task)
        if router is None:
            entry = office.entry or self._only_agent()
            run.chain.append(Hop(agent=entry, by="entry"))
            return entry
        by, choice = await self._route(run, router)
        run.chain.append(Hop(agent=choice.agent, by=by, reason=choice.reason))
        run.events.emit(
            ev.RouteEvent,
            span=f"router:{by}",
            by=by,
            choice=choice.agent,
            reason=choice.reason,
            confidence=choice.confidence,
        )
        return choice.agent

    def _ask(self, label: str, settings: Any) -> Ask:
        """The metered model request that a router gets: of its own model where its settings name one."""
        model = getattr(settings, "model", None)

        async def ask(request: Request) -> Reply:
            return await self._asking.ask(request, label=label, model=model)

        return ask

    def _only_agent(self) -> str:
        names = list(self._office.roster)
        if len(names) == 1:
            return names[0]
        raise ConfigError(
            f"nothing says which agent starts: name a router, an agent or a manager. Agents: {', '.join(names)}."
        )

    async def _route(self, run: Run, router: Any) -> tuple[str, Choice]:
        office = self._office
        if isinstance(router, (str, Mapping)):
            name, values = driver_of(router, "router", office.router)
            settings = office.host.settings(Kind.ROUTER, name, values)
            made: Router = office.host.router(name, settings, self._ask(f"router:{name}", settings))
        elif isinstance(router, Router):
            name, made = type(router).__name__, router
        else:
            raise ConfigError(f"a router must be a name, a mapping with a name, or a Router, not {router!r}")
        agents = [Candidate(agent.name, agent.purpose()) for agent in office.agents.values() if agent.entry]
        if not agents:
            raise ConfigError("no agent may be chosen by a router: each says entry=False")
        choice = await made.route(run.task, agents)
        if not isinstance(choice, Choice):
            raise PluginBrokenError(f"the router {name!r} returned a {type(choice).__name__} and no Choice")
        if choice.agent not in {agent.name for agent in agents}:
            raise UnknownAgentError(choice.agent, [agent.name for agent in agents])
        return name, choice


def driver_of(chosen: str | Mapping[str, Any], word: str, team: Any = None) -> tuple[str, Mapping[str, Any]]:
    """A driver's name and its settings; what the `team` says of the same driver holds where this says nothing.

    Raises `ConfigError`.
    """
    if isinstance(chosen, str):
        chosen = {"name": chosen}
    if not isinstance(chosen, Mapping):
        raise ConfigError(f"the {word} must be a name, a mapping with a name, or an object, not {chosen!r}")
    values = dict(chosen)
    name = values.pop("name", None)
    if not isinstance(name, str):
        raise ConfigError(f"the {word} mapping needs a name")
    if isinstance(team, Mapping) and team.get("name") == name:
        values = {**{key: value for key, value in team.items() if key != "name"}, **values}
    return name, values
