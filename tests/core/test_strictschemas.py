from __future__ import annotations

import pytest

from officellm import closed_schema, is_strict

CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
SCHEMAS = {
    "closed": (CLOSED, True),
    "nested": ({**CLOSED, "properties": {"a": {"type": "array", "items": CLOSED}}}, True),
    "nullable": ({**CLOSED, "properties": {"a": {"type": ["string", "null"], "enum": ["x", None]}}}, True),
    "either": ({**CLOSED, "properties": {"a": {"anyOf": [CLOSED, {"type": "null"}]}}}, True),
    "definitions": ({**CLOSED, "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": CLOSED}}, True),
    "named-like-a-word": ({**CLOSED, "properties": {"default": {"type": "null"}}, "required": ["default"]}, True),
    "open": ({**CLOSED, "additionalProperties": True}, False),
    "optional": ({**CLOSED, "required": []}, False),
    "without-required": ({key: value for key, value in CLOSED.items() if key != "required"}, False),
    "open-inside": ({**CLOSED, "properties": {"a": {"type": "object", "properties": {}}}}, False),
    "open-definition": ({**CLOSED, "$defs": {"A": {"type": "object"}}}, False),
    "default": ({**CLOSED, "properties": {"a": {"type": "string", "default": "x"}}}, False),
    "one-of": ({**CLOSED, "properties": {"a": {"oneOf": [CLOSED]}}}, False),
    "reference-with-siblings": ({**CLOSED, "properties": {"a": {"$ref": "#", "title": "A"}}}, False),
    "untyped-items": ({**CLOSED, "properties": {"a": {"type": "array"}}}, False),
    "untyped": ({**CLOSED, "properties": {"a": {}}}, False),
    "odd-format": ({**CLOSED, "properties": {"a": {"type": "string", "format": "color"}}}, False),
    "root-either": ({**CLOSED, "anyOf": [CLOSED]}, False),
    "no-object": ({"type": "string"}, False),
    "nonsense": ({**CLOSED, "required": [{}], "anyOf": 7}, False),
    "nonsense-inside": ({**CLOSED, "properties": {"a": {"anyOf": 7}}}, False),
}


@pytest.mark.parametrize(("schema", "strict"), SCHEMAS.values(), ids=SCHEMAS)
def test_a_schema_is_strict_where_the_vendor_can_promise_it(schema, strict):
    assert is_strict(schema) is strict


def test_closing_a_schema_closes_every_object_in_it_and_changes_nothing_else():
    inner = {"properties": {"default": {"type": "string"}}}
    schema = {"type": "object", "properties": {"items": {"anyOf": [inner, {"type": "null"}]}}, "$defs": {"A": inner}}

    shut = closed_schema(schema)

    wanted = {**inner, "additionalProperties": False}
    assert shut["additionalProperties"] is False
    assert shut["properties"]["items"]["anyOf"] == [wanted, {"type": "null"}]
    assert shut["$defs"] == {"A": wanted}
    assert "additionalProperties" not in inner
