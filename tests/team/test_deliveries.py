"""Deliveries: each is worked by one runner at a time and done once, whatever dies, hurries or comes late."""

from __future__ import annotations

from collections import Counter

import pytest
from sqlalchemy import update

from officellm_team.board import deliveries
from officellm_team.board.errors import BoardError
from officellm_team.board.tables import NOTIFICATIONS

KINDS = ("task_assigned", "handoff", "hint")
LEASE = 60.0
SETTLE = {
    "finish": lambda board, one: deliveries.finish(board, one.id, one.token, "success"),
    "retry_later": lambda board, one: deliveries.retry_later(board, one.id, one.token, "down", 5.0),
    "release": lambda board, one: deliveries.release(board, one.id, one.token),
    "bury": lambda board, one: deliveries.bury(board, one.id, one.token, "dead"),
}


pytestmark = pytest.mark.usefixtures("team")


@pytest.fixture
def claim(board):
    def take(*agents, limit=1, kinds=KINDS, runner="one", per_agent=None):
        return deliveries.claim(
            board,
            runner=runner,
            agents=agents or ("planner", "builder", "reviewer"),
            kinds=kinds,
            lease_seconds=LEASE,
            limit=limit,
            per_agent=per_agent,
        )

    return take


@pytest.fixture
def assigned(tools):
    def make(owner="builder", **more):
        id = tools("task_create", as_="planner", title="t", **more)["id"]
        tools("task_assign", as_="planner", task_id=id, owner_agent=owner)
        return id

    return make


@pytest.fixture
def hint(tools):
    def send(to="builder", **payload):
        return tools("notify", as_="planner", agent_id=to, kind="hint", payload=payload)["notification_id"]

    return send


def state(board, id):
    (found,) = (one for one in deliveries.listing(board, limit=500) if one["id"] == id)
    return found


def is_stale(call, *arguments):
    with pytest.raises(BoardError) as refused:
        call(*arguments)
    return refused.value.code == "stale_lease"


# Claiming


def test_a_claimed_delivery_says_all_that_a_runner_needs(board, claim, assigned, clock):
    task = assigned()
    (one,) = claim("builder")
    assert (one.agent_id, one.kind, one.task_id, one.sender) == ("builder", "task_assigned", task, "planner")
    assert (one.payload, one.attempts, one.token, one.created_at) == ({"task_id": task}, 1, 1, clock.now)
    shown = state(board, one.id)
    assert (shown["state"], shown["leased_by"]) == ("leased", "one")


def test_only_what_was_asked_for_is_claimed(claim, assigned, hint):
    assigned()
    hint("reviewer")
    assert claim("planner") == []
    assert claim("builder", kinds=["hint"]) == []
    assert claim("builder", kinds=[]) == []
    assert [one.kind for one in claim("builder", "reviewer", kinds=["hint"], limit=5)] == ["hint"]


def test_what_is_urgent_comes_first_and_then_what_waits_longest(claim, assigned, clock):
    low = assigned(priority="low")
    clock.advance(1)
    medium, high = assigned(), assigned(priority="high")
    clock.advance(1)
    later = assigned(priority="high")
    assert [one.task_id for one in claim(limit=9)] == [high, later, medium, low]


def test_a_task_has_one_live_lease_whatever_was_sent_about_it(board, tools, claim, assigned):
    task = assigned()
    tools("memory_handoff", as_="planner", to_agent="reviewer", task="look", task_id=task)
    (first,) = claim(limit=5)
    assert claim(limit=5, runner="two") == []
    deliveries.finish(board, first.id, first.token, "success")
    assert [one.kind for one in claim(limit=5)] == ["handoff"]


def test_an_agent_has_no_more_live_leases_than_it_may(board, claim, hint):
    for agent in ("builder", "builder", "builder", "reviewer"):
        hint(agent)
    first = claim(limit=9, per_agent=2)
    assert Counter(one.agent_id for one in first) == {"builder": 2, "reviewer": 1}
    assert claim(limit=9, per_agent=2, runner="two") == []
    deliveries.finish(board, first[0].id, first[0].token, "success")
    assert len(claim(limit=9, per_agent=2)) == 1


