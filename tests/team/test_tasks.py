"""Tasks: who may change them, which moves are legal, who is told, what waits for what."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import update

from officellm_team.board import deliveries, history, tasks, transitions
from officellm_team.board.caller import Caller
from officellm_team.board.errors import BoardError
from officellm_team.board.tables import TASKS

NOBODY = "00000000-0000-0000-0000-000000000000"
MOVES = [(before, after) for before in transitions.STATES for after in transitions.STATES if before != after]
PATHS = {"pending": [], "in_progress": ["in_progress"], "blocked": ["blocked"], "cancelled": ["cancelled"]}
PATHS |= {"completed": ["in_progress", "completed"], "failed": ["in_progress", "failed"]}


pytestmark = pytest.mark.usefixtures("team")


def trail(board, id):
    with board.read() as connection:
        rows = history.trail(connection, id, 100)
    return [(row["event"], row["prev"], row["new"], row["actor"]) for row in reversed(rows)]


def refused(code, call, *arguments, **more):
    with pytest.raises(BoardError) as caught:
        call(*arguments, **more)
    assert caught.value.code == code
    return str(caught.value)


# Making tasks


def test_a_task_is_created_in_the_name_of_its_caller_and_wakes_nobody(board, tools):
    made = tools("task_create", as_="planner", title=" t ", created_by="builder", owner_agent="builder")
    assert (made["title"], made["created_by"], made["owner_agent"], made["state"]) == (
        "t",
        "planner",
        "builder",
        "pending",
    )
    assert tools("task_get", task_id=made["id"]) == made
    assert deliveries.counts(board)["queued"] == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"title": " "}, "invalid_arguments"),
        ({"title": "t\0"}, "invalid_arguments"),
        ({"title": "t", "description": "x" * 60_000}, "content_too_large"),
        ({"title": "t", "owner_agent": "bilder"}, "agent_not_registered"),
        ({"title": "t", "parent_task_id": NOBODY}, "not_found"),
        ({"title": "t", "depends_on": [NOBODY]}, "not_found"),
        ({"title": "t", "depends_on": ["\0"]}, "invalid_arguments"),
        ({"title": "t", "priority": "urgent"}, "invalid_arguments"),
        ({"title": "t", "due_at": "tomorrow"}, "invalid_arguments"),
        ({"title": "t", "metadata": {"a": "\udfff"}}, "invalid_arguments"),
    ],
    ids=["blank", "nul", "long", "owner", "parent", "needs", "nul need", "priority", "due", "surrogate"],
)
def test_a_task_that_cannot_be_is_refused_and_not_made(tools, arguments, code):
    refused(code, tools, "task_create", as_="planner", **arguments)
    assert tools("task_list")["count"] == 0


def test_a_due_time_is_kept_in_utc(tools):
    made = tools("task_create", as_="planner", title="t", due_at="2027-05-01T12:00:00+02:00")
    assert made["due_at"] == "2027-05-01T10:00:00.000000Z"


# Giving them to owners


def test_assigning_starts_a_task_and_wakes_its_owner(board, create, told, queued):
    id = create(assign="builder")
    assert told("builder") == [("task_assigned", {"task_id": id})]
    assert queued() == [("builder", id)]
    assert ("task_state", "pending", "in_progress", "planner") in trail(board, id)


def test_assigning_again_to_the_same_owner_wakes_it_once(tools, create, queued):
    id = create(assign="builder")
    tools("task_assign", as_="planner", task_id=id, owner_agent="builder")
    assert queued() == [("builder", id)]


def test_a_new_owner_is_woken_instead_of_the_one_before_who_is_told(tools, create, told, queued):
    id = create(assign="builder")
    tools("task_assign", as_="planner", task_id=id, owner_agent="reviewer")
    assert queued() == [("reviewer", id)]
    assert told("builder")[-1] == ("task_reassigned", {"task_id": id, "owner_agent": "reviewer"})


@pytest.mark.parametrize("state", transitions.ENDED)
def test_a_task_that_ended_is_not_assigned(tools, create, state):
    id = create()
    for step in PATHS[state]:
        tools("task_update", as_="planner", task_id=id, state=step)
    refused("illegal_transition", tools, "task_assign", as_="planner", task_id=id, owner_agent="builder")


def test_an_owner_must_be_registered(tools, create):
    id = create()
    said = refused("agent_not_registered", tools, "task_assign", as_="planner", task_id=id, owner_agent="bilder")
    assert "Did you mean 'builder'" in said
    assert tools("task_get", task_id=id)["state"] == "pending"


# Changing them


@pytest.mark.parametrize(("before", "after"), MOVES, ids=[f"{one} to {other}" for one, other in MOVES])
def test_only_legal_moves_are_made(tools, create, before, after):
    id = create()
    for step in PATHS[before]:
        tools("task_update", as_="planner", task_id=id, state=step)
    if after in transitions.NEXT[before]:
        assert tools("task_update", as_="planner", task_id=id, state=after)["state"] == after
    else:
        refused("illegal_transition", tools, "task_update", as_="planner", task_id=id, state=after)
        assert tools("task_get", task_id=id)["state"] == before


@pytest.mark.parametrize("tool", ["task_assign", "task_update", "task_set_result"])
def test_only_owner_creator_and_operator_change_a_task(tools, create, tool):
    id = create(assign="builder")
    more = {"task_assign": {"owner_agent": "reviewer"}, "task_set_result": {"result_memory_id": NOBODY}}.get(tool, {})
    refused("not_allowed", tools, tool, as_="reviewer", task_id=id, **more)
    if tool == "task_update":
        refused("not_allowed", tools, tool, as_="reviewer", task_id=id, actor="builder", state="completed")
        for who, operator in (("planner", False), ("builder", False), ("person", True)):
            tools(tool, as_=who, operator=operator, task_id=id, description=who)
        assert tools("task_get", task_id=id)["description"] == "person"


def test_metadata_is_merged_and_an_empty_one_changes_nothing(tools, create):
    id = create(metadata={"a": 1, "b": {"c": 2}})
    before = tools("task_get", task_id=id)
    assert tools("task_update", as_="planner", task_id=id, metadata={}, state="") == before
    after = tools("task_update", as_="planner", task_id=id, metadata={"b": 3, "d": 4})
    assert after["metadata"] == {"a": 1, "b": 3, "d": 4}
    assert after["version"] == before["version"] + 1


def test_a_task_is_completed_once_whatever_is_written_on_it_later(board, tools, create, clock, told):
    id = create(assign="builder")
    done = tools("task_update", as_="builder", task_id=id, state="completed")
    clock.advance(60)
    tools("task_update", as_="builder", task_id=id, state="completed")
    later = tools("task_update", as_="builder", task_id=id, description="more", metadata={"a": 1})
    assert later["completed_at"] == done["completed_at"] is not None
    assert [kind for kind, _ in told("planner")] == ["task_completed"]
    assert [event for event, *_ in trail(board, id)].count("task_state") == 2


@pytest.mark.parametrize("state", ["completed", "failed", "blocked", "cancelled"])
def test_the_creator_hears_how_it_ended_with_the_reason(tools, create, told, state):
    id = create("dig", assign="builder")
    tools("task_update", as_="builder", task_id=id, state=state, metadata={"reason": "because"})
    assert told("planner") == [(f"task_{state}", {"task_id": id, "title": "dig", "state": state, "reason": "because"})]


@pytest.mark.parametrize("state", ["completed", "failed", "blocked", "cancelled"])
def test_who_made_the_change_is_not_told_of_it(tools, create, told, state):
    id = create(assign="builder")
    tools("task_update", as_="planner", task_id=id, state=state)
    assert told("planner") == []


def test_work_on_a_cancelled_task_is_taken_off_the_queue(tools, create, queued):
    id = create(assign="builder")
    tools("task_update", as_="planner", task_id=id, state="cancelled")
    assert queued() == []


def test_an_owner_is_woken_when_another_one_lets_it_go_on(board, tools, create, queued):
    id = create(assign="builder")
    (work,) = deliveries.claim(board, runner="r", agents=["builder"], kinds=["task_assigned"], lease_seconds=60)
    tools("task_update", as_="builder", task_id=id, state="blocked")
    deliveries.finish(board, work.id, work.token, "success")
    tools("task_update", as_="planner", task_id=id, state="in_progress")
    assert queued() == [("builder", id)]


def test_two_that_close_a_task_at_once_cannot_both_do_it(board, create, tools, told):
    id = create(assign="builder")
    ready, outcomes = threading.Barrier(2), []

    def close(state):
        ready.wait()
        try:
            outcomes.append(tasks.update(board, Caller("builder"), id, state=state)["state"])
        except BoardError as error:
            outcomes.append(error.code)

    threads = [threading.Thread(target=close, args=[state]) for state in ("completed", "failed")]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(outcomes) == sorted(["illegal_transition", tools("task_get", task_id=id)["state"]])
    assert len(told("planner")) == 1


def test_a_change_of_a_task_that_is_not_as_it_was_read_is_refused(board, create):
    id = create()
    with board.write() as connection:
        row = transitions.locked(connection, id)
        transitions.change(connection, row, 1.0, description="first")
        refused("illegal_transition", transitions.change, connection, row, 2.0, description="second")


# Results


def test_a_result_must_be_a_memory_that_the_caller_may_show(tools, create):
    id = create(assign="builder")
    mine = tools("memory_write", as_="builder", type="note", content="done", embed=False)["id"]
    others = tools("memory_write", as_="reviewer", type="note", content="secret", embed=False)["id"]
    for wrong in (NOBODY, mine[:8], others):
        refused("not_found", tools, "task_set_result", as_="builder", task_id=id, result_memory_id=wrong)
    shown = tools("task_set_result", as_="builder", task_id=id, result_memory_id=mine)
    assert shown["result_memory_id"] == mine


# Reading


def test_eight_characters_read_a_task_and_do_not_change_it(tools, create):
    id = create()
    assert tools("task_get", task_id=id[:8])["id"] == id
    assert tools("task_tree", root_task_id=id[:8])["tree"]["id"] == id
    refused("not_found", tools, "task_get", task_id=id[:7])
    said = refused("not_found", tools, "task_update", as_="planner", task_id=id[:8], state="cancelled")
    assert f"Did you mean '{id}'" in said


def test_a_beginning_of_several_ids_is_ambiguous(board, tools, create):
    first, second = create(), create()
    with board.write() as connection:
        for number, id in enumerate((first, second)):
            new = f"abcdef01-0000-0000-0000-00000000000{number}"
            connection.execute(update(TASKS).where(TASKS.c.id == id).values(id=new))
    said = refused("ambiguous_id", tools, "task_get", task_id="abcdef01")
    assert "000000000000, abcdef01-0000-0000-0000-000000000001" in said


@pytest.mark.parametrize("id", ["", "%", "________", "%%%%%%%%", "nothing-like-it", "\0", "'; --"], ids=repr)
def test_an_id_that_is_none_is_refused(tools, create, id):
    create()
    with pytest.raises(BoardError):
        tools("task_get", task_id=id)


def test_lists_show_what_changed_last_first(tools, create, clock):
    ids = []
    for owner in ("builder", "builder", "reviewer"):
        ids.append(create(assign=owner))
        clock.advance(1)
    tools("task_update", as_="planner", task_id=ids[0], description="x")
    assert [one["id"] for one in tools("task_list")["tasks"]] == [ids[0], ids[2], ids[1]]
    assert [one["id"] for one in tools("task_list", owner_agent="builder", limit=1)["tasks"]] == [ids[0]]
    assert tools("task_list", state="pending")["count"] == 0
    assert "One of: pending" in refused("invalid_arguments", tools, "task_list", state="done")


def test_a_tree_goes_as_deep_as_asked_and_says_where_it_was_cut(tools, create):
    root = create("root")
    middle = create("middle", parent_task_id=root)
    create("leaf", parent_task_id=middle)
    one = tools("task_tree", root_task_id=root, max_depth=-3)
    assert ([child["title"] for child in one["tree"]["children"]], one["truncated"]) == (["middle"], True)
    two = tools("task_tree", root_task_id=root, max_depth=99)
    assert two["tree"]["children"][0]["children"][0]["title"] == "leaf"
    assert (two["count"], two["truncated"]) == (3, False)
    assert [task["title"] for task in tools("task_list", parent_task_id=root)["tasks"]] == ["middle"]


def test_a_tree_with_a_cycle_shows_each_task_once(board, tools, create):
    root = create("root")
    child = create("child", parent_task_id=root)
    with board.write() as connection:
        connection.execute(update(TASKS).where(TASKS.c.id == root).values(parent_task_id=child))
    shown = tools("task_tree", root_task_id=root, max_depth=20)
    assert (shown["count"], shown["tree"]["children"][0]["children"]) == (2, [])
    assert tools("task_create", as_="planner", title="t", parent_task_id=root)["parent_task_id"] == root
