"""Search: by words on both databases, by meaning where there is an embedder; what is not found by whom."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from officellm_team.board.caller import Caller
from officellm_team.board.embedding import packed, unpacked
from officellm_team.board.errors import BoardError
from officellm_team.board.search import Search, search

ANY_QUERY = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
NOTES = {
    "nginx": "nginx nginx nginx: restart nginx after every change of /etc/nginx.conf",
    "deploy": "We deploy with foo-bar on fridays; nginx is restarted by snake_case_script",
    "lunch": "The team eats noodles on Tuesdays — not rice",
    "café": "Münchner Straße, 東京 の カフェ",
}


@pytest.fixture
def find(tools):
    def ask(query, **more):
        return [hit["title"] for hit in tools("memory_search", as_="ann", query=query, **more)["results"]]

    return ask


@pytest.fixture
def notes(tools):
    return {
        title: tools("memory_write", as_="ann", type="note", title=title, content=content)["id"]
        for title, content in NOTES.items()
    }


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("restarting", ["deploy", "nginx"]),
        ("noodle", ["lunch"]),
        ("nood", ["lunch"]),
        ("NGINX friday", ["deploy", "nginx"]),
        ('"restart nginx"', ["nginx"]),
        ('"nginx restart" noodles', ["lunch", "nginx"]),
        ("foo-bar", ["deploy"]),
        ("bar", ["deploy"]),
        ("etc/nginx", ["deploy", "nginx"]),
        ('"etc/nginx"', ["nginx"]),
        ("conf", ["nginx"]),
        ("snake_case_script", ["deploy"]),
        ("script", ["deploy"]),
        ("rice", ["lunch"]),
        ("東京", ["café"]),
        ("straße", ["café"]),
        ("how do we eat noodles?", ["lunch"]),
        ("kubernetes", []),
        ("... !!!", []),
        ('"', []),
    ],
)
def test_words_are_found_alike_on_both_databases(notes, find, query, found):
    assert sorted(find(query)) == sorted(found)


def test_a_better_match_scores_higher_between_0_and_1(notes, tools):
    hits = tools("memory_search", as_="ann", query="nginx")["results"]
    assert [hit["title"] for hit in hits] == ["nginx", "deploy"]
    assert 1 >= hits[0]["score"] > hits[1]["score"] > 0


def test_what_holds_all_words_comes_before_what_repeats_one(notes, tools):
    hits = tools("memory_search", as_="ann", query="nginx fridays")["results"]
    assert [hit["title"] for hit in hits] == ["deploy", "nginx"]
    assert hits[0]["score"] >= 0.5 > hits[1]["score"]


@ANY_QUERY
@given(query=st.text(max_size=80) | st.text(alphabet="\"'*()&|!:<>-+^~{}\\ abANDORNEAR", max_size=60))
def test_no_query_is_a_syntax_error(board, query):
    if query.strip():
        assert search(board, Caller("ann"), Search(query=query))["results"] == []
    else:
        with pytest.raises(BoardError, match="blank"):
            search(board, Caller("ann"), Search(query=query))


@pytest.mark.parametrize("query", ["a OR", "NEAR(a b)", "title:x", "a* *", "\\", "a & | b", "'; DROP", "x" * 5_000])
def test_a_hostile_query_is_only_words(notes, find, query):
    assert isinstance(find(query), list)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(word=st.text(st.characters(categories=["L", "Nd"]), min_size=3, max_size=12))
def test_any_word_that_was_written_is_found(tools, word):
    id = tools("memory_write", type="note", title="w", content=f"before {word} after {word}", embed=False)["id"]
    found = tools("memory_search", query=f'"before {word}"', k=100, search_mode="keyword")["results"]
    assert id in [hit["id"] for hit in found]


def test_what_was_written_without_a_vector_is_found(tools, find):
    tools("memory_write", as_="ann", type="note", title="plain", content="zebra", embed=False)
    assert find("zebra") == ["plain"]


def test_what_was_changed_or_deleted_is_found_no_more(notes, tools, find):
    tools("memory_update", as_="ann", id=notes["lunch"], content="soup")
    tools("memory_delete", as_="ann", id=notes["nginx"])
    assert (find("noodles"), find("soup"), find("conf")) == ([], ["lunch"], [])


def test_private_memories_of_others_are_not_found(tools, notes):
    assert tools("memory_search", as_="bob", query="nginx")["results"] == []
    assert tools("memory_suggest", as_="bob", query="nginx")["results"] == []
    assert tools("memory_search", as_="root", operator=True, query="nginx")["count"] == 2


def test_a_shared_memory_is_found_behind_many_private_ones(tools):
    for at in range(450):
        tools("memory_write", as_="ann", type="log", content="zebra zebra zebra", embed=False)
        if at == 0:
            tools("memory_write", as_="ann", type="log", content=f"zebra {'and more ' * 50}", scope="org", embed=False)
    assert tools("memory_search", as_="bob", query="zebra")["count"] == 1


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"type_filter": "fact"}, ["fact"]),
        ({"agent_filter": "bob"}, ["bob's"]),
        ({"user_id": "u1"}, ["about u1"]),
        ({"scope": "user"}, ["about u1"]),
        ({"type_filter": "scratchpad"}, ["scratch"]),
        ({"include_scratchpad": True}, ["about u1", "bob's", "fact", "scratch"]),
        ({}, ["about u1", "bob's", "fact"]),
        ({"k": 1}, None),
    ],
    ids=str,
)
def test_filters_narrow_a_search(tools, find, filters, found):
    tools("memory_write", as_="ann", type="fact", title="fact", content="zebra")
    tools("memory_write", as_="bob", type="note", title="bob's", content="zebra", scope="org")
    tools("memory_write", as_="ann", type="note", title="about u1", content="zebra", user_id="u1", scope="user")
    tools("memory_write", as_="ann", type="scratchpad", title="scratch", content="zebra")
    assert len(find("zebra", **filters)) == 1 if found is None else sorted(find("zebra", **filters)) == found


@pytest.mark.parametrize(
    ("at", "found"),
    [("2019-12-31", []), ("2020-01-01T00:00:00Z", ["then"]), ("2020-12-31T23:59:59", ["then"]), ("2021-01-01", [])],
)
def test_as_of_finds_what_was_valid_then(tools, find, at, found):
    period = {"valid_from": "2020-01-01", "valid_to": "2021-01-01"}
    tools("memory_write", as_="ann", type="fact", title="then", content="zebra", **period)
    assert find("zebra", as_of=at) == found


@pytest.mark.parametrize(
    "arguments",
    [{"query": " "}, {"type_filter": "fcat"}, {"scope": "world"}, {"as_of": "soon"}, {"search_mode": "magic"}],
    ids=str,
)
def test_arguments_that_cannot_work_are_refused(tools, arguments):
    with pytest.raises(BoardError) as refusal:
        tools("memory_search", **{"query": "x", **arguments})
    assert refusal.value.code == "invalid_arguments"


@pytest.mark.parametrize(("k", "count"), [(0, 1), (-5, 1), (3, 3), (10_000, 5)])
def test_k_is_held_between_1_and_100(tools, k, count):
    for at in range(5):
        tools("memory_write", type="log", content=f"zebra {at}")
    assert tools("memory_search", query="zebra", k=k)["count"] == count


def test_a_long_content_is_cut_and_says_so(tools):
    tools("memory_write", type="note", content="zebra " * 1_000)
    hit = tools("memory_search", query="zebra")["results"][0]
    assert len(hit["content"]) == 2_000
    assert "memory_get" in hit["cut"]


def test_hybrid_without_an_embedder_searches_by_keyword_and_says_so(notes, tools):
    answer = tools("memory_search", as_="ann", query="nginx")
    assert (answer["mode"], answer["count"]) == ("keyword", 2)
    assert "no embedder" in answer["note"]
    assert "note" not in tools("memory_search", as_="ann", query="nginx", search_mode="keyword")


def test_semantic_without_an_embedder_is_not_configured(tools):
    with pytest.raises(BoardError) as refusal:
        tools("memory_search", query="x", search_mode="semantic")
    assert refusal.value.code == "not_configured"
    assert "keyword" in refusal.value.hint


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_with_an_embedder_another_word_for_it_is_found(tools, embedder, find, mode):
    tools("memory_write", as_="ann", type="note", title="vehicle", content="a red automobile")
    tools("memory_write", as_="ann", type="note", title="food", content="noodles with soup")
    assert find("car red", search_mode=mode)[0] == "vehicle"
    assert find("car", search_mode="keyword") == []


def test_suggest_says_how_a_score_came_about(tools, embedder):
    tools("memory_write", type="note", content="a red automobile")
    hit = tools("memory_suggest", query="red car")["results"][0]
    why = hit["why"]
    assert hit["score"] == pytest.approx(0.7 * why["cosine"] + 0.3 * why["keyword"], abs=1e-3)


def test_repetitions_make_room_for_what_is_new(tools, embedder):
    for at in range(3):
        tools("memory_write", type="log", title=f"same {at}", content="red car")
    tools("memory_write", type="log", title="other", content="boat")
    hits = tools("memory_search", query="red car boat", k=2)["results"]
    assert [hit["title"] == "other" for hit in hits] == [False, True]


def test_private_memories_of_others_are_not_found_by_meaning(tools, embedder):
    tools("memory_write", as_="ann", type="note", content="a red automobile")
    for mode in ("hybrid", "semantic"):
        assert tools("memory_search", as_="bob", query="red car", search_mode=mode)["results"] == []


def test_a_broken_embedder_leaves_the_words(tools, embedder):
    tools("memory_write", type="note", content="zebra")
    embedder.broken = True
    answer = tools("memory_search", query="zebra")
    assert (answer["mode"], answer["count"]) == ("keyword", 1)
    assert "did not answer" in answer["note"]


def test_vectors_of_another_model_are_not_compared(tools, embedder):
    tools("memory_write", type="note", content="a red automobile")
    embedder.model = "another"
    assert tools("memory_search", query="car", search_mode="semantic")["results"] == []


@given(st.lists(st.floats(width=32, allow_nan=False), max_size=20))
def test_a_vector_is_kept_as_float32(vector):
    assert len(packed(vector)) == 4 * len(vector)
    assert list(unpacked(packed(vector))) == vector