@pytest.mark.parametrize("raw", ["", "{", "[1]", "7", "null"], ids=repr)
def test_a_payload_that_is_no_object_is_handed_out_alone_and_as_it_is(board, claim, hint, raw):
    id = hint()
    hint()
    with board.write() as connection:
        connection.execute(update(NOTIFICATIONS).where(NOTIFICATIONS.c.id == id).values(payload=raw))
    poisoned, sound = claim(limit=2)
    assert (poisoned.payload, poisoned.raw_payload, sound.payload) == (None, raw, {})


# Leases


@pytest.mark.parametrize("name", SETTLE)
def test_a_lease_that_ran_out_is_free_again_and_its_holder_comes_too_late(board, claim, hint, clock, name):
    hint()
    (first,) = claim()
    clock.advance(LEASE - 1)
    assert claim(runner="two") == []
    clock.advance(1)
    (second,) = claim(runner="two")
    assert (second.id, second.attempts, second.token) == (first.id, 2, 2)
    assert is_stale(SETTLE[name], board, first)
    assert not deliveries.renew(board, first.id, first.token, LEASE)
    SETTLE[name](board, second)
    assert is_stale(SETTLE[name], board, second)


def test_a_renewed_lease_lives_on(board, claim, hint, clock):
    hint()
    (one,) = claim()
    for _ in range(3):
        clock.advance(LEASE - 1)
        assert deliveries.renew(board, one.id, one.token, LEASE)
    assert claim(runner="two") == []
    deliveries.finish(board, one.id, one.token, "success")
    assert not deliveries.renew(board, one.id, one.token, LEASE)


# What becomes of it


def test_a_finished_delivery_is_read_and_never_comes_again(board, tools, claim, hint, clock):
    hint()
    (one,) = claim()
    deliveries.finish(board, one.id, one.token, "success")
    clock.advance(10 * LEASE)
    assert claim() == []
    assert tools("notifications_poll", as_="builder")["count"] == 0
    assert (state(board, one.id)["state"], state(board, one.id)["outcome"]) == ("done", "success")


def test_a_retry_comes_after_its_delay_and_says_what_went_wrong(board, claim, hint, clock):
    hint()
    (one,) = claim()
    deliveries.retry_later(board, one.id, one.token, "provider down", 30.0)
    clock.advance(29)
    assert claim() == []
    clock.advance(1)
    assert state(board, one.id)["last_error"] == "provider down"
    (again,) = claim()
    assert (again.attempts, again.token) == (2, 2)


def test_released_work_keeps_its_place_and_its_attempts(board, claim, hint):
    first, _ = hint(), hint()
    (one,) = claim()
    deliveries.release(board, one.id, one.token)
    (again,) = claim()
    assert (again.id, again.attempts, again.token) == (first, 1, 2)


def test_a_buried_delivery_fails_its_task_and_tells_the_creator(board, tools, claim, assigned, clock):
    task = assigned()
    (one,) = claim("builder")
    deliveries.bury(board, one.id, one.token, "given up after 6 attempts")
    shown = tools("task_get", task_id=task)
    assert (shown["state"], shown["metadata"]["reason"]) == ("failed", "given up after 6 attempts")
    (told,) = tools("notifications_poll", as_="planner")["notifications"]
    assert (told["kind"], told["payload"]["reason"]) == ("task_failed", "given up after 6 attempts")
    clock.advance(10 * LEASE)
    assert claim("builder") == []
    assert [one["id"] for one in deliveries.listing(board, "dead")] == [one.id]


def test_a_buried_delivery_leaves_a_task_alone_that_is_another_ones_by_now(board, tools, claim, assigned):
    task = assigned()
    (one,) = claim("builder")
    tools("task_assign", as_="planner", task_id=task, owner_agent="reviewer")
    deliveries.bury(board, one.id, one.token, "x")
    assert tools("task_get", task_id=task)["state"] == "in_progress"
    assert [other.agent_id for other in claim()] == ["reviewer"]


