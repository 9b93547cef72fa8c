"""The suite of limit policies: nothing is oversold, whatever the order in which work begins and ends."""

from __future__ import annotations

import inspect
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from officellm.errors import LimitReached
from officellm.kinds import Kind
from officellm.messages import Usage
from officellm.protocols import LimitPolicy, Spend, Spent
from officellm.results import StopReason
from officellm.testing.contracts.base import Contract
from officellm.testing.contracts.clock import FakeClock

_ENOUGH = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A limit and the work it bounds: of this `spend` (fields of `Spend`), `allowed` fit, each coming to `usage`.

    `allowed` None: no limit. `gives_back` is False for a policy that counts tries, also those that came to nothing.
    """

    name: str
    settings: Mapping[str, Any]
    spend: Mapping[str, Any]
    allowed: int | None
    usage: Usage = field(default_factory=Usage)
    stop_reason: str = ""
    gives_back: bool = True

    def __str__(self) -> str:
        return self.name


class LimitPolicyContract(Contract):
    """For a driver of `officellm.limits`: give it `name` and `bounds`."""

    kind: ClassVar[Kind] = Kind.LIMIT
    bounds: ClassVar[Sequence[Bound]] = ()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Each test that asks for a bound runs once for each that fits."""
        chosen = {
            "any_bound": self.bounds,
            "bound": [one for one in self.bounds if one.allowed is not None],
            "unbounded": [one for one in self.bounds if one.allowed is None],
        }
        for argument in chosen.keys() & set(metafunc.fixturenames):
            metafunc.parametrize(argument, chosen[argument], ids=str)

    def make(self, **settings: Any) -> Any:
        """A policy."""
        host = self.host()
        return host.limit_policy(self.name, self.read_settings(host, **settings), FakeClock())

    def policy(self, bound: Bound) -> LimitPolicy:
        """A fresh policy with the bound's settings."""
        made: LimitPolicy = self.make(**bound.settings)
        return made

    def test_its_author_shows_a_bound(self) -> None:
        """Without one this suite says little."""
        assert any(bound.allowed for bound in self.bounds), "give a bound that allows some work"

    def test_it_is_pure_accounting(self) -> None:
        """Synchronous: between the check and the taking nothing else may run."""
        policy = self.make()
        assert not inspect.iscoroutinefunction(policy.reserve)
        assert not inspect.iscoroutinefunction(policy.settle)

    def test_work_one_after_the_other_fits_as_often_as_allowed(self, bound: Bound) -> None:
        """And not once more; 0 allows none."""
        policy = self.policy(bound)
        for _ in range(bound.allowed or 0):
            _settle(policy, bound, policy.reserve(_spend(bound)))
        with pytest.raises(LimitReached):
            policy.reserve(_spend(bound))

    def test_work_at_the_same_time_is_not_oversold(self, bound: Bound) -> None:
        """A limit that is checked after parallel work has started is not a limit."""
        policy = self.policy(bound)
        for _ in range(bound.allowed or 0):
            policy.reserve(_spend(bound))
        for _ in range(3):
            with pytest.raises(LimitReached):
                policy.reserve(_spend(bound))

    @pytest.mark.parametrize("seed", range(20))
    def test_no_order_of_events_oversells(self, bound: Bound, seed: int) -> None:
        """Work begins, ends and fails in any order; a refusal takes nothing."""
        chance = random.Random(seed)
        policy = self.policy(bound)
        allowed = bound.allowed or 0
        running: list[tuple[object, Spend]] = []
        taken = 0
        for _ in range(200):
            if running and chance.random() < 0.5:
                reservation, spend = running.pop(chance.randrange(len(running)))
                happened = chance.random() < 0.5
                policy.settle(reservation, spend, Spent(usage=bound.usage) if happened else Spent())
                taken -= not happened and bound.gives_back
                continue
            spend = _spend(bound)
            try:
                running.append((policy.reserve(spend), spend))
            except LimitReached:
                assert taken == allowed, f"refused with {taken} of {allowed} taken"
            else:
                taken += 1
                assert taken <= allowed, "oversold"

    def test_work_that_did_not_happen_is_given_back(self, bound: Bound) -> None:
        """Another policy refused, or the run was cancelled."""
        if not bound.gives_back:
            pytest.skip("the policy counts tries")
        policy = self.policy(bound)
        for _ in range(3):
            taken = [policy.reserve(_spend(bound)) for _ in range(bound.allowed or 0)]
            for reservation in taken:
                policy.settle(reservation, _spend(bound), Spent())

    def test_a_refusal_says_what_and_why(self, bound: Bound) -> None:
        """Which limit, how much of it, whose work, and how the run ends."""
        policy = self.policy(bound)
        for _ in range(bound.allowed or 0):
            policy.reserve(_spend(bound))
        with pytest.raises(LimitReached) as caught:
            policy.reserve(_spend(bound))
        refusal = caught.value
        assert refusal.which
        assert refusal.value >= refusal.limit >= 0
        assert refusal.stop_reason in set(StopReason) - {StopReason.SUCCESS}
        assert refusal.stop_reason == (bound.stop_reason or refusal.stop_reason)
        assert refusal.agent == "contract_agent"
        assert str(refusal)

    def test_none_does_not_limit(self, unbounded: Bound) -> None:
        """A person who switched a limit off means it."""
        policy = self.policy(unbounded)
        for _ in range(_ENOUGH):
            _settle(policy, unbounded, policy.reserve(_spend(unbounded)))

    def test_a_warning_is_a_text(self, any_bound: Bound) -> None:
        """Or nothing; the model reads it beside the result."""
        policy = self.policy(any_bound)
        for _ in range(any_bound.allowed if any_bound.allowed is not None else _ENOUGH):
            said = _settle(policy, any_bound, policy.reserve(_spend(any_bound)))
            assert said is None or (isinstance(said, str) and said.strip())

    def test_two_runs_share_nothing(self, bound: Bound) -> None:
        """What one has spent, the other still has."""
        first, second = self.policy(bound), self.policy(bound)
        for policy in (first, second):
            for _ in range(bound.allowed or 0):
                policy.reserve(_spend(bound))

    @pytest.mark.parametrize("kind", ["agent", "request", "tool_call", "transfer"])
    @pytest.mark.parametrize("problem", [None, "no such tool"], ids=["fine", "unusable"])
    def test_it_takes_any_kind_of_work(self, any_bound: Bound, kind: Any, problem: str | None) -> None:
        """A policy that minds one kind lets the others pass, or refuses in its own words; it never breaks."""
        policy = self.policy(any_bound)
        for number in range(3):
            spend = _spend(any_bound, kind=kind, problem=problem, tool="search", call=f"search:{number}")
            try:
                reservation = policy.reserve(spend)
            except LimitReached:
                return
            policy.settle(reservation, spend, Spent(usage=any_bound.usage, result="found"))


def _spend(bound: Bound, **changes: Any) -> Spend:
    fields: dict[str, Any] = {"kind": "request", "scope": "1:contract_agent", "agent": "contract_agent"}
    return Spend(**{**fields, **bound.spend, **changes})


def _settle(policy: LimitPolicy, bound: Bound, reservation: object) -> Any:
    return policy.settle(reservation, _spend(bound), Spent(usage=bound.usage))
