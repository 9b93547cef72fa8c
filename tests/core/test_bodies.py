from __future__ import annotations

import json

import pytest

from officellm import join_body, merged, taken_out


def test_a_body_holds_small_values_and_encoded_ones():
    assert json.loads(join_body({"model": "m", "n": 1}, {"messages": b"[1]"})) == {
        "model": "m",
        "n": 1,
        "messages": [1],
    }
    assert join_body({}, {}) == b"{}"


def test_what_the_user_gave_goes_before_what_was_encoded():
    assert join_body({"tools": []}, {"tools": b"[1]"}) == b'{"tools":[]}'


def test_mappings_in_both_are_merged_and_neither_is_changed():
    base, extra = {"a": {"b": 1, "c": {"d": 2}}, "e": [1]}, {"a": {"c": {"f": 3}}, "e": [2]}

    assert merged(base, extra) == {"a": {"b": 1, "c": {"d": 2, "f": 3}}, "e": [2]}
    assert (base["a"]["c"], extra["a"]) == ({"d": 2}, {"c": {"f": 3}})


@pytest.mark.parametrize(
    ("extra", "rest", "found"),
    [
        ({"tools": [1], "x": 2}, {"x": 2}, [1]),
        ({"tools": "none", "x": 2}, {"tools": "none", "x": 2}, ()),
        ({"x": 2}, {"x": 2}, ()),
        (None, {}, ()),
        ("tools", {}, ()),
    ],
    ids=["a-list", "no-list", "none", "nothing", "no-mapping"],
)
def test_a_list_of_the_users_is_taken_out(extra, rest, found):
    assert taken_out(extra, "tools") == (rest, found)