def test_the_sender_hears_of_a_buried_message_that_has_no_task(board, tools, claim, hint):
    id = hint("builder")
    (one,) = claim()
    deliveries.bury(board, one.id, one.token, "poison")
    (told,) = tools("notifications_poll", as_="planner")["notifications"]
    assert (told["kind"], told["payload"]["notification_id"]) == ("delivery_failed", id)
    (bad_news,) = claim("planner", kinds=["delivery_failed"])
    deliveries.bury(board, bad_news.id, bad_news.token, "poison")
    assert deliveries.counts(board) == {"queued": 0, "leased": 0, "done": 0, "dead": 2}


# Orphans and the dead


def test_a_task_in_progress_that_nothing_would_wake_is_put_back_once(board, claim, assigned):
    task = assigned()
    assert deliveries.requeue_orphans(board) == []
    (one,) = claim()
    assert deliveries.requeue_orphans(board) == []
    deliveries.finish(board, one.id, one.token, "success")
    assert deliveries.requeue_orphans(board) == [task]
    assert deliveries.requeue_orphans(board) == []
    assert [again.task_id for again in claim()] == [task]


@pytest.mark.parametrize("case", ["waits for a need", "waits for its parts", "pending", "blocked", "ended", "no owner"])
def test_a_task_that_waits_or_ended_is_no_orphan(board, tools, claim, assigned, case):
    def create(**more):
        return tools("task_create", as_="planner", title="t", **more)["id"]

    if case == "waits for a need":
        assigned(depends_on=[create()])
    elif case == "pending":
        create(owner_agent="builder")
    elif case == "no owner":
        tools("task_update", as_="planner", task_id=create(), state="in_progress")
    else:
        task = assigned()
        if case == "waits for its parts":
            create(parent_task_id=task)
        else:
            tools("task_update", as_="builder", task_id=task, state="blocked" if case == "blocked" else "completed")
        for one in claim("builder"):
            deliveries.finish(board, one.id, one.token, "success")
    assert deliveries.requeue_orphans(board) == []


def test_a_whole_is_put_back_when_its_parts_are_done(board, tools, claim, assigned):
    task = assigned()
    (one,) = claim("builder")
    part = tools("task_create", as_="builder", title="part", parent_task_id=task)["id"]
    deliveries.finish(board, one.id, one.token, "success")
    tools("task_update", as_="builder", task_id=part, state="cancelled")
    assert deliveries.requeue_orphans(board) == [task]


def test_a_dead_message_is_queued_again_with_all_its_attempts(board, claim, hint):
    id = hint()
    (one,) = claim()
    deliveries.bury(board, one.id, one.token, "x")
    assert deliveries.retry_dead(board, id) == id
    (again,) = claim("builder")
    assert (again.id, again.attempts, again.token) == (id, 1, 2)


def test_a_task_that_failed_with_its_delivery_gets_a_new_attempt(board, tools, claim, assigned):
    task = assigned()
    (one,) = claim("builder")
    deliveries.bury(board, one.id, one.token, "x")
    new = deliveries.retry_dead(board, one.id)
    (again,) = claim("builder")
    assert again.id == new != one.id
    shown = tools("task_get", task_id=again.task_id)
    assert (shown["attempt"], shown["retry_of"]) == (2, task)


@pytest.mark.parametrize(("id", "code"), [(0, "invalid_state"), (999, "not_found"), (10**30, "not_found")], ids=str)
def test_only_the_dead_are_tried_again(board, hint, id, code):
    with pytest.raises(BoardError) as refused:
        deliveries.retry_dead(board, id or hint())
    assert refused.value.code == code


def test_counts_and_listings_can_be_narrowed(board, claim, hint):
    hint("builder")
    hint("reviewer")
    claim("builder")
    assert deliveries.counts(board, agents=["builder"]) == {"queued": 0, "leased": 1, "done": 0, "dead": 0}
    assert deliveries.counts(board, kinds=["handoff"])["queued"] == 0
    assert [one["agent_id"] for one in deliveries.listing(board, "queued")] == ["reviewer"]
    with pytest.raises(BoardError, match="queued, leased, done, dead"):
        deliveries.listing(board, "lost")
