"""The suite of routers: a choice among the agents on offer, whatever the model says, and every request counted."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

import pytest

from officellm.agents import Agent
from officellm.codec import dump_text
from officellm.errors import ConfigError, LimitReached, NoRouteError, OfficeError, ProviderError, RouteError
from officellm.kinds import Kind
from officellm.limits import Limits
from officellm.messages import Assistant, Reply, Request, Usage
from officellm.office import Office
from officellm.protocols import Ask, Candidate, Choice, Router
from officellm.tasks import Task
from officellm.testing.contracts.base import Contract, run
from officellm.testing.scripted_model import scripted
from officellm.wire import Fault

#: Turns of the loop in which a router either asks or is done.
_TURNS = 20
_GARBAGE = {
    "nothing": "",
    "prose": "I would rather not say.",
    "nobody": '{"agent": "nobody_at_all"}',
    "cut": '{"agent": "',
    "number": '{"agent": 5}',
    "null": '{"agent": null}',
    "list": "[]",
    "nested": "[" * 50_000,
    "braces": "{" * 2_000 + "}" * 2_000,
    "long": "word " * 20_000,
    "control": "\x00\ud800",
}


class RouterContract(Contract):
    """For a driver of `officellm.routers`: give it `name`, and `settings` and `agents` that fit together.

    `says` is what a model answers to choose an agent, for a router that asks one in its own form.
    """

    kind: ClassVar[Kind] = Kind.ROUTER
    agents: ClassVar[Sequence[Candidate]] = (
        Candidate("researcher", "Finds facts"),
        Candidate("writer", "Writes articles"),
        Candidate("editor", "Corrects articles"),
    )
    task: ClassVar[Task] = Task(title="Tide pools", description="Write about tide pools", context={"length": "short"})

    def says(self, agent: str) -> str:
        """A model's words that choose this agent."""
        return dump_text({"agent": agent, "reason": "it fits", "confidence": 1})

    def make(self, **settings: Any) -> Any:
        """A router whose model has nothing to say."""
        return self.router(_Model(""), **settings)

    def router(self, ask: Ask, **settings: Any) -> Router:
        """A router that asks `ask`."""
        host = self.host()
        return host.router(self.name, self.read_settings(host, **settings), ask)

    def routed(self, ask: Ask) -> Choice:
        """One choice among all agents, by a router of its own."""
        return run(self.router(ask).route(self.task, tuple(self.agents)))

    def check(self, choice: Choice, agents: Sequence[Candidate]) -> None:
        """Fails for a choice that is none."""
        assert isinstance(choice, Choice)
        assert choice.agent in {agent.name for agent in agents}
        assert isinstance(choice.reason, str)
        assert choice.confidence is None or 0 <= choice.confidence <= 1

    def test_it_chooses_an_agent_on_offer(self) -> None:
        """For each agent that a model may name."""
        for agent in self.agents:
            self.check(self.routed(_Model(self.says(agent.name))), self.agents)

    def test_a_router_that_asks_follows_the_answer(self) -> None:
        """The model that was paid decides."""
        for agent in self.agents:
            model = _Model(self.says(agent.name))
            choice = self.routed(model)
            if model.asked:
                assert choice.agent == agent.name

    def test_an_agent_that_is_not_on_offer_is_never_chosen(self) -> None:
        """Whoever the settings and the model name."""
        for gone in self.agents:
            left = [agent for agent in self.agents if agent is not gone]
            try:
                choice = run(self.router(_Model(self.says(gone.name))).route(self.task, left))
            except (ConfigError, RouteError):
                continue
            self.check(choice, left)

    def test_one_agent_needs_no_model(self) -> None:
        """Asking would cost money and could only go wrong."""
        for agent in self.agents:
            model = _Model(self.says(agent.name))
            try:
                choice = run(self.router(model).route(self.task, [agent]))
            except ConfigError:
                continue
            finally:
                assert not model.asked
            assert choice.agent == agent.name

    def test_the_same_task_gets_the_same_answer(self) -> None:
        """Also from another router: a run that is resumed routes as before."""
        said = self.says(self.agents[-1].name)
        router = self.router(_Model(said))
        first = run(router.route(self.task, tuple(self.agents)))
        assert run(router.route(self.task, tuple(self.agents))) == first
        assert self.routed(_Model(said)) == first

    def test_the_same_request_is_made_for_the_same_task(self) -> None:
        """Nothing of the clock or of chance goes into it."""
        models = [_Model(self.says(self.agents[0].name)) for _ in range(2)]
        for model in models:
            self.routed(model)
        assert models[0].asked == models[1].asked

    @pytest.mark.parametrize("said", _GARBAGE.values(), ids=_GARBAGE)
    def test_garbage_falls_back_or_is_a_route_error(self, said: str) -> None:
        """No random exception, and no endless asking."""
        model = _Model(said)
        with suppress(RouteError, NoRouteError):
            self.check(self.routed(model), self.agents)
        assert len(model.asked) <= 5

    @pytest.mark.parametrize(
        "trouble",
        [
            ProviderError("contract", Fault("server", "contract trouble", 500, retryable=True)),
            LimitReached("max_requests", 1, 1, "request_budget"),
        ],
        ids=["provider", "limit"],
    )
    def test_trouble_of_the_model_is_not_made_worse(self, trouble: OfficeError) -> None:
        """It goes on as it is, or the router falls back; it does not become another error."""
        model = _Model(trouble)
        try:
            self.check(self.routed(model), self.agents)
        except (type(trouble), RouteError, NoRouteError):
            assert model.asked
        assert len(model.asked) <= 5

    def test_it_is_cancelled_while_it_asks(self) -> None:
        """At once, and it passes the cancellation on."""

        async def cancelled() -> None:
            model = _Model(self.says(self.agents[0].name), hangs=True)
            task = asyncio.create_task(self.router(model).route(self.task, tuple(self.agents)))
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            if model.asked:
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            await asyncio.wait([task])

        run(cancelled())

    @pytest.mark.parametrize("said", ["", None], ids=["garbage", "an-answer"])
    def test_its_requests_are_counted_in_an_office(self, said: str | None) -> None:
        """Also where the model answered nonsense: under the router's own name, and within the run's limits."""
        answer = self.says(self.agents[0].name) if said is None else said
        model = scripted([*([answer] * 5)], by_agent={"contract-agent": ["done"] * 5})
        result = run(self._in_office(model, Limits()))
        assert result.usage.requests == len(model.requests)
        label = f"router:{self.name}"
        asked = [request for request in model.requests if not _is_agents(request)]
        counted = result.by_agent.get(label)
        assert (counted.requests if counted is not None else 0) == len(asked)

    async def _in_office(self, model: Any, limits: Limits) -> Any:
        agents = [Agent(one.name, one.description, model=model, instructions="contract-agent") for one in self.agents]
        router: Mapping[str, Any] = {**self.settings, "name": self.name}
        async with Office(agents=agents, router=router, model=model, limits=limits, host=self.host()) as office:
            return await office.run(self.task)


class _Model:
    """An `Ask` that always says the same, raises it, or hangs; it keeps what it was asked."""

    def __init__(self, said: str | OfficeError, *, hangs: bool = False) -> None:
        self.asked: list[Request] = []
        self._said = said
        self._hangs = hangs

    async def __call__(self, request: Request) -> Reply:
        self.asked.append(request)
        await asyncio.sleep(0)
        if self._hangs:
            await asyncio.Event().wait()
        if isinstance(self._said, OfficeError):
            raise self._said
        return Reply(Assistant(self._said), "stop", Usage(10, 5, requests=1))


def _is_agents(request: Request) -> bool:
    return any("contract-agent" in getattr(message, "text", "") for message in request.messages)
