"""Links between memories, and the graph around one."""

from __future__ import annotations

import pytest

from officellm_team.board.errors import BoardError
from officellm_team.board.links import LINK_TYPES

NOBODY = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def write(tools):
    def make(title, *, as_="ann", **more):
        return tools("memory_write", as_=as_, type="log", title=title, content=title, **more)["id"]

    return make


@pytest.fixture
def chain(tools, write):
    """a -> b -> c -> d -> e -> a."""
    ids = [write(title) for title in "abcde"]
    for one, other in zip(ids, [*ids[1:], ids[0]], strict=True):
        tools("memory_link", as_="ann", from_id=one, to_id=other, relationship_type="extends")
    return ids


@pytest.mark.parametrize("type", LINK_TYPES)
def test_a_link_of_each_type_is_made_once(tools, write, type):
    one, other = write("a"), write("b")
    first = tools("memory_link", as_="ann", from_id=one, to_id=other, relationship_type=type)
    again = tools("memory_link", as_="ann", from_id=one, to_id=other, relationship_type=type)
    assert (first["created"], again["created"], first["id"]) == (True, False, again["id"])


def test_a_link_back_and_one_of_another_type_are_other_links(tools, write):
    one, other = write("a"), write("b")
    made = [
        tools("memory_link", as_="ann", from_id=start, to_id=end, relationship_type=type)["created"]
        for start, end, type in [(one, other, "related"), (other, one, "related"), (one, other, "supports")]
    ]
    assert made == [True, True, True]


@pytest.mark.parametrize(
    ("ends", "code"),
    [("aa", "invalid_arguments"), ("a?", "not_found"), ("?a", "not_found"), ("ap", "not_found"), ("pa", "not_found")],
    ids=["itself", "to nothing", "from nothing", "to what is private", "from what is private"],
)
def test_a_link_needs_two_memories_that_the_caller_can_see(tools, write, ends, code):
    ids = {"a": write("a"), "?": NOBODY, "p": write("p", as_="bob")}
    with pytest.raises(BoardError) as refusal:
        tools("memory_link", as_="ann", from_id=ids[ends[0]], to_id=ids[ends[1]])
    assert refusal.value.code == code


def test_an_unknown_type_is_refused(tools, write):
    with pytest.raises(BoardError, match="relationship_type"):
        tools("memory_link", as_="ann", from_id=write("a"), to_id=write("b"), relationship_type="likes")


@pytest.mark.parametrize(
    ("depth", "found"),
    [(0, "abe"), (1, "abe"), (2, "abcde"), (3, "abcde"), (99, "abcde")],
)
def test_a_graph_holds_each_node_once_at_its_distance(tools, chain, depth, found):
    graph = tools("memory_graph", as_="ann", memory_id=chain[0], depth=depth)
    titles = [node["title"] for node in graph["nodes"]]
    assert sorted(titles) == list(found)
    hops = {node["title"]: node["hops"] for node in graph["nodes"]}
    assert hops == {title: {"a": 0, "b": 1, "e": 1, "c": 2, "d": 2}[title] for title in found}
    ids = [edge["id"] for edge in graph["edges"]]
    assert len(ids) == len(set(ids)) == {3: 2, 5: 5 if depth > 2 else 4}[len(found)]


def test_a_graph_does_not_lead_through_private_memories(tools, write):
    mine, theirs, shared = write("a"), write("b", as_="bob", scope="org"), write("c", scope="org")
    tools("memory_link", as_="ann", from_id=mine, to_id=theirs)
    tools("memory_link", as_="ann", from_id=shared, to_id=mine)
    seen = tools("memory_graph", as_="bob", memory_id=shared, depth=3)
    assert ([node["title"] for node in seen["nodes"]], seen["edges"]) == (["c"], [])
    assert len(tools("memory_graph", as_="ann", memory_id=shared, depth=3)["nodes"]) == 3


def test_a_wide_graph_is_cut_and_says_so(board, write, tools):
    from officellm_team.board.links import connect

    ids = [write(str(at), embed=False) for at in range(520)]
    with board.write() as connection:
        for other in ids[1:]:
            connect(connection, ids[0], other, "related", 1.0)
    graph = tools("memory_graph", as_="ann", memory_id=ids[0])
    assert (len(graph["nodes"]), graph["cut"]) == (500, True)


def test_an_erased_memory_takes_its_links_along(tools, chain):
    tools("memory_delete", as_="ann", id=chain[1], hard=True)
    graph = tools("memory_graph", as_="ann", memory_id=chain[0])
    assert [node["title"] for node in graph["nodes"]] == ["a", "e"]
