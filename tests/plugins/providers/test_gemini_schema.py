"""JSON Schema becomes what Gemini accepts, and no property of the user's is lost on the way."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from officellm import Request, ToolSpec, User, loads
from officellm_builtin.providers.gemini import Gemini

ACCEPTED = {
    *("type", "format", "title", "description", "nullable", "enum", "items", "properties", "required", "anyOf"),
    *("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"),
    *("minimum", "maximum", "pattern"),
}
TYPES = {"object", "array", "string", "integer", "number", "boolean"}


def declared(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The parameters that are declared for a tool with this schema."""
    asked = Request(model="gemini-2.5-flash", messages=[User("hi")], tools=[ToolSpec("t", "d", schema)])
    return loads(Gemini().build(asked, "https://h").body)["tools"][0]["functionDeclarations"][0].get("parameters")


def reduced(schema: Any, **defs: Any) -> dict[str, Any]:
    """What becomes of one property."""
    found = declared({"type": "object", "properties": {"x": schema}, "$defs": defs})
    assert found is not None
    return found["properties"]["x"]


def check_accepted(node: dict[str, Any]) -> None:
    assert node.keys() <= ACCEPTED
    if "anyOf" in node:
        assert node.keys() == {"anyOf"}, "anyOf must stand alone"
        for variant in node["anyOf"]:
            check_accepted(variant)
        return
    assert node["type"] in TYPES
    assert ("items" in node) == (node["type"] == "array")
    if "enum" in node:
        assert node["type"] == "string"
        assert all(isinstance(value, str) and value for value in node["enum"])
    if "required" in node:
        assert node["required"]
        assert set(node["required"]) <= set(node["properties"])
    assert node.get("properties", True), "an empty properties is refused"
    for child in [*node.get("properties", {}).values(), *([node["items"]] if "items" in node else [])]:
        check_accepted(child)


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        pytest.param({"type": "string"}, {"type": "string"}, id="plain"),
        pytest.param({"const": "a"}, {"type": "string", "enum": ["a"]}, id="const"),
        pytest.param({"const": 5}, {"type": "integer", "description": "One of: 5."}, id="const number"),
        pytest.param({"const": None}, {"type": "string", "nullable": True, "description": "Always null."}, id="null"),
        pytest.param(
            {"type": "integer", "enum": [1, 2]}, {"type": "integer", "description": "One of: 1, 2."}, id="integer enum"
        ),
        pytest.param({"enum": ["a", None]}, {"type": "string", "nullable": True, "enum": ["a"]}, id="enum with null"),
        pytest.param(
            {"enum": ["a", ""], "description": "D."},
            {"type": "string", "description": 'D. One of: "a", "".'},
            id="enum with an empty string",
        ),
        pytest.param({"type": ["string", "null"]}, {"type": "string", "nullable": True}, id="type or null"),
        pytest.param(
            {"type": ["string", "integer"], "maxLength": 3, "maximum": 9},
            {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "integer", "maximum": 9}]},
            id="two types",
        ),
        pytest.param(
            {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "D.", "default": None},
            {"type": "integer", "nullable": True, "description": "D. Default: null."},
            id="optional",
        ),
        pytest.param(
            {"oneOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]},
            {"anyOf": [{"type": "string", "nullable": True}, {"type": "number", "nullable": True}]},
            id="oneOf",
        ),
        pytest.param(
            {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9},
            {"type": "integer", "minimum": 1, "maximum": 8},
            id="exclusive bounds of an integer",
        ),
        pytest.param(
            {"type": "number", "exclusiveMinimum": 0},
            {"type": "number", "minimum": 0, "description": "Greater than 0."},
            id="exclusive bound of a number",
        ),
        pytest.param(
            {"type": "string", "format": "email"}, {"type": "string", "description": "Format: email."}, id="format"
        ),
        pytest.param({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}, id="time"),
        pytest.param({"type": "array"}, {"type": "array", "items": {"type": "string"}}, id="array of anything"),
        pytest.param(
            {"type": "object", "additionalProperties": {"type": "integer"}},
            {"type": "object", "description": 'Any further keys; each value is like {"type":"integer"}.'},
            id="map",
        ),
        pytest.param(
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "b"], "$schema": "s"},
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            id="required names that are absent",
        ),
        pytest.param(
            {
                "allOf": [
                    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                    {"properties": {"b": {"type": "integer"}}, "required": ["b"], "description": "Both."},
                ]
            },
            {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
                "required": ["a", "b"],
                "description": "Both.",
            },
            id="allOf",
        ),
        pytest.param(
            {"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"title": "T"}]},
            {
                "anyOf": [
                    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                    {"type": "object", "title": "T", "properties": {"a": {"type": "string"}}},
                ]
            },
            id="properties beside anyOf",
        ),
    ],
)
def test_a_schema_is_said_in_the_accepted_subset(schema, wanted):
    found = reduced(schema)

    assert found == wanted
    check_accepted(found)


