"""From a function to a schema, and from a model's arguments to values: nothing lost, nothing guessed."""

import datetime
import enum
import json
import math
from typing import Annotated, Literal

import pytest
from hypothesis import given, settings, strategies as st
from pydantic import BaseModel

from officellm import Context, Tool, ToolDefinitionError
from officellm.signatures import ArgumentsError, read_docstring


class Color(enum.Enum):
    RED = "red"


class Node(BaseModel):
    name: str
    children: list["Node"] = []


def everything(
    query: str,
    limit: Annotated[int, "How many hits"] = 5,
    tags: list[str] | None = None,
    mode: Literal["fast", "slow"] = "fast",
    color: Color = Color.RED,
) -> str:
    """Find pages.

    More about it.

    Args:
        query: Words to look for,
            over two lines.
        limit: Not this text, the hint's own wins.

    Returns:
        Pages.
    """
    return query


def test_hints_make_the_schema_and_the_docstring_the_descriptions():
    spec = Tool(everything).spec
    assert (spec.name, spec.description) == ("everything", "Find pages.\n\nMore about it.")
    properties = spec.parameters["properties"]
    assert spec.parameters["required"] == ["query"]
    assert spec.parameters["additionalProperties"] is False
    assert properties["query"] == {"type": "string", "description": "Words to look for, over two lines."}
    assert properties["limit"] == {"type": "integer", "description": "How many hits", "default": 5}
    assert properties["mode"]["enum"] == ["fast", "slow"]
    assert "title" not in json.dumps(properties)


def test_defaults_and_types_arrive_as_the_function_wants_them():
    checked = Tool(everything).validate({"query": "x", "color": "red", "tags": ["a"]})
    assert checked == {"query": "x", "limit": 5, "tags": ["a"], "mode": "fast", "color": Color.RED}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "query: required and missing"),
        ({"query": None}, "query: "),
        ({"query": 5}, "query: "),
        ({"query": "x", "limit": "many"}, "limit: "),
        ({"query": "x", "limit": 2.5}, "limit: "),
        ({"query": "x", "mode": "medium"}, "'fast' or 'slow'"),
        ({"query": "x", "tags": ["a", 1]}, "tags.1: "),
        ({"query": "x", "qurey": "y"}, "qurey: unknown argument"),
        ({"query": "x", "limit": "9" * 5000}, "limit: "),
    ],
    ids=["missing", "null", "number", "text", "fraction", "choice", "nested", "unknown", "huge"],
)
def test_arguments_that_do_not_fit_name_the_field(arguments, said):
    with pytest.raises(ArgumentsError) as raised:
        Tool(everything).validate(arguments)
    assert said in str(raised.value)
    assert "pydantic" not in str(raised.value)


