"""Limits as numbers: what is allowed in them, and which level decides."""

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from officellm import Limits

COUNTS = ["max_tool_calls", "max_requests", "max_total_tokens", "max_transfers", "provider_retries"]
POSITIVE = ["max_turns", "max_tokens_per_call", "max_visits", "max_depth", "max_parallel_calls", "max_concurrency"]
NUMBERS = ["max_cost_usd", "max_seconds", "tool_timeout"]


@pytest.mark.parametrize("name", COUNTS)
def test_counts_may_be_none_or_zero_or_more(name):
    assert [getattr(Limits(**{name: value}), name) for value in (None, 0, 7)] == [None, 0, 7]
    for value in (-1, 1.5, "3", True):
        with pytest.raises(ValidationError, match=name):
            Limits(**{name: value})


@pytest.mark.parametrize("name", POSITIVE)
def test_numbers_of_which_zero_makes_no_sense_start_at_one(name):
    assert [getattr(Limits(**{name: value}), name) for value in (None, 1)] == [None, 1]
    for value in (0, -1):
        with pytest.raises(ValidationError, match=name):
            Limits(**{name: value})


@pytest.mark.parametrize("name", NUMBERS)
def test_amounts_are_finite_and_not_negative(name):
    assert getattr(Limits(**{name: 0.5}), name) == 0.5
    for value in (-0.1, float("inf"), float("nan")):
        with pytest.raises(ValidationError, match=name):
            Limits(**{name: value})


def test_the_defaults_are_those_of_the_design():
    limits = Limits()
    assert (limits.loop_window, limits.max_depth, limits.provider_retries) == (4, 3, 3)
    assert (limits.max_transfers, limits.max_visits, limits.max_parallel_calls) == (4, 2, 4)


def test_an_unknown_limit_is_refused_and_limits_do_not_change():
    with pytest.raises(ValidationError, match="max_turn"):
        Limits(max_turn=3)
    with pytest.raises(ValidationError, match="frozen"):
        Limits().max_turns = 3


LEVEL = st.none() | st.dictionaries(st.sampled_from(COUNTS), st.none() | st.integers(0, 5))


@given(levels=st.lists(LEVEL, max_size=4))
def test_the_first_level_that_sets_a_field_decides_it(levels):
    merged = Limits.merge(*(None if level is None else Limits(**level) for level in levels))
    given_levels = [level for level in levels if level is not None]
    for name in COUNTS:
        deciding = [level[name] for level in given_levels if name in level]
        assert getattr(merged, name) == (deciding[0] if deciding else getattr(Limits(), name))
        assert merged.is_set(name) == bool(deciding)


def test_none_that_was_set_beats_a_number_further_away():
    assert Limits.merge(Limits(max_requests=None), Limits(max_requests=5)).max_requests is None
