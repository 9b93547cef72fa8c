"""The `keyword` router: the first registered route whose keyword stands in the task wins; no model is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from officellm import Ask, Candidate, Choice, ConfigError, NoRouteError, Task, UnknownAgentError, hookimpl


class KeywordSettings(BaseModel):
    """`routes` maps a keyword to an agent, or to several in order of preference; `match` is how keywords are found."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    routes: Mapping[str, str | Sequence[str]] = Field(default_factory=dict)
    default: str | None = None
    match: Literal["word", "substring"] = "word"

    @field_validator("routes")
    @classmethod
    def _no_empty_keyword(cls, routes: Mapping[str, str | Sequence[str]]) -> Mapping[str, str | Sequence[str]]:
        if any(not keyword.strip() for keyword in routes):
            raise ValueError("an empty keyword would match everything")
        return routes


class KeywordRouter:
    """Deterministic: same task, same routes, same agent."""

    def __init__(self, settings: KeywordSettings) -> None:
        self._settings = settings
        self._routes = [
            (keyword, _pattern(keyword, settings.match), (target,) if isinstance(target, str) else tuple(target))
            for keyword, target in settings.routes.items()
        ]
        if not self._routes and settings.default is None:
            raise ConfigError("the keyword router has no routes and no default")

    async def route(self, task: Task, agents: Sequence[Candidate]) -> Choice:
        """The first match in registration order, then the default. Raises `NoRouteError`."""
        offered = {agent.name for agent in agents}
        named = [*(name for _, _, targets in self._routes for name in targets), *filter(None, [self._settings.default])]
        for name in named:
            if name not in offered:
                raise UnknownAgentError(name, offered)
        for keyword, pattern, targets in self._routes:
            if pattern.search(task.query):
                return Choice(targets[0], f"the task says {keyword!r}", 1.0)
        if self._settings.default is not None:
            return Choice(self._settings.default, "no keyword matched")
        raise NoRouteError(task.query, self._settings.routes)


def _pattern(keyword: str, match: str) -> re.Pattern[str]:
    text = re.escape(keyword.strip())
    return re.compile(rf"(?<!\w){text}(?!\w)" if match == "word" else text, re.IGNORECASE)


@hookimpl
def settings_model(kind: str, name: str) -> type[BaseModel]:
    return KeywordSettings


@hookimpl
def make_router(name: str, settings: KeywordSettings, ask: Ask) -> KeywordRouter:
    return KeywordRouter(settings)
