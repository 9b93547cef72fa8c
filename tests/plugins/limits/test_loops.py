"""The `loops` policy alone: what it counts, when it warns, when it ends an agent run."""

import pytest

from officellm import LimitReached, Spend, Spent, StopReason
from officellm_builtin.limits.loops import Loops


def spend(call, scope="1:a", problem=None):
    return Spend(kind="tool_call", scope=scope, agent="a", call=call, tool=call, problem=problem)


def use(policy, call, result="r", **more):
    """One call from reservation to result; the warning, if any."""
    wanted = spend(call, **more)
    return policy.settle(policy.reserve(wanted), wanted, Spent(result=result))


@pytest.mark.parametrize("window", [2, 3, 4, 7])
def test_the_window_is_exact_and_the_warning_comes_one_call_before(window):
    policy = Loops(window)
    warnings = [use(policy, "x", str(n)) for n in range(window - 1)]
    assert [bool(warning) for warning in warnings] == [False] * (window - 2) + [True]
    with pytest.raises(LimitReached, match=f"{window} identical calls") as raised:
        policy.reserve(spend("x"))
    assert raised.value.stop_reason == StopReason.LOOP_DETECTED


def test_unusable_calls_count_whatever_they_are():
    policy = Loops(4)
    warnings = [use(policy, f"c{n}", problem="no such tool") for n in range(3)]
    assert [bool(warning) for warning in warnings] == [False, False, True]
    with pytest.raises(LimitReached, match="4 unusable calls in a row") as raised:
        policy.reserve(spend("other", problem="no such tool"))
    assert raised.value.stop_reason == StopReason.INVALID_CALLS


def test_a_usable_call_ends_the_count_of_unusable_ones():
    policy = Loops(4)
    for _ in range(5):
        for n in range(3):
            use(policy, f"c{n}", problem="bad")
        use(policy, "good")


@pytest.mark.parametrize("period", [2, 3, 4])
def test_a_cycle_is_found_after_three_rounds_with_the_same_results(period):
    policy = Loops(4)
    ring = [f"c{n}" for n in range(period)]
    warnings = [use(policy, call) for call in ring * 3]
    assert [bool(warning) for warning in warnings] == [False] * (3 * period - 1) + [True]
    with pytest.raises(LimitReached, match=" -> ".join(ring)) as raised:
        policy.reserve(spend("c0"))
    assert raised.value.stop_reason == StopReason.LOOP_DETECTED


def test_another_call_after_three_rounds_is_let_through():
    policy = Loops(4)
    for call in ["a", "b"] * 3:
        use(policy, call)
    assert use(policy, "c") is None
    assert use(policy, "a") is None


def test_a_cycle_is_found_whatever_order_parallel_calls_end_in():
    policy = Loops(4)
    for flip in (False, True, False):
        pair = [spend("a"), spend("b")]
        taken = [policy.reserve(one) for one in pair]
        for index in (1, 0) if flip else (0, 1):
            policy.settle(taken[index], pair[index], Spent(result="same"))
    with pytest.raises(LimitReached):
        policy.reserve(spend("a"))


def test_results_that_change_are_no_cycle():
    policy = Loops(4)
    for n in range(10):
        for call in "ab":
            use(policy, call, f"{n}")


def test_each_agent_run_has_its_own_trail():
    policy = Loops(4)
    for n in range(30):
        use(policy, "x", scope=f"run {n}")


def test_it_can_be_switched_off():
    policy = Loops(None)
    assert [use(policy, "x", problem="bad") for _ in range(20)] == [None] * 20


@pytest.mark.parametrize("kind", ["agent", "request", "transfer"])
def test_only_calls_are_looked_at(kind):
    policy = Loops(2)
    wanted = Spend(kind=kind, scope="s", agent="a")
    assert [policy.settle(policy.reserve(wanted), wanted, Spent()) for _ in range(9)] == [None] * 9
