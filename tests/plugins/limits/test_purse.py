"""The `purse` policy alone: reserved before, settled after, never oversold, whatever the order."""

import pytest
from hypothesis import given, settings, strategies as st

from officellm import LimitReached, Limits, Spend, Spent, StopReason, Usage
from officellm_builtin.limits.purse import Purse


def request(scope="1:a", **more):
    return Spend(kind="request", scope=scope, agent="a", **more)


def tool_call(scope="1:a", **more):
    return Spend(kind="tool_call", scope=scope, agent="a", call="t:{}", tool="t", **more)


def transfer(target):
    return Spend(kind="transfer", scope="run", agent="x", tool=target)


def enter(agent, depth=1):
    return Spend(kind="agent", scope=agent, agent=agent, depth=depth)


def used(input=0, output=0, **more):
    return Spent(usage=Usage(input, output, requests=1, **more))


@pytest.mark.parametrize(
    ("limits", "spent", "allowed", "reason"),
    [
        (Limits(max_requests=3), used(1, 1), 3, StopReason.REQUEST_BUDGET),
        (Limits(max_total_tokens=50), used(10, 5), 4, StopReason.TOKEN_BUDGET),
        (Limits(max_total_tokens=45), used(10, 5), 3, StopReason.TOKEN_BUDGET),
        (Limits(max_cost_usd=0.25), used(cost_usd=0.125), 2, StopReason.COST_BUDGET),
    ],
    ids=["requests", "tokens overrun", "tokens exactly", "money"],
)
def test_requests_are_allowed_until_the_budget_is_spent(limits, spent, allowed, reason):
    purse = Purse(limits)
    for _ in range(allowed):
        purse.settle(purse.reserve(request()), request(), spent)
    with pytest.raises(LimitReached, match="max_") as raised:
        purse.reserve(request())
    assert raised.value.stop_reason == reason


def test_no_limit_means_no_limit():
    purse = Purse(Limits(max_requests=None, max_tool_calls=None, max_total_tokens=None))
    for make in (request, tool_call) * 200:
        purse.reserve(make())


def test_tokens_under_way_count_by_their_estimate():
    purse = Purse(Limits(max_total_tokens=100))
    first = request(tokens=100)
    taken = purse.reserve(first)
    with pytest.raises(LimitReached):
        purse.reserve(request(tokens=1))
    purse.settle(taken, first, used(3, 4))
    purse.reserve(request(tokens=1))


def test_an_agents_own_limits_bound_each_of_its_runs_and_the_purse_bounds_all():
    purse, own = Purse(Limits(max_requests=3)), Limits(max_requests=2)
    for scope in ("1:a", "1:a", "2:a"):
        purse.reserve(request(scope, limits=own))
    with pytest.raises(LimitReached):
        purse.reserve(request("2:a", limits=own))
    purse = Purse(Limits())
    for _ in range(2):
        purse.reserve(request("1:a", limits=own))
    with pytest.raises(LimitReached):
        purse.reserve(request("1:a", limits=own))


def test_a_call_that_cannot_run_costs_nothing():
    purse = Purse(Limits(max_tool_calls=0))
    purse.reserve(tool_call(problem="no such tool"))
    with pytest.raises(LimitReached) as raised:
        purse.reserve(tool_call())
    assert raised.value.stop_reason == StopReason.TOOL_CALL_BUDGET


@pytest.mark.parametrize(("most", "depth", "fits"), [(3, 3, True), (3, 4, False), (1, 2, False), (None, 99, True)])
def test_depth_is_bounded(most, depth, fits):
    purse = Purse(Limits(max_depth=most))
    if fits:
        purse.reserve(enter("a", depth))
    else:
        with pytest.raises(LimitReached, match="max_depth"):
            purse.reserve(enter("a", depth))


def test_transfers_and_visits_are_bounded():
    purse = Purse(Limits(max_transfers=3, max_visits=2))
    purse.reserve(enter("a"))
    for target in "ba":
        purse.reserve(transfer(target))
        purse.reserve(enter(target))
    with pytest.raises(LimitReached, match="max_visits") as raised:
        purse.reserve(transfer("a"))
    assert raised.value.stop_reason == StopReason.LOOP_DETECTED
    purse.reserve(transfer("c"))
    with pytest.raises(LimitReached, match="max_transfers") as raised:
        purse.reserve(transfer("d"))
    assert raised.value.stop_reason == StopReason.MAX_TRANSFERS


class Naive:
    """What the purse promises, as plain as it can be written."""

    def __init__(self, requests, calls, tokens):
        self.requests, self.calls, self.tokens = requests, calls, tokens
        self.begun = {"request": 0, "tool_call": 0}
        self.spent = 0

    def allows(self, kind, estimates):
        if kind == "tool_call":
            return self.begun[kind] < self.calls
        return self.begun[kind] < self.requests and self.spent + estimates < self.tokens


@settings(max_examples=300, deadline=None)
@given(
    limits=st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 60)),
    steps=st.lists(
        st.tuples(st.sampled_from(["request", "tool_call", "settle", "drop"]), st.integers(0, 30), st.integers(0, 20)),
        max_size=40,
    ),
)
def test_any_interleaving_agrees_with_a_naive_model(limits, steps):
    purse = Purse(Limits(max_requests=limits[0], max_tool_calls=limits[1], max_total_tokens=limits[2]))
    model, waiting = Naive(*limits), []
    for action, amount, estimate in steps:
        if action in ("request", "tool_call"):
            wanted = request(tokens=estimate) if action == "request" else tool_call()
            estimates = sum(one.tokens for one, _ in waiting)
            if model.allows(action, estimates):
                waiting.append((wanted, purse.reserve(wanted)))
                model.begun[action] += 1
            else:
                with pytest.raises(LimitReached):
                    purse.reserve(wanted)
        elif waiting:
            wanted, taken = waiting.pop(amount % len(waiting))
            if action == "drop":
                purse.settle(taken, wanted, Spent())
                model.begun[wanted.kind] -= 1
            elif wanted.kind == "request":
                purse.settle(taken, wanted, used(amount))
                model.spent += amount
            else:
                purse.settle(taken, wanted, Spent(usage=Usage(tool_calls=1)))
