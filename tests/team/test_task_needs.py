"""Tasks that need others, tasks that are failed for their owner, and tasks that are tried again."""

from __future__ import annotations

import threading

import pytest

from officellm_team.board import retries, tasks
from officellm_team.board.caller import Caller
from officellm_team.board.errors import BoardError

NOBODY = "00000000-0000-0000-0000-000000000000"
PATHS = {"pending": [], "in_progress": ["in_progress"], "blocked": ["blocked"]}
pytestmark = pytest.mark.usefixtures("team")


def refused(code, call, *arguments, **more):
    with pytest.raises(BoardError) as caught:
        call(*arguments, **more)
    assert caught.value.code == code
    return str(caught.value)


# Needs


def test_a_task_waits_for_what_it_needs_and_is_woken_by_the_last_of_it(tools, create, queued):
    one, two = create("one", assign="builder"), create("two", assign="builder")
    last = create("last", depends_on=[one, two, one])
    waiting = tools("task_assign", as_="planner", task_id=last, owner_agent="reviewer")
    assert (waiting["state"], waiting["waiting_for"]) == ("in_progress", sorted([one, two]))
    tools("task_update", as_="builder", task_id=one, state="completed")
    assert ("reviewer", last) not in queued()
    tools("task_update", as_="builder", task_id=two, state="completed")
    assert queued() == [("reviewer", last)]
    assert tools("task_get", task_id=last)["waiting_for"] == []


def test_a_task_whose_needs_are_met_is_woken_at_once(tools, create, queued):
    need = create(assign="builder")
    tools("task_update", as_="builder", task_id=need, state="completed")
    last = create(depends_on=[need], assign="reviewer")
    assert queued() == [("reviewer", last)]


@pytest.mark.parametrize("order", ["assigned before", "assigned after"])
@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_a_task_whose_need_is_lost_is_blocked_and_its_creator_hears_why(tools, create, told, queued, state, order):
    need = create("dig", assign="builder")
    last = create("fill", depends_on=[need], assign="reviewer" if order == "assigned before" else "")
    tools("task_update", as_="builder", task_id=need, state=state)
    if order == "assigned after":
        tools("task_assign", as_="planner", task_id=last, owner_agent="reviewer")
    shown = tools("task_get", task_id=last)
    assert (shown["state"], shown["owner_agent"]) == ("blocked", "reviewer")
    assert f"needs task {need} (dig), which is {state}" in shown["metadata"]["reason"]
    kind, payload = told("planner")[-1]
    assert (kind, payload["task_id"]) == ("task_blocked", last)
    assert need in payload["reason"]
    assert queued() == []
    refused("illegal_transition", tools, "task_update", as_="planner", task_id=last, state="in_progress")


def test_a_part_cannot_need_its_whole(tools, create):
    root = create()
    middle = create(parent_task_id=root)
    refused("cycle", tools, "task_create", as_="planner", title="t", parent_task_id=middle, depends_on=[root])


def test_a_need_that_is_met_while_a_task_is_assigned_wakes_it_once(board, tools, create, queued):
    for _ in range(5):
        need = create(assign="builder")
        last = create(depends_on=[need])
        ready, errors = threading.Barrier(2), []

        def at_once(work, ready=ready, errors=errors):
            ready.wait()
            try:
                work()
            except Exception as error:  # noqa: BLE001 - shown by the test
                errors.append(error)

        works = [
            lambda need=need: tasks.update(board, Caller("builder"), need, state="completed"),
            lambda last=last: tasks.assign(board, Caller("planner"), last, "reviewer"),
        ]
        threads = [threading.Thread(target=at_once, args=[work]) for work in works]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert errors == []
        assert queued().count(("reviewer", last)) == 1


# Failing for the owner, and trying again


@pytest.mark.parametrize("state", ["pending", "in_progress", "blocked"])
def test_the_runner_fails_an_open_task_from_any_state_and_keeps_its_metadata(board, tools, create, told, state):
    id = create(owner_agent="builder", metadata={"a": 1})
    for step in PATHS[state]:
        tools("task_update", as_="planner", task_id=id, state=step)
    assert tasks.fail(board, Caller("builder"), id, reason="too slow", metadata={"reason": "too slow"})
    shown = tools("task_get", task_id=id)
    assert (shown["state"], shown["metadata"]) == ("failed", {"a": 1, "reason": "too slow"})
    assert told("planner")[-1][0] == "task_failed"


def test_the_runner_fails_neither_what_ended_nor_what_is_another_ones(board, tools, create):
    done, other = create(assign="builder"), create(assign="reviewer")
    tools("task_update", as_="builder", task_id=done, state="completed")
    assert [tasks.fail(board, Caller("builder"), id, reason="x") for id in (done, other, NOBODY)] == [False] * 3
    assert tools("task_get", task_id=done)["state"] == "completed"
    assert tools("task_get", task_id=other)["state"] == "in_progress"


def test_a_retry_is_a_new_attempt_for_the_same_owner(board, create, tools, queued):
    id = create("dig", assign="builder", metadata={"a": 1}, priority="high")
    tools("task_update", as_="builder", task_id=id, state="failed", metadata={"reason": "rock"})
    new = retries.retry(board, Caller("planner"), id)
    assert (new["attempt"], new["retry_of"], new["title"], new["priority"]) == (2, id, "dig", "high")
    assert (new["metadata"], new["state"], new["created_by"]) == ({"a": 1}, "in_progress", "planner")
    assert queued() == [("builder", new["id"])]
    assert new["id"] in refused("invalid_state", retries.retry, board, Caller("planner"), id)
    tools("task_update", as_="builder", task_id=new["id"], state="failed")
    third = retries.retry(board, Caller("planner"), new["id"])
    assert (third["attempt"], third["retry_of"]) == (3, id)


def test_what_does_not_need_it_is_not_tried_again(board, tools, create):
    id = create(assign="builder")
    refused("invalid_state", retries.retry, board, Caller("planner"), id)
    tools("task_update", as_="builder", task_id=id, state="failed")
    refused("not_allowed", retries.retry, board, Caller("reviewer"), id)


def test_who_was_blocked_for_a_failed_task_goes_on_after_its_retry(board, tools, create, queued):
    need = create(assign="builder")
    last = create(depends_on=[need], assign="reviewer")
    tools("task_update", as_="builder", task_id=need, state="failed")
    again = retries.retry(board, Caller("planner"), need)["id"]
    waiting = tools("task_get", task_id=last)
    assert (waiting["state"], waiting["waiting_for"], waiting["metadata"]) == ("in_progress", [again], {})
    tools("task_update", as_="builder", task_id=again, state="completed")
    assert queued() == [("reviewer", last)]
