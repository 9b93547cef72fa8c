"""What the board holds about a person: given out whole, or forgotten."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import func, select, update

from officellm_team.board.errors import BoardError
from officellm_team.board.tables import (
    ARCHIVE,
    EMBEDDINGS,
    HISTORY,
    LINKS,
    MEMORIES,
    NOTIFICATIONS,
    SUBJECT_REQUESTS,
    TASKS,
)

WHO = 'eva "50%"\\_'


@pytest.fixture
def known(board, tools, embedder, clock):
    """A board on which somebody is known in every way."""
    for name in ("ann", "bob"):
        tools("agent_register", as_=name)
    write = {"as_": "ann", "type": "note"}
    ids = [tools("memory_write", **write, content=text, user_id=WHO)["id"] for text in ("likes tea", "lives here")]
    tools("memory_write", **write, content="about nobody", metadata={"seen": [WHO, "others"], "much": WHO + "!"})
    mine = tools("memory_write", **write, content="mine")["id"]
    tools("memory_link", as_="ann", from_id=ids[0], to_id=mine)
    tools("memory_link", as_="ann", from_id=mine, to_id=ids[1])
    tools("memory_update", as_="ann", id=ids[0], content="likes coffee")
    tools("memory_delete", as_="ann", id=ids[1])
    tools("memory_write", **write, content="short-lived", user_id=WHO, scope="session")
    clock.advance(24 * 3600)
    tools("memory_maintenance", as_="ann", prune_orphan_embeddings=False)
    task = tools("task_create", as_="ann", title="t", metadata={"customer": WHO, "deep": {WHO: 1}})["id"]
    tools("notify", as_="ann", agent_id="bob", kind="hello", payload={"about": [WHO]})
    with board.write() as connection:
        connection.execute(update(TASKS).where(TASKS.c.id == task).values(result_memory_id=ids[0]))
    return ids


def everything(board):
    """All text of the board but for the log of requests."""
    with board.read() as connection:
        return json.dumps(
            [
                [dict(row) for row in connection.execute(select(table)).mappings()]
                for table in (MEMORIES, HISTORY, LINKS, ARCHIVE, TASKS, NOTIFICATIONS)
            ],
            ensure_ascii=False,
        )


def rows(board, table):
    with board.read() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def test_an_export_holds_all_there_is(tools, known):
    said = tools("gdpr_export", user_id=f" {WHO} ")
    assert [item["id"] for item in said["items"]] == known
    assert said["items_count"] == 2
    assert said["items"][0]["history"][0]["prev"] == "likes tea"
    assert said["items"][0]["embedding"]
    assert [row["content"] for row in said["archived"]] == ["short-lived"]
    assert {name: len(found) for name, found in said["named_in"].items()} == {
        "tasks": 1,
        "notifications": 1,
        "memory_items": 1,
    }


def test_forgetting_leaves_nothing_behind_and_others_alone(board, tools, known):
    erased = tools("gdpr_forget", user_id=WHO)["erased"]
    assert (erased["items"], erased["archived"]) == (2, 1)
    assert (erased["named_in_tasks"], erased["named_in_notifications"], erased["named_in_memory_items"]) == (1, 1, 1)
    left = everything(board)
    for trace in ("likes", "lives here", "short-lived", known[0], known[1]):
        assert trace not in left
    for other in ("mine", "about nobody", "others"):
        assert other in left
    assert (rows(board, LINKS), rows(board, EMBEDDINGS), rows(board, ARCHIVE)) == (0, 2, 0)


def test_a_name_is_blotted_out_only_where_it_stands_alone(board, tools, known):
    tools("gdpr_forget", user_id=WHO)
    hit = tools("memory_search", as_="ann", query="nobody", search_mode="keyword")["results"][0]
    assert hit["metadata"] == {"seen": ["[forgotten]", "others"], "much": WHO + "!"}
    with board.read() as connection:
        metadata = connection.execute(select(TASKS.c.metadata)).scalar_one()
    assert json.loads(metadata) == {"customer": "[forgotten]", "deep": {"[forgotten]": 1}}


def test_every_request_is_logged(board, tools, known):
    ids = [tools(name, user_id=WHO)["request_id"] for name in ("gdpr_export", "gdpr_forget", "gdpr_forget")]
    with board.read() as connection:
        log = connection.execute(select(SUBJECT_REQUESTS)).mappings().all()
    found = {row["id"]: (row["request_type"], row["status"], row["items_affected"]) for row in log}
    assert [found[id] for id in ids] == [
        ("export", "completed", 2),
        ("forget", "completed", 2),
        ("forget", "completed", 0),
    ]


@pytest.mark.parametrize("tool", ["gdpr_export", "gdpr_forget"])
@pytest.mark.parametrize("user_id", ["", "  ", "u" * 201])
def test_a_request_names_a_person(board, tools, tool, user_id):
    with pytest.raises(BoardError):
        tools(tool, user_id=user_id)
    assert rows(board, SUBJECT_REQUESTS) == 0


def test_more_memories_than_a_statement_may_name_are_forgotten(board, tools):
    for at in range(1_100):
        tools("memory_write", type="log", content=str(at), user_id="u", embed=False)
    assert tools("gdpr_export", user_id="u")["items_count"] == 1_100
    assert tools("gdpr_forget", user_id="u")["erased"]["items"] == 1_100
    assert rows(board, HISTORY) == 0
