"""Rate limits: never more than was allowed, never longer than needed, in order, within the deadline."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, strategies as st

from officellm import FaultError
from officellm.ratelimit import RateLimit
from officellm.ratelimitheaders import Budget, read_budgets
from officellm.testing.contracts import FakeClock

OPENAI = {
    "x-ratelimit-limit-requests": "100",
    "x-ratelimit-remaining-requests": "0",
    "x-ratelimit-reset-requests": "1m0s",
}


class Timeline(FakeClock):
    """Sleepers wake in the order of time, as on a real clock."""

    async def sleep(self, seconds):
        due = self._now + seconds
        self.slept.append(seconds)
        while self._now < due:
            await asyncio.sleep(0)
            self._now = min(due, self._now + 0.5)


def raw(headers):
    return [(name.title().encode(), value.encode()) for name, value in headers.items()]


async def sent_at(limit, clock, *tokens, deadline=None):
    """The moments at which requests are let through, one after the other."""
    begun, moments = clock.monotonic(), []
    for amount in tokens:
        limit.release(await limit.admit("m", amount, deadline))
        moments.append(clock.monotonic() - begun)
    return moments


@given(st.integers(1, 5), st.none() | st.integers(10, 100), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 90))))
def test_no_minute_holds_more_than_the_settings_allow(requests, tokens, work):
    clock = FakeClock()
    limit = RateLimit(clock, requests, tokens)
    done = []

    async def all_of_it():
        for pause, amount in work:
            clock.advance(pause)
            limit.release(await limit.admit("m", amount, None))
            done.append((clock.monotonic(), amount))

    asyncio.run(all_of_it())
    for moment, _ in done:
        minute = [amount for at, amount in done if moment - 59.99 <= at <= moment]
        assert len(minute) <= requests
        assert tokens is None or sum(minute) <= tokens or len([amount for amount in minute if amount]) <= 1


async def test_what_fits_goes_at_once_and_the_next_after_a_minute():
    clock = FakeClock()
    limit = RateLimit(clock, 3, None)

    assert await sent_at(limit, clock, 1, 1, 1, 1, 1) == [0, 0, 0, 60, 60]


async def test_tokens_that_a_reply_really_took_replace_the_estimate():
    clock = FakeClock()
    limit = RateLimit(clock, None, 100)
    slot = await limit.admit("m", 10, None)
    slot.tokens = 95
    limit.release(slot)

    assert await sent_at(limit, clock, 10) == [60]


async def test_requests_at_the_same_time_go_in_order():
    clock = Timeline()
    limit = RateLimit(clock, 2, None)
    order = []

    async def one(number):
        limit.release(await limit.admit("m", 1, None))
        order.append((number, clock.monotonic() - 1000))

    await asyncio.gather(*(one(number) for number in range(5)))
    assert order == [(0, 0), (1, 0), (2, 60), (3, 60), (4, 120)]


async def test_a_wait_beyond_the_deadline_fails_at_once_and_takes_no_place():
    clock = FakeClock()
    limit = RateLimit(clock, 1, None)
    await sent_at(limit, clock, 1)

    with pytest.raises(FaultError) as raised:
        await limit.admit("m", 1, clock.monotonic() + 30)
    assert (raised.value.fault.kind, raised.value.fault.retry_after, clock.slept) == ("rate_limit", 60, [])
    assert await sent_at(limit, clock, 1) == [60]


async def test_a_wait_that_is_cancelled_gives_its_place_back():
    limit = RateLimit(clock := Timeline(), 1, None)
    await sent_at(limit, clock, 1)
    waiting = asyncio.create_task(limit.admit("m", 1, None))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    clock.advance(60)
    assert await sent_at(limit, clock, 1) == [0]


async def test_it_counts_across_event_loops():
    clock = FakeClock()
    limit = RateLimit(clock, 1, None)
    await asyncio.to_thread(lambda: asyncio.run(sent_at(limit, clock, 1)))

    assert await sent_at(limit, clock, 1) == [60]


async def test_what_a_service_says_is_left_is_kept_for_its_model_alone():
    clock = FakeClock()
    limit = RateLimit(clock, None, None)
    assert limit.idle
    limit.learn("m", raw(OPENAI), None)

    limit.release(await limit.admit("other", 1, None))
    assert clock.slept == []
    # All of 100 is there again in 60 s, so one is in 0.6 s.
    assert await sent_at(limit, clock, 1, 1) == [pytest.approx(0.6), pytest.approx(1.2)]


async def test_what_is_on_its_way_is_taken_from_what_is_left():
    clock = FakeClock()
    limit = RateLimit(clock, None, None)
    limit.learn("m", raw(OPENAI | {"x-ratelimit-remaining-requests": "50"}), None)
    mine, _other = await limit.admit("m", 1, None), await limit.admit("m", 1, None)
    limit.learn("m", raw(OPENAI | {"x-ratelimit-remaining-requests": "1"}), mine)

    assert await sent_at(limit, clock, 1) == [pytest.approx(60 / 99)]


async def test_a_server_that_asks_to_wait_holds_everyone_for_a_minute_at_most():
    clock = FakeClock()
    limit = RateLimit(clock, None, None)
    limit.hold("m", 7)
    assert await sent_at(limit, clock, 1) == [7]
    limit.hold("m", 3600)
    assert await sent_at(limit, clock, 1) == [60]


@pytest.mark.parametrize(
    ("headers", "budget"),
    [
        (OPENAI, Budget(0, 100, 100 / 60)),
        (OPENAI | {"x-ratelimit-reset-requests": "6m0.5s"}, Budget(0, 100, 100 / 360.5)),
        (OPENAI | {"x-ratelimit-reset-requests": "120ms"}, Budget(0, 100, 100 / 0.12)),
        (OPENAI | {"x-ratelimit-reset-requests": "30"}, Budget(0, 100, 100 / 30)),
        (OPENAI | {"x-ratelimit-reset-requests": "soon"}, Budget(0, 100, 100 / 60)),
        (
            {
                "anthropic-ratelimit-requests-limit": "50",
                "anthropic-ratelimit-requests-remaining": "40",
                "anthropic-ratelimit-requests-reset": "1970-01-01T00:00:20Z",
            },
            Budget(40, 50, 1.0),
        ),
        ({"x-ratelimit-limit-requests": "X-RATELIMIT-XXX", "x-ratelimit-remaining-requests": "-1"}, None),
        ({"x-ratelimit-remaining-requests": "5"}, None),
        ({"content-type": "application/json"}, None),
    ],
)
def test_the_spellings_of_services_are_read(headers, budget):
    found = read_budgets(raw(headers), 10.0)

    assert (found[0] if found else None) == budget


@given(st.lists(st.tuples(st.sampled_from([name.encode() for name in OPENAI]), st.binary(max_size=12))))
def test_any_header_value_is_survived(headers):
    found = read_budgets(headers, 10.0)

    assert found is None or found[0].per_second > 0
