from __future__ import annotations

import json
import re

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


@pytest.mark.parametrize(
    "text", ["{}", ' {"a": [1]}\n', "\t1\r\n", '"\\ud83d"', "NaN", "[1, 2]", b"{}", b"\xff\xfe1\x00"]
)
def test_json_is_read_as_the_standard_library_reads_it(text):
    assert repr(loads(text)) == repr(json.loads(text))


@pytest.mark.parametrize("text", ["", " ", "[", '{"a":', "{} {}", "1 x", "\ufeff{}", "nul", "[DONE]", b"\xff"])
def test_what_is_no_json_is_a_value_error_as_in_the_standard_library(text):
    with pytest.raises(ValueError) as theirs:  # noqa: PT011 - any of them, as it is
        json.loads(text)
    with pytest.raises(type(theirs.value), match=re.escape(str(theirs.value))):
        loads(text)


def test_json_is_compact_and_not_escaped():
    assert dump_text({"a": ["é", 1]}) == '{"a":["é",1]}'


def test_equal_values_have_one_canonical_text():
    assert canonical({"b": 1, "a": [2]}) == canonical({"a": [2], "b": 1})


def test_an_argument_object_that_is_no_json_is_a_problem():
    call = ToolCall.parse("c", "f", {"x": float("nan")})

    assert call.arguments is None
    assert "cannot be written as JSON" in call.problem
    assert call.sendable == {}


@pytest.mark.parametrize(("depth", "readable"), [(3, True), (99, True), (100, False), (500, False), (5000, False)])
def test_arguments_may_be_nested_within_reason_as_text_and_as_an_object(depth, readable):
    text, value = '{"a":' * depth + "1" + "}" * depth, 1
    for _ in range(depth):
        value = {"a": value}

    assert (parse_arguments(text)[1] is None) is readable
    assert (ToolCall.parse("a", "f", value).problem is None) is readable


def test_brackets_in_a_text_are_no_nesting():
    assert ToolCall.parse("a", "f", {"x": "{[" * 300}).arguments == {"x": "{[" * 300}
    assert parse_arguments('{"x": "' + "{[" * 300 + '"}')[1] is None
