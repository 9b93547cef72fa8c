"""Summaries in the place of old memories, duplicates, the cost report, and the sync with a Chroma collection."""

from __future__ import annotations

import pytest

from officellm_team.board.errors import BoardError


@pytest.fixture
def write(tools):
    def make(content, *, as_="ann", **more):
        return tools("memory_write", as_=as_, **{"type": "note", "content": content, **more})["id"]

    return make


@pytest.fixture
def there(tools):
    def ask(id, *, as_="ann"):
        try:
            return bool(tools("memory_get", as_=as_, id=id))
        except BoardError:
            return False

    return ask


def test_consolidation_without_a_model_is_not_configured_and_changes_nothing(tools, write, there):
    ids = [write(str(at)) for at in range(4)]
    with pytest.raises(BoardError) as refusal:
        tools("memory_consolidate", as_="ann", threshold=1)
    assert refusal.value.code == "not_configured"
    assert all(map(there, ids))


def test_a_summary_takes_the_place_of_the_oldest(tools, write, there, summarizer):
    ids = [write(f"fact {at}", importance=at / 10) for at in range(5)]
    group = tools("memory_consolidate", as_="ann", threshold=2)["groups"][0]
    assert (group["consolidated"], group["consolidated_ids"], list(map(there, ids))) == (
        3,
        ids[:3],
        [False] * 3 + [True] * 2,
    )
    assert "fact 0" in summarizer.asked[0]
    assert "fact 3" not in summarizer.asked[0]
    summary = tools("memory_get", as_="ann", id=group["summary_id"])
    assert (summary["content"], summary["type"], summary["agent_id"]) == ("in short", "summary", "ann")
    assert (summary["importance"], summary["scope"]) == (0.2, "agent")
    event = tools("memory_history", as_="ann", memory_id=ids[0])["events"][0]
    assert (event["event"], event["new"]) == ("consolidate", group["summary_id"])


@pytest.mark.parametrize("type", ["preference", "user_fact", "task", "plan", "message", "conversation"])
def test_some_types_are_never_summed_up(tools, write, there, summarizer, type):
    ids = [write(str(at), type=type) for at in range(4)]
    assert tools("memory_consolidate", as_="ann", threshold=1)["groups"] == []
    assert all(map(there, ids))


def test_groups_do_not_mix_persons_types_or_scopes(tools, write, summarizer):
    for at in range(2):
        write(str(at), user_id="u1")
        write(str(at), user_id="u2")
        write(str(at), type="log")
        write(str(at), scope="org")
    assert tools("memory_consolidate", as_="ann", threshold=1)["groups"] == []


def test_only_the_callers_own_memories_are_summed_up(tools, write, there, summarizer):
    ids = [write(str(at), as_="bob", scope="org") for at in range(4)]
    assert tools("memory_consolidate", as_="ann", threshold=1)["groups"] == []
    with pytest.raises(BoardError) as refusal:
        tools("memory_consolidate", as_="ann", agent_filter="bob", threshold=1)
    assert refusal.value.code == "not_allowed"
    assert all(map(there, ids))
    assert tools("memory_consolidate", as_="root", operator=True, agent_filter="bob", threshold=1)["groups"]


def test_what_changes_while_the_model_writes_stays(board, tools, write, there):
    ids = [write(str(at)) for at in range(4)]

    def change_meanwhile(question):
        tools("memory_update", as_="ann", id=ids[0], content="changed")
        return "in short"

    board.helpers.summarizer = change_meanwhile
    group = tools("memory_consolidate", as_="ann", threshold=1)["groups"][0]
    assert (group["consolidated_ids"], there(ids[0])) == (ids[1:3], True)


@pytest.mark.parametrize("arguments", [{"threshold": 0}, {"type_filter": "nots"}], ids=str)
def test_a_consolidation_that_makes_no_sense_is_refused(tools, summarizer, arguments):
    with pytest.raises(BoardError) as refusal:
        tools("memory_consolidate", **arguments)
    assert refusal.value.code == "invalid_arguments"


def test_a_dry_run_finds_duplicates_and_changes_nothing(tools, write, there):
    ids = [write("same"), write("same", importance=0.9), write("other")]
    found = tools("memory_dedup", as_="ann")
    assert (found["count"], found["scanned"], found["applied"]) == (1, 3, False)
    assert found["groups"] == [{"keep": ids[1], "duplicates": [ids[0]]}]
    assert all(map(there, ids))


