from __future__ import annotations

import pytest

from officellm.codec import canonical, dump_text, dumps, loads, parse_arguments
from officellm.messages import ToolCall


@pytest.mark.parametrize("raw", ["", "  \n", "null", None, "{}"])
def test_absent_arguments_are_an_empty_mapping(raw):
    assert parse_arguments(raw) == ({}, None)


BROKEN = {
    "a fragment": ('{"x":"on', "not valid JSON"),
    "two objects glued": ('{"x":1}{"x":2}', "more than one JSON value"),
    "text after the object": ('{"x":1} done', "more than one JSON value"),
    "one key with two values": ('{"city":"Paris","city":"Rome"}', "'city' appears twice"),
    "an array": ("[1]", "must be a JSON object, not an array"),
    "a string": ('"x"', "not a string"),
    "a number": ("3", "not a number"),
    "a boolean": ("true", "not a boolean"),
    "not a number": ('{"x": NaN}', "NaN"),
    "infinity": ('{"x": -Infinity}', "-Infinity"),
    "a number that no float holds": ('{"x": 1e999}', "too large"),
    "deep nesting": ('{"x":' * 100_000, "nested too deeply"),
}


@pytest.mark.parametrize(("raw", "why"), BROKEN.values(), ids=BROKEN)
def test_arguments_that_are_no_object_are_a_problem_and_never_a_guess(raw, why):
    arguments, problem = parse_arguments(raw)

    assert arguments is None
    assert why in problem


def test_a_key_repeated_with_an_equal_value_is_no_contradiction():
    assert parse_arguments('{"a":1,"a":1}') == ({"a": 1}, None)


def test_what_was_parsed_can_be_written_again():
    arguments, _ = parse_arguments('{"s":"\\ud800é","n":[1.5,-0,10000000000000000000000]}')

    assert loads(dumps(arguments)) == {"s": "\ufffdé", "n": [1.5, 0, 10**22]}


def test_json_is_compact_and_not_escaped():
    assert dump_text({"a": ["é", 1]}) == '{"a":["é",1]}'


def test_equal_values_have_one_canonical_text():
    assert canonical({"b": 1, "a": [2]}) == canonical({"a": [2], "b": 1})


def test_an_argument_object_that_is_no_json_is_a_problem():
    call = ToolCall.parse("c", "f", {"x": float("nan")})

    assert call.arguments is None
    assert "cannot be written as JSON" in call.problem
    assert call.sendable == {}
