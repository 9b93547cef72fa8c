"""What a new memory does to older ones: which place it takes, and what it leaves alone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest


@pytest.fixture
def write(tools):
    def make(content="hello", *, as_="ann", type="note", **more):
        return tools("memory_write", as_=as_, type=type, content=content, **more)["id"]

    return make


@pytest.mark.parametrize("title", ["Deploy day", "  deploy DAY "])
def test_a_memory_takes_the_place_of_one_with_its_title(tools, write, clock, title):
    old = write("on monday", type="fact", title="Deploy day")
    before = clock.now
    clock.advance(100)
    new = tools("memory_write", as_="ann", type="fact", title=title, content="on friday")
    assert new["superseded"] == [old]
    found = tools("memory_search", as_="ann", query="deploy day")["results"]
    assert [hit["id"] for hit in found] == [new["id"]]
    then = tools("memory_search", as_="ann", query="deploy day", as_of=_iso(before + 50))["results"]
    assert [hit["id"] for hit in then] == [old]
    now = tools("memory_search", as_="ann", query="deploy day", as_of=_iso(clock.now))["results"]
    assert [hit["id"] for hit in now] == [new["id"]]
    event = tools("memory_history", as_="root", operator=True, memory_id=old)["events"][0]
    assert (event["event"], event["new"]) == ("supersede", new["id"])


OTHERS = {
    "no title": {"title": ""},
    "another title": {"title": "Release day"},
    "another type": {"type": "decision"},
    "another agent": {"as_": "bob"},
    "another person": {"user_id": "u2"},
    "another scope": {"scope": "org"},
    "the same content": {"content": "on monday"},
    "no longer true": {"valid_to": "2020-01-01"},
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=list(OTHERS))
def test_a_memory_leaves_alone_what_it_does_not_contradict(tools, other):
    same = {"as_": "ann", "type": "fact", "title": "Deploy day", "user_id": "u1"}
    old = tools("memory_write", **same, content="on monday")["id"]
    assert tools("memory_write", **{**same, "content": "on friday", **other})["superseded"] == []
    assert tools("memory_get", as_="ann", id=old)["content"] == "on monday"


def test_untitled_notes_alike_stand_beside_each_other(tools, embedder):
    for content in ("the car is red today", "the car is red tomorrow"):
        assert tools("memory_write", type="note", content=content)["superseded"] == []


@pytest.mark.parametrize("type", ["log", "observation", "scratchpad", "message"])
def test_entries_of_a_diary_stand_beside_each_other(tools, type):
    for content in ("one", "two"):
        assert tools("memory_write", type=type, title="Diary", content=content)["superseded"] == []


def test_with_vectors_only_what_is_alike_is_contradicted(tools, embedder):
    first = tools("memory_write", type="fact", title="The car", content="the car is parked on the left")["id"]
    unlike = tools("memory_write", type="fact", title="The car", content="insurance expires in may")
    assert unlike["superseded"] == []
    alike = tools("memory_write", type="fact", title="The car today", content="the car is parked on the left side")
    assert alike["superseded"] == [first]


def test_the_most_alike_memory_is_linked(tools, embedder):
    first = tools("memory_write", type="fact", content="the automobile is parked on the left")["id"]
    second = tools("memory_write", type="fact", content="the car is parked on the left")["id"]
    edges = tools("memory_graph", memory_id=second)["edges"]
    assert [(edge["to_id"], edge["relationship_type"]) for edge in edges] == [(first, "related")]


def _iso(moment):
    return datetime.fromtimestamp(moment, UTC).isoformat()