def test_the_most_important_duplicate_stays(tools, write, there):
    ids = [write("same", importance=0.9), write("same"), write("other")]
    assert tools("memory_dedup", as_="ann", dry_run=False)["applied"]
    assert list(map(there, ids)) == [True, False, True]
    assert tools("memory_history", as_="ann", memory_id=ids[1])["events"][0]["new"] == ids[0]
    assert tools("memory_dedup", as_="ann")["count"] == 0


def test_alike_vectors_are_duplicates(tools, write, embedder):
    ids = [write("a red automobile today"), write("a red car today"), write("noodles with soup")]
    assert tools("memory_dedup", as_="ann")["groups"] == [{"keep": ids[1], "duplicates": [ids[0]]}]
    assert tools("memory_dedup", as_="bob")["count"] == 0


def test_duplicates_of_others_are_left_alone(tools, write, there):
    ids = [write("same", as_="bob", scope="org"), write("same", as_="bob", scope="org"), write("same", scope="org")]
    assert tools("memory_dedup", as_="ann", dry_run=False)["count"] == 0
    assert all(map(there, ids))


@pytest.mark.parametrize("threshold", [0, -1, 1.5, float("nan")])
def test_a_likeness_is_over_0_and_at_most_1(tools, threshold):
    with pytest.raises(BoardError) as refusal:
        tools("memory_dedup", threshold=threshold)
    assert refusal.value.code == "invalid_arguments"


def test_the_cost_report_counts_over_all_processes(board, tools, write, embedder):
    assert set(tools("memory_cost_report").values()) == {0}
    write("twelve chars")
    tools("memory_search", query="x")
    report = tools("memory_cost_report")
    assert (report["write_calls"], report["search_calls"], report["embed_calls"]) == (1, 1, 2)
    assert report["embed_tokens_est"] >= 3
    from officellm_team.board.store import Board
    from officellm_team.board.upkeep import cost_report

    other = Board(board.url)
    assert cost_report(other) == report
    other.close()


@pytest.mark.parametrize("direction", ["both", "to_chroma", "from_chroma"])
def test_a_sync_without_a_collection_says_that_it_is_not_configured(tools, direction):
    answer = tools("chroma_sync", direction=direction)
    assert (answer["configured"], bool(answer["hint"])) == (False, True)


def test_a_sync_pushes_what_is_missing_or_changed(tools, write, collection, embedder):
    ids = [write("one"), write("two", embed=False)]
    private = write("secret", as_="bob")
    assert tools("chroma_sync", as_="ann", direction="to_chroma")["pushed"] == 2
    assert set(collection.rows) == set(ids)
    assert private not in collection.rows
    assert (collection.rows[ids[0]][2] is None, collection.rows[ids[1]][2] is None) == (False, True)
    assert tools("chroma_sync", as_="ann")["pushed"] == 0
    tools("memory_update", as_="ann", id=ids[0], content="changed")
    assert tools("chroma_sync", as_="ann")["pushed"] == 1
    assert collection.rows[ids[0]][0] == "changed"


def test_a_sync_pulls_what_is_new_and_only_that(tools, write, collection):
    collection.rows["new"] = ("from afar", {"type": "fact", "title": "T", "scope": "org"}, None)
    collection.rows["plain"] = ("no metadata", None, None)
    collection.rows["empty"] = (None, {}, None)
    collection.rows["x" * 40] = ("an id too long", {}, None)
    answer = tools("chroma_sync", as_="ann", direction="from_chroma")
    assert (answer["pulled"], answer["failed"], answer["pushed"]) == (2, 2, 0)
    row = tools("memory_get", as_="bob", id="new")
    assert (row["content"], row["type"], row["title"], row["agent_id"]) == ("from afar", "fact", "T", "ann")
    assert tools("memory_get", as_="ann", id="plain")["type"] == "knowledge"
    syncs = [tools("chroma_sync", as_="ann") for _ in range(2)]
    # What came without our hash gets it there, once.
    assert [(again["pulled"], again["pushed"]) for again in syncs] == [(0, 2), (0, 0)]


def test_what_was_deleted_here_does_not_come_back(tools, write, collection):
    id = write("one")
    tools("chroma_sync", as_="ann")
    tools("memory_delete", as_="ann", id=id)
    assert tools("chroma_sync", as_="ann")["pulled"] == 0


def test_a_sync_moves_no_more_than_it_may(tools, write, collection):
    for at in range(5):
        write(str(at))
        collection.rows[f"there {at}"] = (str(at), {}, None)
    answer = tools("chroma_sync", as_="ann", max_items=2)
    assert (answer["pushed"], answer["pulled"]) == (2, 2)
