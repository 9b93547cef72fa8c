"""What a tool returned, as text: itself, or JSON, never a Python repr."""

import dataclasses
import datetime
import enum
import json

import pytest
from hypothesis import given, strategies as st
from pydantic import BaseModel, Field

from officellm.text import NO_OUTPUT, to_text


@dataclasses.dataclass
class Point:
    x: int


class Page(BaseModel):
    page_title: str = Field(alias="pageTitle")


class Shade(str, enum.Enum):  # noqa: UP042 - the older form is the one that prints its name
    DARK = "dark"


class Loud(str):
    def __str__(self):
        return "LOUD"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is\n", "as it is\n"),
        (Shade.DARK, "dark"),
        (Loud("quiet"), "quiet"),
        (None, NO_OUTPUT),
        ("", NO_OUTPUT),
        (b"", NO_OUTPUT),
        (0, "0"),
        (False, "false"),
        ([], "[]"),
        (1.5, "1.5"),
        (float("nan"), '"NaN"'),
        ({"ä": [1, None]}, '{"ä":[1,null]}'),
        ((1, 2), "[1,2]"),
        ({3, 1, 2}, "[1,2,3]"),
        (Point(1), '{"x":1}'),
        ([Point(1)], '[{"x":1}]'),
        (Page(pageTitle="T"), '{"pageTitle":"T"}'),
        (datetime.date(2024, 2, 29), '"2024-02-29"'),
        (b"bytes", "bytes"),
        (b"\xff\xfe", "//4="),
        ({1: "a"}, '{"1":"a"}'),
        (["a\ud800b"], '["a\ufffdb"]'),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_every_value_has_one_text(value, text):
    assert to_text(value, 1000) == text


@pytest.mark.parametrize(
    "value",
    [object(), lambda: 1, [object()], Point(object())],
    ids=["object", "function", "in a list", "in a dataclass"],
)
def test_a_value_without_a_json_form_is_refused(value):
    with pytest.raises(TypeError, match="has no JSON form"):
        to_text(value, 1000)


def test_a_circle_is_refused():
    ring = []
    ring.append(ring)
    with pytest.raises((TypeError, ValueError)):
        to_text(ring, 1000)


@pytest.mark.parametrize(("length", "most"), [(10, 10), (11, 10), (1000, 1)])
def test_a_cut_is_visible_and_counts_what_is_missing(length, most):
    text = to_text("x" * length, most)
    if length <= most:
        assert text == "x" * length
    else:
        assert text == "x" * most + f"\n[cut: {length - most} of {length} characters left out]"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_values_survive(value):
    text = to_text(value, 10**9)
    if isinstance(value, str):
        assert text == (value or NO_OUTPUT)
    elif value is None:
        assert text == NO_OUTPUT
    else:
        assert json.loads(text) == value
