"""The `rules` router: the first rule whose expression is true of the task chooses the agent; no model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from officellm import Ask, Candidate, Choice, ConfigError, NoRouteError, Task, UnknownAgentError, hookimpl

if TYPE_CHECKING:
    from officellm_router_rules.expressions import Condition


class Rule(BaseModel):
    """Where the expression `when` is true of the task, `agent` starts; `reason` is what the run's record says of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    when: str
    agent: str
    reason: str = ""


class RulesSettings(BaseModel):
    """`rules` are tried in order; `default` starts where none is true."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rules: Sequence[Rule] = ()
    default: str | None = None


class RulesRouter:
    """Deterministic: same task, same rules, same agent."""

    def __init__(self, settings: RulesSettings, conditions: Sequence[Condition]) -> None:
        self._settings = settings
        self._rules = list(zip(settings.rules, conditions, strict=True))

    async def route(self, task: Task, agents: Sequence[Candidate]) -> Choice:
        """The first rule that is true, then the default. Raises `NoRouteError`, and `ConfigError` for a broken rule."""
        self._check_agents([agent.name for agent in agents])
        for rule, condition in self._rules:
            if condition.holds(task):
                return Choice(rule.agent, rule.reason or condition.place, 1.0)
        if self._settings.default is not None:
            return Choice(self._settings.default, "no rule matched")
        raise NoRouteError(task.query, [rule.when for rule in self._settings.rules])

    def _check_agents(self, offered: Sequence[str]) -> None:
        for rule, condition in self._rules:
            if rule.agent not in offered:
                raise UnknownAgentError(rule.agent, offered, place=condition.place)
        default = self._settings.default
        if default is not None and default not in offered:
            raise UnknownAgentError(default, offered, place="default")


@hookimpl
def settings_model(kind: str, name: str) -> type[BaseModel]:
    return RulesSettings


@hookimpl
def make_router(name: str, settings: RulesSettings, ask: Ask) -> RulesRouter:
    from officellm_router_rules.expressions import Condition

    if not settings.rules and settings.default is None:
        raise ConfigError("the rules router has no rules and no default")
    conditions = [Condition(rule.when, number) for number, rule in enumerate(settings.rules, 1)]
    return RulesRouter(settings, conditions)
