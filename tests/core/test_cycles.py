"""Circles among names: each found once, and quickly also where many ways lead to one name."""

import pytest

from officellm.cycles import cycles


@pytest.mark.parametrize(
    ("edges", "found"),
    [
        ({}, []),
        ({"a": ["b"], "b": []}, []),
        ({"a": ["a"]}, [["a", "a"]]),
        ({"a": ["b"], "b": ["a"]}, [["a", "b", "a"]]),
        ({"x": ["a"], "a": ["b"], "b": ["c"], "c": ["a"]}, [["a", "b", "c", "a"]]),
        ({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}, []),
        ({"a": ["gone"]}, []),
        ({"a": ["b"], "b": ["a"], "c": ["d"], "d": ["c"]}, [["a", "b", "a"], ["c", "d", "c"]]),
    ],
    ids=["empty", "chain", "itself", "two", "behind a way in", "diamond", "unknown name", "two circles"],
)
def test_each_circle_is_found_once(edges, found):
    assert list(cycles(edges)) == found


def test_many_ways_to_one_name_are_not_walked_one_by_one():
    layers = 200  # 2 to the 200 ways
    edges = {f"{side}{layer}": [f"a{layer + 1}", f"b{layer + 1}"] for layer in range(layers) for side in "ab"}
    assert list(cycles(edges)) == []
