"""Conversations: started by one, continued by others, searched, summed up."""

from __future__ import annotations

import pytest

from officellm_team.board import conversations
from officellm_team.board.errors import BoardError

NOBODY = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def talk(tools):
    return tools("conversation_start", as_="ann", title="Release", tags="a, b,,")["id"]


@pytest.fixture
def say(tools, talk):
    def append(content, *, as_="ann", role="user"):
        return tools("conversation_append", as_=as_, conversation_id=talk, role=role, content=content)["id"]

    return append


def test_a_conversation_keeps_its_title_and_tags(tools, talk):
    row = tools("memory_get", as_="bob", id=talk)
    assert (row["type"], row["title"], row["metadata"]) == ("conversation", "Release", {"tags": ["a", "b"]})


def test_messages_of_several_agents_stand_in_the_order_of_writing(board, tools, talk, say):
    for at in range(6):
        say(f"message {at}", as_="ann" if at % 2 else "bob")
    with board.read() as connection:
        rows = conversations.messages(connection, talk)
    assert [row["content"] for row in rows] == [f"message {at}" for at in range(6)]
    assert {row["agent_id"] for row in rows} == {"ann", "bob"}


def test_a_message_carries_its_true_author(tools, talk):
    id = tools("conversation_append", as_="ann", conversation_id=talk, role="user", content="x", agent_id="bob")["id"]
    assert tools("memory_get", as_="bob", id=id)["agent_id"] == "ann"


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("conversation_append", {"conversation_id": NOBODY, "role": "user", "content": "x"}, "not_found"),
        ("conversation_append", {"role": " ", "content": "x"}, "invalid_arguments"),
        ("conversation_append", {"role": "r" * 51, "content": "x"}, "content_too_large"),
        ("conversation_append", {"role": "user", "content": "x" * 50_001}, "content_too_large"),
        ("conversation_start", {"title": " "}, "invalid_arguments"),
        ("conversation_search", {"query": " "}, "invalid_arguments"),
    ],
)
def test_what_cannot_be_is_refused(tools, talk, tool, arguments, code):
    given = {"conversation_id": talk, **arguments} if tool == "conversation_append" else arguments
    with pytest.raises(BoardError) as refusal:
        tools(tool, **given)
    assert refusal.value.code == code


def test_a_memory_that_is_no_conversation_takes_no_messages(tools):
    id = tools("memory_write", type="note", content="x")["id"]
    with pytest.raises(BoardError) as refusal:
        tools("conversation_append", conversation_id=id, role="user", content="x")
    assert refusal.value.code == "not_found"


def test_only_messages_are_searched(tools, talk, say):
    say("zebra crossing")
    tools("memory_write", as_="ann", type="note", content="zebra")
    hits = tools("conversation_search", as_="bob", query="zebra")["results"]
    assert [(hit["content"], hit["role"], hit["conversation_id"]) for hit in hits] == [("zebra crossing", "user", talk)]


def test_a_summary_without_a_model_is_not_configured_and_changes_nothing(tools, talk, say):
    say("x")
    with pytest.raises(BoardError) as refusal:
        tools("conversation_summarize", conversation_id=talk, threshold=1)
    assert refusal.value.code == "not_configured"
    assert refusal.value.hint
    assert tools("memory_search", query="summary", type_filter="summary")["count"] == 0


def test_a_summary_is_kept_and_refers_to_the_conversation(tools, talk, say, summarizer):
    for at in range(3):
        say(f"message {at}")
    answer = tools("conversation_summarize", as_="ann", conversation_id=talk, threshold=3)
    assert (answer["summary"], answer["messages"]) == ("in short", 3)
    assert summarizer.asked[0].index("message 0") < summarizer.asked[0].index("message 2")
    edges = tools("memory_graph", as_="ann", memory_id=answer["memory_id"])["edges"]
    assert [(edge["to_id"], edge["relationship_type"]) for edge in edges] == [(talk, "references")]


def test_a_short_conversation_is_not_summed_up(tools, talk, say, summarizer):
    say("x")
    answer = tools("conversation_summarize", conversation_id=talk)
    assert (answer["summarized"], answer["messages"], summarizer.asked) == (False, 1, [])


def test_a_long_conversation_is_summed_up_in_parts(tools, talk, say, summarizer):
    for at in range(3):
        say(f"{at}" * 30_000)
    assert tools("conversation_summarize", conversation_id=talk, threshold=1)["summary"] == "in short"
    assert len(summarizer.asked) > 2
    assert max(map(len, summarizer.asked)) < 41_000


def test_an_empty_summary_changes_nothing(tools, talk, say, summarizer):
    say("x")
    summarizer.answer = "  "
    with pytest.raises(BoardError, match="empty"):
        tools("conversation_summarize", conversation_id=talk, threshold=1)


def test_a_conversation_goes_with_its_messages(tools, talk, say):
    id = say("zebra")
    tools("memory_delete", as_="ann", id=talk, hard=True)
    with pytest.raises(BoardError):
        tools("memory_get", as_="ann", id=id)
    assert tools("conversation_search", query="zebra")["count"] == 0
