"""The numbers that bound a run. What enforces them are the limit policies, which are plugins."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=0, strict=True)]
Positive = Annotated[int, Field(ge=1, strict=True)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Limits(BaseModel):
    """Every limit. A field that is not set leaves the decision to the next level; 0 allows none, None does not limit.

    The nearest level wins: call, task file, agent, team file, default. `max_turns`, `tool_timeout`, `loop_window`,
    `provider_retries`, `max_tokens_per_call` and `max_parallel_calls` hold for each agent run; the others are the run's
    purse, shared by all of its agents (set on an agent, they also bound each run of that agent).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_turns: Positive | None = None
    max_tool_calls: Count | None = None
    max_requests: Count | None = None
    max_total_tokens: Count | None = None
    max_tokens_per_call: Positive | None = None
    max_cost_usd: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    max_seconds: Seconds | None = None
    provider_retries: Count | None = 3
    max_transfers: Count | None = 4
    max_visits: Positive | None = 2
    max_depth: Positive | None = 3
    max_parallel_calls: Positive | None = 4
    max_concurrency: Positive | None = None
    loop_window: Annotated[int, Field(ge=2, strict=True)] | None = 4
    tool_timeout: Seconds | None = 120.0

    @classmethod
    def merge(cls, *levels: Limits | None) -> Limits:
        """One set from several, the nearest first: the first level that sets a field decides it."""
        chosen: dict[str, Any] = {}
        for level in levels:
            if level is None:
                continue
            for name in level.model_fields_set:
                chosen.setdefault(name, getattr(level, name))
        return cls(**chosen)

    def is_set(self, name: str) -> bool:
        """Whether the user set this field, also to None."""
        return name in self.model_fields_set


#: Turns of one agent run, where nobody set `max_turns`.
MANAGER_TURNS = 20
WORKER_TURNS = 15
