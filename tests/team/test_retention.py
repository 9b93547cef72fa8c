"""How long memories stay: limits of agents, expiry, fading; what goes is archived first."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select

from officellm_team.board.errors import BoardError
from officellm_team.board.tables import ARCHIVE, EMBEDDINGS

DAY = 86_400


@pytest.fixture
def write(tools):
    def make(content, *, as_="ann", **more):
        return tools("memory_write", as_=as_, **{"type": "note", "content": content, **more})["id"]

    return make


@pytest.fixture
def kept(tools):
    def ask(ids, *, as_="ann"):
        there = []
        for id in ids:
            try:
                there.append(tools("memory_get", as_=as_, id=id)["content"])
            except BoardError:
                continue
        return there

    return ask


@pytest.fixture
def archived(board):
    def ask():
        with board.read() as connection:
            rows = connection.execute(select(ARCHIVE).order_by(ARCHIVE.c.seq)).mappings().all()
        return [(json.loads(row["row"])["content"], row["reason"]) for row in rows]

    return ask


def test_without_a_policy_nothing_is_limited(tools, write, kept, clock):
    ids = [write(str(at)) for at in range(3)]
    clock.advance(400 * DAY)
    done = tools("memory_maintenance", decay=False)
    assert (done["retained"], kept(ids)) == (0, ["0", "1", "2"])


def test_the_newest_stay_and_the_rest_is_archived(tools, write, kept, archived):
    tools("memory_set_retention", agent_id="ann", max_memories=2)
    ids = [write(str(at)) for at in range(4)]
    other = write("bob's", as_="bob", scope="org")
    assert tools("memory_maintenance")["retained"] == 2
    assert kept([*ids, other]) == ["2", "3", "bob's"]
    assert archived() == [("0", "retention"), ("1", "retention")]
    assert tools("memory_maintenance")["retained"] == 0


def test_what_is_too_old_goes(tools, write, kept, clock):
    tools("memory_set_retention", agent_id="ann", ttl_days=5)
    ids = [write("old")]
    clock.advance(4 * DAY)
    ids.append(write("new"))
    clock.advance(2 * DAY)
    tools("memory_maintenance")
    assert kept(ids) == ["new"]


def test_a_policy_without_an_archive_keeps_nothing(tools, write, kept, archived):
    tools("memory_set_retention", agent_id="ann", max_memories=1, auto_archive=0)
    ids = [write("a"), write("b")]
    tools("memory_maintenance")
    assert (kept(ids), archived()) == (["b"], [])


def test_a_new_policy_takes_the_place_of_the_old_one(tools, write, kept):
    tools("memory_set_retention", agent_id="ann", max_memories=1)
    tools("memory_set_retention", agent_id="ann", max_memories=0)
    ids = [write("a"), write("b")]
    tools("memory_maintenance")
    assert kept(ids) == ["a", "b"]


@pytest.mark.parametrize(
    "arguments", [{"max_memories": -1}, {"ttl_days": -1}, {"ttl_days": 10**12}, {"agent_id": " "}], ids=str
)
def test_a_policy_that_makes_no_sense_is_refused(tools, arguments):
    with pytest.raises(BoardError) as refusal:
        tools("memory_set_retention", **{"agent_id": "ann", **arguments})
    assert refusal.value.code == "invalid_arguments"


def test_an_unread_handoff_is_work_and_stays(tools):
    for name in ("ann", "bob"):
        tools("agent_register", as_=name)
    tools("memory_set_retention", agent_id="bob", ttl_days=1, max_memories=1)
    for task in ("one", "two"):
        tools("memory_handoff", as_="ann", to_agent="bob", task=task)
    tools("memory_maintenance")
    assert len(tools("memory_inbox", as_="bob")["handoffs"]) == 2


def test_what_expired_is_archived_and_removed(tools, write, archived, clock):
    write("for today", scope="session")
    clock.advance(DAY)
    assert tools("memory_maintenance", purge_expired=False)["expired"] == 0
    assert tools("memory_maintenance")["expired"] == 1
    assert archived() == [("for today", "expired")]


def test_old_memories_fade_and_new_ones_do_not(tools, write, clock):
    old = write("old", importance=0.5)
    clock.advance(8 * DAY)
    new = write("new", importance=0.5)
    assert tools("memory_maintenance", decay=False)["decayed"] == 0
    assert tools("memory_maintenance")["decayed"] == 1
    importance = {id: tools("memory_get", as_="ann", id=id)["importance"] for id in (old, new)}
    assert importance == {old: pytest.approx(0.4975), new: 0.5}


def test_what_has_faded_is_put_away(tools, write, kept, archived, clock):
    ids = [write("faded", importance=0.01), write("dear", importance=0.9)]
    clock.advance(31 * DAY)
    ids.append(write("unimportant but new", importance=0.01))
    assert tools("memory_maintenance")["faded"] == 1
    assert kept(ids) == ["dear", "unimportant but new"]
    assert archived() == [("faded", "faded")]


def test_vectors_of_deleted_memories_are_pruned(board, tools, write, embedder):
    write("kept")
    tools("memory_delete", as_="ann", id=write("gone"))
    assert tools("memory_maintenance", prune_orphan_embeddings=False)["embeddings_pruned"] == 0
    assert tools("memory_maintenance")["embeddings_pruned"] == 1
    with board.read() as connection:
        assert len(connection.execute(select(EMBEDDINGS.c.memory_id)).all()) == 1


def test_more_than_a_statement_may_name_goes_at_once(tools, write):
    tools("memory_set_retention", agent_id="ann", max_memories=1)
    for at in range(1_100):
        write(str(at), embed=False)
    assert tools("memory_maintenance")["retained"] == 1_099
