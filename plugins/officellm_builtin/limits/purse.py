"""The `purse` limit policy: one budget for the whole tree of a run, and one more for each agent run that asks for it.

Work is reserved before it starts and settled afterwards, so parallel agents cannot oversell what is left.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from pydantic import BaseModel

from officellm import LimitReached, Limits, Spend, Spent, StopReason, hookimpl


@dataclass(slots=True)
class _Account:
    """What was spent, with what is under way counted in: exactly for requests and calls, by estimate for tokens."""

    requests: int = 0
    tool_calls: int = 0
    tokens: int = 0
    pending_tokens: int = 0
    cost: float = 0.0


@dataclass(slots=True)
class _Taken:
    accounts: list[_Account] = field(default_factory=list)
    tokens: int = 0


class Purse:
    """Refuses what would go over. 0 allows none, None does not limit."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._run = _Account()
        self._scopes: dict[str, _Account] = {}
        self._transfers = 0
        self._visits: defaultdict[str, int] = defaultdict(int)

    def reserve(self, spend: Spend) -> _Taken:
        """Raises `LimitReached`."""
        if spend.kind == "agent":
            return self._enter(spend)
        if spend.kind == "transfer":
            return self._transfer(spend)
        if spend.problem is not None:
            return _Taken()  # a call that cannot run costs nothing
        pairs = [(self._run, self._limits)]
        if spend.limits is not None:
            pairs.append((self._scopes.setdefault(spend.scope, _Account()), spend.limits))
        for account, limits in pairs:
            self._check(account, limits, spend)
        taken = _Taken([account for account, _ in pairs], spend.tokens)
        for account in taken.accounts:
            if spend.kind == "request":
                account.requests += 1
                account.pending_tokens += spend.tokens
            else:
                account.tool_calls += 1
        return taken

    def _check(self, account: _Account, limits: Limits, spend: Spend) -> None:
        if spend.kind == "tool_call":
            _compare("max_tool_calls", account.tool_calls, limits.max_tool_calls, StopReason.TOOL_CALL_BUDGET, spend)
            return
        tokens = account.tokens + account.pending_tokens
        _compare("max_requests", account.requests, limits.max_requests, StopReason.REQUEST_BUDGET, spend)
        _compare("max_total_tokens", tokens, limits.max_total_tokens, StopReason.TOKEN_BUDGET, spend)
        _compare("max_cost_usd", account.cost, limits.max_cost_usd, StopReason.COST_BUDGET, spend)

    def _enter(self, spend: Spend) -> _Taken:
        most = self._limits.max_depth
        if most is not None and spend.depth > most:
            raise LimitReached("max_depth", spend.depth, most, StopReason.FAILED, agent=spend.agent)
        if spend.depth == 1:
            self._visits[spend.agent] += 1
        return _Taken()

    def _transfer(self, spend: Spend) -> _Taken:
        limits = self._limits
        if limits.max_transfers is not None and self._transfers >= limits.max_transfers:
            raise LimitReached(
                "max_transfers", self._transfers, limits.max_transfers, StopReason.MAX_TRANSFERS, agent=spend.agent
            )
        visits = self._visits[spend.tool]
        if limits.max_visits is not None and visits >= limits.max_visits:
            detail = f"agent {spend.agent!r} would hand over to {spend.tool!r} for the {visits + 1}. time (max_visits)"
            raise LimitReached(
                "max_visits", visits, limits.max_visits, StopReason.LOOP_DETECTED, agent=spend.agent, detail=detail
            )
        self._transfers += 1
        return _Taken()

    def settle(self, reservation: object, spend: Spend, spent: Spent) -> None:
        """Replace the estimate by what it came to; work that did not happen is given back."""
        assert isinstance(reservation, _Taken)
        for account in reservation.accounts:
            if spend.kind == "request":
                account.requests += spent.usage.requests - 1
                account.pending_tokens -= reservation.tokens
                account.tokens += spent.usage.total
                account.cost += spent.usage.cost_usd or 0.0
            else:
                account.tool_calls += spent.usage.tool_calls - 1


def _compare(which: str, used: float, limit: float | None, reason: StopReason, spend: Spend) -> None:
    if limit is not None and used >= limit:
        raise LimitReached(which, used, limit, reason, agent=spend.agent)


@hookimpl
def settings_model(kind: str, name: str) -> type[BaseModel]:
    return Limits


@hookimpl
def make_limit_policy(name: str, settings: Limits) -> Purse:
    return Purse(settings)
