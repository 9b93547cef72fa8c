"""Handoffs: work in another agent's inbox, in the sender's true name, with the memories that it needs."""

from __future__ import annotations

import pytest

from officellm_team.board import deliveries, history
from officellm_team.board.errors import BoardError


@pytest.fixture(autouse=True)
def registered(tools):
    for name in ("planner", "builder"):
        tools("agent_register", as_=name)


def write(tools, as_="planner", **more):
    return tools("memory_write", as_=as_, type="note", content="the plan", embed=False, **more)["id"]


def hand_over(tools, **more):
    return tools("memory_handoff", as_="planner", to_agent="builder", task="build it", **more)


def test_a_handoff_comes_from_whoever_made_it(board, tools):
    made = hand_over(tools, from_agent="builder", note="soon")
    (shown,) = tools("memory_inbox", as_="builder")["handoffs"]
    assert (shown["memory_id"], shown["from_agent"], shown["task"]) == (made["memory_id"], "planner", "build it")
    assert shown["note"] == "soon"
    (queued,) = deliveries.listing(board)
    assert (queued["agent_id"], queued["kind"], queued["sender"]) == ("builder", "handoff", "planner")


def test_a_handoff_names_the_memories_that_it_needs(tools):
    one, two = write(tools), write(tools, scope="org")
    made = hand_over(tools, context_ids=[one, two, one])
    assert made["context_ids"] == [one, two]
    assert sorted(tools("memory_inbox", as_="builder")["handoffs"][0]["context_ids"]) == sorted([one, two])


@pytest.mark.parametrize("kind", ["unknown", "private"])
def test_a_memory_that_the_sender_cannot_see_cannot_be_handed_over(board, tools, kind):
    id = write(tools, as_="builder") if kind == "private" else "00000000-0000-0000-0000-000000000000"
    with pytest.raises(BoardError) as refused:
        hand_over(tools, context_ids=[id])
    assert refused.value.code == "not_found"
    assert tools("memory_inbox", as_="builder")["count"] == 0
    assert deliveries.counts(board)["queued"] == 0


def test_a_handoff_may_be_about_a_task_that_exists(board, tools):
    task = tools("task_create", as_="planner", title="t", priority="high")["id"]
    hand_over(tools, task_id=task)
    assert tools("memory_inbox", as_="builder")["handoffs"][0]["task_id"] == task
    assert [(one["task_id"], one["priority"]) for one in deliveries.listing(board)] == [(task, "high")]
    with pytest.raises(BoardError, match=f"Did you mean '{task}'"):
        hand_over(tools, task_id=task[:8])


@pytest.mark.parametrize(
    ("sender", "receiver"), [("planner", "bilder"), ("planer", "builder")], ids=["receiver", "sender"]
)
def test_both_sides_must_be_registered(tools, sender, receiver):
    with pytest.raises(BoardError) as refused:
        tools("memory_handoff", as_=sender, to_agent=receiver, task="x")
    assert refused.value.code == "agent_not_registered"


def test_a_read_handoff_leaves_the_inbox_and_reading_it_again_changes_nothing(board, tools, clock):
    id = hand_over(tools)["memory_id"]
    first = tools("memory_inbox_ack", as_="builder", memory_id=id)
    clock.advance(10)
    assert tools("memory_inbox_ack", as_="builder", memory_id=id) == first
    assert tools("memory_inbox", as_="builder")["count"] == 0
    assert tools("memory_inbox", as_="builder", unread_only=False)["count"] == 1
    with board.read() as connection:
        events = [row["event"] for row in history.trail(connection, id)]
    assert events == ["handoff_ack", "handoff_create"]
    assert deliveries.counts(board)["queued"] == 1


def test_nobody_reads_or_acknowledges_another_ones_inbox(tools):
    id = hand_over(tools)["memory_id"]
    assert tools("memory_inbox", as_="planner", agent_id="builder")["count"] == 0
    with pytest.raises(BoardError) as refused:
        tools("memory_inbox_ack", as_="planner", memory_id=id)
    assert refused.value.code == "not_found"
    assert tools("memory_inbox", as_="builder")["count"] == 1


def test_the_beginning_of_an_id_is_answered_with_the_whole(tools):
    id = hand_over(tools)["memory_id"]
    with pytest.raises(BoardError, match=f"Did you mean '{id}'"):
        tools("memory_inbox_ack", as_="builder", memory_id=id[:8])


def test_the_newest_handoff_is_first(tools):
    ids = [hand_over(tools)["memory_id"] for _ in range(3)]
    found = tools("memory_inbox", as_="builder", limit=2)["handoffs"]
    assert [one["memory_id"] for one in found] == [ids[2], ids[1]]
