"""Notifications: who told whom what, and that reading them leaves queued work alone."""

from __future__ import annotations

import pytest

from officellm_team.board import deliveries
from officellm_team.board.errors import BoardError


@pytest.fixture
def told(tools):
    for name in ("planner", "builder"):
        tools("agent_register", as_=name)
    return tools("notify", as_="planner", agent_id="builder", kind="hint", payload={"text": "look"})["notification_id"]


def test_a_notification_says_who_sent_it(tools, told):
    (shown,) = tools("notifications_poll", as_="builder")["notifications"]
    assert (shown["id"], shown["kind"], shown["sender"], shown["payload"]) == (
        told,
        "hint",
        "planner",
        {"text": "look"},
    )


def test_nobody_reads_what_another_one_was_told(tools, told):
    assert tools("notifications_poll", as_="planner", agent_id="builder")["notifications"] == []
    assert tools("notifications_ack_all", as_="planner", agent_id="builder") == {"acked": 0}


def test_nobody_acknowledges_what_another_one_was_told(tools, told):
    with pytest.raises(BoardError) as refused:
        tools("notifications_ack", as_="planner", notification_id=told)
    assert refused.value.code == "not_allowed"
    assert tools("notifications_poll", as_="builder")["count"] == 1


def test_acknowledging_twice_is_said_to_be_so(tools, told):
    tools("notifications_ack", as_="builder", notification_id=told)
    with pytest.raises(BoardError) as refused:
        tools("notifications_ack", as_="builder", notification_id=told)
    assert refused.value.code == "already_acked"
    assert tools("notifications_poll", as_="builder")["count"] == 0
    assert tools("notifications_poll", as_="builder", unread_only=False)["count"] == 1


@pytest.mark.parametrize("id", [0, -1, 999, 10**30], ids=str)
def test_a_notification_that_does_not_exist_is_not_found(tools, told, id):
    with pytest.raises(BoardError) as refused:
        tools("notifications_ack", as_="builder", notification_id=id)
    assert refused.value.code == "not_found"


def test_acknowledging_all_leaves_queued_work_queued(board, tools, told):
    tools("notify", as_="planner", agent_id="builder", kind="hint")
    assert tools("notifications_ack_all", as_="builder") == {"acked": 2}
    assert deliveries.counts(board)["queued"] == 2


def test_the_newest_are_first_and_no_more_than_asked_for(tools, told):
    for number in range(3):
        tools("notify", as_="planner", agent_id="builder", kind="hint", payload={"n": number})
    found = tools("notifications_poll", as_="builder", limit=2)["notifications"]
    assert [one["payload"]["n"] for one in found] == [2, 1]
    assert tools("notifications_poll", as_="builder", limit=-5)["count"] == 1


def test_nobody_is_told_under_a_name_that_is_not_registered(tools, told):
    with pytest.raises(BoardError, match="Did you mean 'builder'") as refused:
        tools("notify", as_="planner", agent_id="bilder", kind="hint")
    assert refused.value.code == "agent_not_registered"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"kind": " "}, "invalid_arguments"),
        ({"kind": "k" * 101}, "content_too_large"),
        ({"kind": "k\0"}, "invalid_arguments"),
        ({"kind": "k", "payload": {"text": "x" * 60_000}}, "content_too_large"),
        ({"kind": "k", "payload": {"text": "\ud800"}}, "invalid_arguments"),
        ({"kind": "k", "payload": {"task_id": "\0"}}, "invalid_arguments"),
        ({"kind": "k", "payload": [1]}, "invalid_arguments"),
    ],
    ids=["blank", "long kind", "nul", "long payload", "surrogate", "nul in the task", "list"],
)
def test_what_cannot_be_stored_is_refused_and_nothing_is_sent(board, tools, told, arguments, code):
    with pytest.raises(BoardError) as refused:
        tools("notify", as_="planner", agent_id="builder", **arguments)
    assert refused.value.code == code
    assert deliveries.counts(board)["queued"] == 1
