"""Export and import: the same memories on another board, and no change when it is done again."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from officellm_team.board.caller import Caller
from officellm_team.board.errors import BoardError
from officellm_team.board.portable import export, import_
from officellm_team.board.store import Board

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=80)
ON_ONE_BOARD = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ANN = Caller("ann")
STATE = {"imported": 0, "unchanged": 0, "older": 0, "embeddings": 0, "relationships": 0, "dangling": []}


@pytest.fixture
def other(tmp_path, clock):
    """Another, empty board."""
    board = Board(tmp_path / "other.db", clock=clock)
    yield board
    board.close()


@pytest.fixture
def filled(tools, embedder):
    ids = [
        tools("memory_write", as_="ann", type="log", title=f"t{at}", content=f"word{at}", metadata={"at": at})["id"]
        for at in range(3)
    ]
    tools("memory_link", as_="ann", from_id=ids[0], to_id=ids[1])
    tools("memory_write", as_="bob", type="note", content="bob's secret")
    return ids


def test_what_is_exported_can_be_imported_elsewhere(board, other, filled):
    document = export(board, ANN)
    assert [item["id"] for item in document["items"]] == filled
    assert import_(other, ANN, json.dumps(document)) == {**STATE, "imported": 3, "embeddings": 3, "relationships": 1}
    assert export(other, ANN)["items"] == document["items"]


def test_importing_again_changes_nothing(board, filled):
    document = json.dumps(export(board, ANN))
    for _ in range(2):
        assert import_(board, ANN, document) == {**STATE, "unchanged": 3}
    assert export(board, ANN)["items"] == json.loads(document)["items"]


@ON_ONE_BOARD
@given(content=TEXT, title=TEXT, value=st.recursive(TEXT | st.booleans() | st.integers(), st.lists, max_leaves=5))
def test_any_memory_survives_the_journey(tools, other, board, content, title, value):
    metadata = json.dumps({"value": value})
    id = tools("memory_write", as_="ann", type="log", title=title, content=content, metadata=metadata)["id"]
    import_(other, ANN, json.dumps(export(board, ANN)))
    there = {item["id"]: item for item in export(other, ANN)["items"]}[id]
    assert (there["content"], there["title"], there["metadata"]) == (content, title, {"value": value})


def test_imported_memories_are_found(board, other, filled):
    from officellm_team.board.search import Search, search

    import_(other, ANN, json.dumps(export(board, ANN)))
    assert [hit["id"] for hit in search(other, ANN, Search(query="word1"))["results"]] == [filled[1]]


def test_an_export_holds_what_the_caller_can_see(tools, filled):
    assert tools("memory_export", as_="ann")["item_count"] == 3
    assert tools("memory_export", as_="cat")["item_count"] == 0
    assert tools("memory_export", as_="root", operator=True)["item_count"] == 4


def test_an_export_can_be_narrowed(tools, filled, clock):
    clock.advance(10)
    since = "2023-11-14T22:13:25Z"
    tools("memory_update", as_="ann", id=filled[0], content="changed")
    assert [item["id"] for item in tools("memory_export", as_="ann", since=since)["items"]] == [filled[0]]
    assert tools("memory_export", as_="ann", type_filter="note")["item_count"] == 0
    assert tools("memory_export", as_="ann", agent_filter="bob")["item_count"] == 0
    with pytest.raises(BoardError):
        tools("memory_export", type_filter="lgo")


def test_a_newer_memory_is_not_overwritten_by_an_older_one(board, tools, filled, clock):
    document = json.dumps(export(board, ANN))
    clock.advance(10)
    tools("memory_update", as_="ann", id=filled[0], content="newer")
    assert import_(board, ANN, document)["older"] == 1
    assert tools("memory_get", as_="ann", id=filled[0])["content"] == "newer"


def test_an_import_of_a_newer_memory_replaces_the_text_in_the_index_too(board, tools, filled):
    document = export(board, ANN)
    document["items"][0] |= {"content": "giraffe", "updated_at": "2030-01-01T00:00:00Z"}
    assert tools("memory_import", data=json.dumps(document))["imported"] == 1
    assert tools("memory_search", as_="ann", query="giraffe")["count"] == 1
    assert tools("memory_search", as_="ann", query="word0", search_mode="keyword")["count"] == 0
    assert tools("memory_verify", as_="ann", id=filled[0])["intact"]


def test_an_import_by_hand_does_not_overwrite_what_belongs_to_others(board, filled):
    document = export(board, ANN)
    document["items"][0] |= {"content": "mine", "updated_at": "2030-01-01T00:00:00Z"}
    with pytest.raises(BoardError) as refusal:
        import_(board, Caller("bob"), json.dumps(document))
    assert refusal.value.code == "not_allowed"


def test_a_link_to_what_is_not_there_is_left_out_and_named(board, other, filled):
    document = export(board, ANN)
    del document["items"][1]
    answer = import_(other, ANN, json.dumps(document))
    assert (answer["relationships"], len(answer["dangling"])) == (0, 1)


ITEM = {"id": "i", "type": "note", "content": "x", "created_at": "2026-01-01"}
BROKEN = {
    "no JSON": "{",
    "no object": "[]",
    "no items": "{}",
    "deep": "[" * 100_000,
    "an item that is none": {"items": [1]},
    "no id": {"items": [{**ITEM, "id": ""}]},
    "a long id": {"items": [{**ITEM, "id": "x" * 37}]},
    "an unknown type": {"items": [{**ITEM, "type": "nose"}]},
    "an unknown scope": {"items": [{**ITEM, "scope": "all"}]},
    "no time": {"items": [{**ITEM, "created_at": None}]},
    "a number as content": {"items": [{**ITEM, "content": 5}]},
    "a text as importance": {"items": [{**ITEM, "importance": "high"}]},
    "a huge importance": {"items": [{**ITEM, "importance": 10**400}]},
    "metadata that is no object": {"items": [{**ITEM, "metadata": [1]}]},
    "a character that cannot be kept": {"items": [{**ITEM, "content": "a\0"}]},
    "a surrogate in the metadata": {"items": [{**ITEM, "metadata": {"a": "\ud800"}}]},
    "a vector that is no base64": {"items": [{**ITEM, "embedding": {"data": "?"}}]},
    "a vector of three bytes": {"items": [{**ITEM, "embedding": {"data": "AAAA"}}]},
    "a vector of zeros": {"items": [{**ITEM, "embedding": {"data": "AAAAAA=="}}]},
    "links that are no list": {"items": [{**ITEM, "relationships": {"a": 1}}]},
    "a link to itself": {
        "items": [{**ITEM, "relationships": [{"id": "r", "to_id": "i", "relationship_type": "related"}]}]
    },
    "a link of no type": {"items": [{**ITEM, "relationships": [{"id": "r", "to_id": "j", "relationship_type": "?"}]}]},
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=list(BROKEN))
def test_a_document_that_is_broken_is_refused_as_a_whole(board, data):
    text = data if isinstance(data, str) else json.dumps({"items": [{**ITEM, "id": "good"}, *data["items"]]})
    with pytest.raises(BoardError) as refusal:
        import_(board, ANN, text)
    assert refusal.value.code in ("invalid_arguments", "content_too_large")
    assert export(board, ANN)["item_count"] == 0