def test_a_reference_is_replaced_by_what_it_names():
    assert reduced({"$ref": "#/$defs/Colour", "description": "Of the car."}, Colour={"enum": ["red"]}) == {
        "type": "string",
        "enum": ["red"],
        "description": "Of the car.",
    }


@pytest.mark.parametrize(
    "child",
    [
        {"$ref": "#/$defs/Node"},
        {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
        {"allOf": [{"$ref": "#/$defs/Node"}]},
        {"type": "array", "items": {"$ref": "#/$defs/Node"}},
        {"additionalProperties": {"$ref": "#/$defs/Node"}},
        {"$ref": "#"},
    ],
    ids=["plain", "optional", "allOf", "list", "map", "root"],
)
def test_a_recursive_schema_ends(child):
    node = {"type": "object", "properties": {"left": child, "right": child, "value": {"type": "string"}}}
    found = reduced({"$ref": "#/$defs/Node"}, Node=node)

    check_accepted(found)
    assert found["properties"].keys() == {"left", "right", "value"}
    assert str(found).count("'type'") < 60, "two levels are enough"


@pytest.mark.parametrize("ref", ["#/$defs/Missing", "https://example.org/s.json", "#/$defs/0/x", 7])
def test_a_reference_to_nothing_accepts_anything_and_says_so(ref):
    found = reduced({"$ref": ref})

    check_accepted(found)
    assert str(ref) in str(found)


def test_reference_cycles_without_a_shape_end():
    check_accepted(reduced({"$ref": "#/$defs/A"}, A={"$ref": "#/$defs/B"}, B={"allOf": [{"$ref": "#/$defs/A"}]}))


def test_properties_named_like_keywords_are_kept():
    names = ["$ref", "$defs", "const", "additionalProperties", "anyOf", "type", "required", "properties", "default"]
    found = declared({"type": "object", "properties": {name: {"type": "string"} for name in names}})

    assert found == {"type": "object", "properties": {name: {"type": "string"} for name in names}}


def test_a_union_at_the_root_becomes_one_object_with_the_properties_of_all():
    shape = {"type": "object", "required": ["kind"]}
    found = declared(
        {
            "oneOf": [
                {**shape, "properties": {"kind": {"const": "a"}, "x": {"type": "string"}}},
                {**shape, "properties": {"kind": {"const": "b"}, "x": {"type": "integer"}}},
            ]
        }
    )

    assert found == {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": ["a", "b"]},
            "x": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        },
        "required": ["kind"],
    }


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "properties": {}, "required": []}])
def test_a_tool_without_parameters_declares_none(schema):
    assert declared(schema) is None


LEAVES = st.sampled_from(
    [{"type": "string"}, {"type": "null"}, {"const": 1}, {"enum": ["a", 2, None]}, {}, True, False]
)
NAMES = st.sampled_from(["a", "b", "type", "$ref"])


def schemas() -> st.SearchStrategy[Any]:
    def grow(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.one_of(
            st.fixed_dictionaries(
                {"type": st.sampled_from(["object", ["object", "null"]]), "properties": st.dictionaries(NAMES, inner)},
                optional={"required": st.lists(NAMES), "additionalProperties": inner, "description": st.just("D")},
            ),
            st.fixed_dictionaries(
                {"type": st.just("array")}, optional={"items": inner, "prefixItems": st.lists(inner)}
            ),
            st.builds(lambda key, parts: {key: parts}, st.sampled_from(["anyOf", "oneOf", "allOf"]), st.lists(inner)),
            st.just({"$ref": "#/$defs/Node"}),
        )

    return st.recursive(LEAVES, grow, max_leaves=12)


def test_what_is_required_and_no_name_is_left_out():
    found = declared({"type": "object", "properties": {"x": {"type": "string"}}, "required": [["x"], {}, "x", "x"]})

    assert found is not None
    assert found["required"] == ["x"]


@settings(max_examples=200, deadline=None)
@given(properties=st.dictionaries(NAMES, schemas(), min_size=1), node=schemas())
def test_any_schema_is_reduced_to_the_subset_with_all_its_properties(properties, node):
    found = declared({"type": "object", "properties": properties, "$defs": {"Node": node}})

    assert found is not None
    check_accepted(found)
    assert found["properties"].keys() == properties.keys()
