from __future__ import annotations

import pytest

from officellm import FaultError, argument_text, as_mapping, as_sequence, as_text, decode_json, decode_object

VALUES = [None, True, 1, 1.5, "x", [1], {"a": 1}]


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize(
    ("read", "kind", "empty"),
    [(as_mapping, dict, {}), (as_sequence, list, ()), (as_text, str, "")],
    ids=["mapping", "sequence", "text"],
)
def test_a_value_of_another_shape_is_an_empty_one(read, kind, empty, value):
    assert read(value) == (value if isinstance(value, kind) else empty)


@pytest.mark.parametrize("data", [b"", b"<html>", b"\xff", b'{"a":', "[" * 100_000], ids=lambda data: repr(data[:9]))
@pytest.mark.parametrize("decode", [decode_json, decode_object])
def test_what_is_no_json_is_a_fault_that_may_pass(decode, data):
    with pytest.raises(FaultError) as raised:
        decode(data)
    assert (raised.value.fault.kind, raised.value.fault.retryable) == ("malformed", True)


@pytest.mark.parametrize("data", ["[1]", "1", "null", '"x"'])
def test_an_object_is_demanded_where_one_is_wanted(data):
    decode_json(data)
    with pytest.raises(FaultError, match="not a JSON object"):
        decode_object(data)
    assert decode_object('{"a":1}') == {"a": 1}


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), ("{", "{"), ({"a": "é"}, '{"a":"é"}'), ([1], "[1]"), (float("inf"), "inf")],
    ids=repr,
)
def test_arguments_are_text_whatever_a_server_made_of_them(value, text):
    assert argument_text(value) == text