@pytest.mark.parametrize(
    ("hint", "sent", "got"),
    [
        (int, 3.0, 3),
        (int, "5", 5),
        (float, 3, 3.0),
        (float, "2.5", 2.5),
        (str, "007", "007"),
        (str, "  spaced  ", "  spaced  "),
        (bool, "true", True),
        (datetime.date, "2024-02-29", datetime.date(2024, 2, 29)),
        (bytes, "text", b"text"),
        (list[int], ["1", 2], [1, 2]),
        (dict[str, int], {"a": "1"}, {"a": 1}),
        (Node, {"name": "a", "children": [{"name": "b"}]}, Node(name="a", children=[Node(name="b")])),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_can_be_read_without_loss_is_read(hint, sent, got):  # R07
    def function(value) -> str:
        """Take."""
        return ""

    function.__annotations__["value"] = hint
    assert Tool(function).validate({"value": sent}) == {"value": got}


def whole(value: int) -> str:
    """Take."""
    return ""


def number(value: float) -> str:
    """Take."""
    return ""


def text(value: str) -> str:
    """Take."""
    return ""


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.from_regex(r"[ +-]?\d{1,30}(\.\d*)?"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)


@settings(max_examples=400, deadline=None)
@given(value=JSON)
def test_coercion_loses_nothing(value):  # R07
    for function, kind in ((whole, int), (number, float), (text, str)):
        try:
            got = Tool(function).validate({"value": value})["value"]
        except ArgumentsError:
            continue
        assert type(got) is kind
        if kind is str:
            assert got == value
        elif isinstance(value, str):
            assert got == (int(float(value)) if kind is int and "." in value else kind(value)) or math.isnan(got)
        else:
            assert got == kind(value) or math.isnan(value)  # a double is what JSON's numbers are
            assert kind is float or got == value


@given(arguments=st.dictionaries(st.text(max_size=8), JSON, max_size=4))
def test_no_arguments_bring_anything_but_an_arguments_error(arguments):
    try:
        checked = Tool(everything).validate(arguments)
    except ArgumentsError:
        return
    assert set(checked) == {"query", "limit", "tags", "mode", "color"}


def test_parameters_may_have_any_name():
    def odd(schema: str, copy: int, _x: str, self: str, model_config: str = "c", json: str = "j") -> str:
        """Take odd names."""
        return schema

    tool = Tool(odd)
    given = {"schema": "s", "copy": 1, "_x": "x", "self": "me"}
    assert tool.validate(given) == {**given, "model_config": "c", "json": "j"}
    assert list(tool.spec.parameters["properties"]) == ["schema", "copy", "_x", "self", "model_config", "json"]


def test_a_mutable_default_is_not_shared():
    def gather(items: list[str] = []) -> str:  # noqa: B006
        """Gather."""
        return ""

    tool = Tool(gather)
    tool.validate({})["items"].append("x")
    assert tool.validate({}) == {"items": []}


@pytest.mark.parametrize("hint", [Context, Context | None], ids=["plain", "optional"])
def test_the_context_is_hidden_from_the_model(hint):
    def who(ctx, name: str) -> str:
        """Tell."""
        return name

    who.__annotations__["ctx"] = hint

    assert list(Tool(who).spec.parameters["properties"]) == ["name"]
    with pytest.raises(ArgumentsError, match="ctx: unknown argument"):
        Tool(who).validate({"name": "x", "ctx": {}})


def test_hints_written_as_text_are_resolved():
    def late(node: "Node", n: "int | None" = None) -> "str":
        """Take."""
        return ""

    assert Tool(late).validate({"node": {"name": "a"}})["node"] == Node(name="a")


def bare(value) -> str:
    """Take."""
    return ""


def star(*values: int) -> str:
    """Take."""
    return ""


def named(**values: int) -> str:
    """Take."""
    return ""


def positional(value: int, /) -> str:
    """Take."""
    return ""


def foreign(value: "NoSuchType") -> str:  # noqa: F821
    """Take."""
    return ""


def strange(value: Tool) -> str:
    """Take."""
    return ""


@pytest.mark.parametrize("function", [bare, star, named, positional, foreign, strange], ids=lambda one: one.__name__)
def test_a_function_that_cannot_be_a_tool_is_refused_with_file_and_line(function):
    with pytest.raises(ToolDefinitionError, match=rf"test_signatures\.py:\d+.*'{function.__name__}'"):
        Tool(function)


@pytest.mark.parametrize("value", [None, 5, "web_search"], ids=repr)
def test_what_is_no_function_is_refused(value):
    with pytest.raises(ToolDefinitionError):
        Tool(value)


def test_a_docstring_without_sections_is_all_description():
    assert read_docstring("One.\n\nTwo: three.") == ("One.\n\nTwo: three.", {})


def test_a_docstring_describes_arguments_in_several_styles():
    text = "Do.\n\nArguments:\n    a (int): First.\n    b: Second:\n        with more.\n\nReturns:\n    c: No argument."
    assert read_docstring(text) == ("Do.", {"a": "First.", "b": "Second: with more."})
