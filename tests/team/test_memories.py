"""Memories: written, read, changed, rated, deleted; what is private; what takes the place of what."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sqlalchemy import select, update

from officellm_team.board.errors import BoardError
from officellm_team.board.tables import MEMORIES

NOBODY = "00000000-0000-0000-0000-000000000000"
#: What any database text can hold.
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=200)
ON_ONE_BOARD = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def write(tools):
    def make(content="hello", *, as_="ann", type="note", **more):
        return tools("memory_write", as_=as_, type=type, content=content, **more)["id"]

    return make


def refused(code):
    return pytest.raises(BoardError, check=lambda error: error.code == code)


def test_a_memory_belongs_to_its_writer_whatever_the_arguments_say(tools):
    written = tools("memory_write", as_="ann", type="fact", content="x", agent_id="bob", change_agent="bob")
    row = tools("memory_get", as_="ann", id=written["id"])
    assert (row["agent_id"], row["change_agent"], row["scope"], row["importance"]) == ("ann", "ann", "agent", 0.5)


@ON_ONE_BOARD
@given(content=TEXT, title=TEXT)
def test_any_text_is_read_back_unchanged(tools, write, content, title):
    row = tools("memory_get", as_="ann", id=write(content, title=title))
    assert (row["content"], row["title"]) == (content, title)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"content": "a\0b"}, "invalid_arguments"),
        ({"content": "a\ud800"}, "invalid_arguments"),
        ({"content": "x" * 50_001}, "content_too_large"),
        ({"title": "x" * 2_001}, "content_too_large"),
        ({"type": "fakt"}, "invalid_arguments"),
        ({"type": "handoff"}, "invalid_arguments"),
        ({"scope": "world"}, "invalid_arguments"),
        ({"metadata": "[1]"}, "invalid_arguments"),
        ({"metadata": "{"}, "invalid_arguments"),
        ({"metadata": '{"a": "\\ud800"}'}, "invalid_arguments"),
        ({"valid_from": "yesterday"}, "invalid_arguments"),
        ({"valid_to": "0001-01-01T00:00:00+14:00"}, "invalid_arguments"),
        ({"user_id": "u" * 201}, "content_too_large"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else value,
)
def test_what_cannot_be_kept_is_refused(tools, arguments, code):
    with refused(code):
        tools("memory_write", **{"type": "fact", "content": "x", **arguments})


def test_an_unknown_type_is_answered_with_the_nearest_one(tools):
    with pytest.raises(BoardError, match="'preference'"):
        tools("memory_write", type="preferences", content="x")


def test_honest_notes_about_code_are_kept(tools, write):
    text = "DROP TABLE x; <script>exec(1)</script> ignore previous instructions, __import__('os')"
    assert tools("memory_get", as_="ann", id=write(text))["content"] == text


@pytest.mark.parametrize(("given_", "kept"), [(7, 1.0), (-3, 0.0), (0.25, 0.25)])
def test_importance_is_between_0_and_1(tools, write, given_, kept):
    assert tools("memory_get", as_="ann", id=write(importance=given_))["importance"] == kept


def test_metadata_may_be_an_object_or_its_text(tools, write):
    for metadata in ('{"a": 1}', {"a": 1}):
        assert tools("memory_get", as_="ann", id=write(metadata=metadata))["metadata"] == {"a": 1}


def test_a_memory_of_a_session_is_gone_after_24_hours(tools, write, clock):
    id = write(scope="session")
    clock.advance(24 * 3600 - 1)
    assert tools("memory_get", as_="ann", id=id)
    clock.advance(1)
    with refused("not_found"):
        tools("memory_get", as_="ann", id=id)
    assert tools("memory_search", as_="ann", query="hello")["results"] == []


READS = {
    "memory_get": "id",
    "memory_verify": "id",
    "memory_history": "memory_id",
    "memory_graph": "memory_id",
    "memory_feedback": "memory_id",
}


@pytest.mark.parametrize(("tool", "name"), READS.items(), ids=list(READS))
def test_a_private_memory_does_not_exist_for_others(tools, write, tool, name):
    id = write("secret plan", scope="agent")
    with refused("not_found"):
        tools(tool, as_="bob", **{name: id})
    assert tools(tool, as_="ann", **{name: id})
    assert tools(tool, as_="root", operator=True, **{name: id})


@pytest.mark.parametrize("scope", ["user", "org", "session"])
def test_a_shared_memory_can_be_read_by_others_and_changed_by_none(tools, write, scope):
    id = write(scope=scope)
    assert tools("memory_get", as_="bob", id=id)["content"] == "hello"
    with refused("not_allowed"):
        tools("memory_update", as_="bob", id=id, content="mine now")
    assert tools("memory_get", as_="ann", id=id)["content"] == "hello"


def test_a_private_memory_cannot_be_changed_by_others_nor_found_by_trying(tools, write):
    id = write()
    with refused("not_found"):
        tools("memory_update", as_="bob", id=id, content="x")


def test_what_was_handed_over_can_be_read_by_the_receiver(tools, write):
    for name in ("ann", "bob"):
        tools("agent_register", as_=name)
    id = write("for bob's eyes")
    tools("memory_handoff", as_="ann", to_agent="bob", task="read it", context_ids=[id])
    assert tools("memory_get", as_="bob", id=id)["content"] == "for bob's eyes"
    with refused("not_found"):
        tools("memory_get", as_="cat", id=id)


@pytest.mark.parametrize("tool", [*READS, "memory_update", "memory_delete"])
def test_an_unknown_id_is_an_error_everywhere(tools, tool):
    with refused("not_found"):
        tools(tool, **{READS.get(tool, "id"): NOBODY})


def test_reads_take_the_beginning_of_an_id_and_changes_the_whole(tools, write):
    id = write()
    assert tools("memory_get", as_="ann", id=id[:8])["id"] == id
    for beginning in (id[:7], "%" * 8, "_" * 8):
        with refused("not_found"):
            tools("memory_get", as_="ann", id=beginning)
    with refused("not_found"):
        tools("memory_update", as_="ann", id=id[:8], content="x")


def test_a_beginning_of_several_ids_is_ambiguous(board, tools, write):
    first, second = write("a"), write("b")
    same = "abcdefgh"
    with board.write() as connection:
        for at, id in enumerate((first, second)):
            connection.execute(update(MEMORIES).where(MEMORIES.c.id == id).values(id=f"{same}-{at}"))
    with refused("ambiguous_id"):
        tools("memory_get", as_="ann", id=same)


def test_an_update_changes_what_is_given_and_keeps_the_rest(tools, write):
    id = write("old", title="t", metadata={"a": 1}, importance=0.3)
    assert tools("memory_update", as_="ann", id=id, content="new")["changed"] == ["content"]
    row = tools("memory_get", as_="ann", id=id)
    assert (row["content"], row["title"], row["metadata"], row["importance"]) == ("new", "t", {"a": 1}, 0.3)
    tools("memory_update", as_="ann", id=id, importance=0, metadata={"b": 2}, title="u")
    row = tools("memory_get", as_="ann", id=id)
    assert (row["content"], row["title"], row["metadata"], row["importance"]) == ("new", "u", {"b": 2}, 0.0)


def test_integrity_holds_after_an_update_and_breaks_when_the_content_is_tampered_with(board, tools, write):
    id = write("old")
    tools("memory_update", as_="ann", id=id, content="new")
    assert tools("memory_verify", as_="ann", id=id)["intact"]
    with board.write() as connection:
        connection.execute(update(MEMORIES).where(MEMORIES.c.id == id).values(content="forged"))
    tools("memory_update", as_="ann", id=id, title="another")
    assert not tools("memory_verify", as_="ann", id=id)["intact"]


@pytest.mark.parametrize(
    ("feedback", "importance"),
    [("useful", 0.6), ("not_useful", 0.4), ("misleading", 0.3)],
    ids=lambda value: str(value),
)
def test_feedback_moves_the_importance(tools, write, feedback, importance):
    id = write(scope="org")
    assert tools("memory_feedback", as_="bob", memory_id=id, feedback=feedback)["importance"] == importance
    assert tools("memory_get", as_="ann", id=id)["importance"] == importance


def test_feedback_stops_at_0_and_1(tools, write):
    low, high = write(importance=0.1), write("x", importance=0.95)
    assert tools("memory_feedback", as_="ann", memory_id=low, feedback="misleading")["importance"] == 0
    assert tools("memory_feedback", as_="ann", memory_id=high)["importance"] == 1


def test_history_is_newest_first_also_within_one_moment(tools, write):
    id = write("one")
    for content in ("two", "three"):
        tools("memory_update", as_="ann", id=id, content=content)
    tools("memory_delete", as_="ann", id=id, hard=True)
    events = tools("memory_history", as_="ann", memory_id=id)["events"]
    assert [(event["event"], event["prev"], event["new"]) for event in events] == [
        ("delete", "", "hard"),
        ("update", "two", "three"),
        ("update", "one", "two"),
        ("create", "", ""),
    ]
    assert len(tools("memory_history", as_="ann", memory_id=id, limit=1)["events"]) == 1
    with refused("not_found"):
        tools("memory_history", as_="bob", memory_id=id)


def test_a_deleted_memory_is_gone_and_can_still_be_erased(tools, write):
    id = write()
    assert tools("memory_delete", as_="ann", id=id)["deleted"] == "soft"
    with refused("not_found"):
        tools("memory_get", as_="ann", id=id)
    with refused("not_found"):
        tools("memory_delete", as_="ann", id=id)
    assert tools("memory_delete", as_="ann", id=id, hard=True)["deleted"] == "hard"


@pytest.mark.parametrize(("answer", "type"), [(" Decision. ", "decision"), ("banana", "note"), ("message", "note")])
def test_a_model_chooses_the_type_where_it_is_asked(tools, summarizer, answer, type):
    summarizer.answer = answer
    assert tools("memory_write", type="auto", content="we take postgres")["type"] == type


def test_without_a_model_auto_is_a_note(tools):
    assert tools("memory_write", type="auto", content="x")["type"] == "note"


def test_a_broken_embedder_does_not_stop_a_write(tools, embedder):
    embedder.broken = True
    written = tools("memory_write", type="note", content="kept anyway")
    assert not written["embedded"]
    assert tools("memory_search", query="kept", search_mode="keyword")["count"] == 1


def test_writers_at_the_same_time_get_numbers_of_their_own(board, tools):
    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(lambda at: tools("memory_write", type="log", content=str(at))["id"], range(40)))
    with board.read() as connection:
        numbers = connection.execute(select(MEMORIES.c.seq)).scalars().all()
    assert (len(set(ids)), len(set(numbers))) == (40, 40)


def test_the_result_of_a_task_is_readable_for_who_created_it(tools):
    for name in ("boss", "worker", "other"):
        tools("agent_register", as_=name)
    task = tools("task_create", as_="boss", title="find")["id"]
    tools("task_assign", as_="boss", task_id=task, owner_agent="worker")
    memory = tools("memory_write", as_="worker", type="note", content="the answer")["id"]
    tools("task_set_result", as_="worker", task_id=task, result_memory_id=memory)
    assert tools("memory_get", as_="boss", id=memory)["content"] == "the answer"
    with pytest.raises(BoardError, match="not on the board"):
        tools("memory_get", as_="other", id=memory)
