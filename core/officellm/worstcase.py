"""The most that agents can come to before their limits stop them: requests, and dollars where prices are known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from officellm.limits import Limits
from officellm.messages import Usage
from officellm.prices import context_window, cost
from officellm.setup import Setup


@dataclass(frozen=True, slots=True)
class WorstCase:
    """None means that nothing bounds it, or that it is not known."""

    requests: int | None
    cost_usd: float | None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"requests": self.requests, "costUsd": None if self.cost_usd is None else round(self.cost_usd, 4)}


def worst_case(runs: Iterable[tuple[Setup, Limits]], limits: Limits, *, beside: int = 0) -> WorstCase:
    """Of these agent runs, with `beside` requests of others; the run's own `limits` cap both."""
    requests: int | None = beside
    dollars: float | None = 0.0
    for setup, own in runs:
        turns = None if setup.has_workers else setup.max_turns(own)
        closing = 1 if setup.agent.on_limit == "summarize" else 0
        requests = None if requests is None or turns is None else requests + turns + closing
        one = _dearest(setup, own)
        dollars = None if dollars is None or turns is None or one is None else dollars + one * (turns + closing)
    if limits.max_requests is not None:
        requests = limits.max_requests if requests is None else min(requests, limits.max_requests)
    if limits.max_cost_usd is not None:
        dollars = limits.max_cost_usd if dollars is None else min(dollars, limits.max_cost_usd)
    return WorstCase(requests, dollars)


def _dearest(setup: Setup, limits: Limits) -> float | None:
    """What one request costs that fills the model's window, with as many tokens written as are allowed."""
    window = context_window(setup.model)
    if window is None:
        return None
    written = min(limits.max_tokens_per_call or window, window)
    return cost(setup.model, Usage(input=window - written, output=written))
