"""Typed outputs: the schema that is asked for, and what counts as an answer."""

import datetime
import enum

import pytest
from pydantic import BaseModel, ConfigDict

from officellm import ConfigError
from officellm.outputs import OutputError, OutputType


class Post(BaseModel):
    title: str
    words: int = 0


class Other(BaseModel):
    other: str


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    day: datetime.date


class Mood(enum.Enum):
    GOOD = "good"


@pytest.mark.parametrize(
    ("wanted", "text", "value"),
    [
        (Post, '{"title": "T"}', Post(title="T")),
        (Post, '```json\n{"title": "T", "words": 3}\n```', Post(title="T", words=3)),
        (Post, '  ```\n{"title": "T"}\n```  ', Post(title="T")),
        (int, '{"value": 7}', 7),
        (list[str], '{"value": ["a"]}', ["a"]),
        (str, '{"value": "x"}', "x"),
        (Mood, '{"value": "good"}', Mood.GOOD),
        (Strict, '{"day": "2024-02-29"}', Strict(day=datetime.date(2024, 2, 29))),
        (Post | Other, '{"value": {"other": "o"}}', Other(other="o")),
        (int | None, '{"value": null}', None),
        (dict[str, int], '{"a": 1}', {"a": 1}),
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, '{"a": 1}', {"a": 1}),
        ({"type": "array", "items": {"type": "integer"}}, '{"value": [1]}', [1]),
    ],
    ids=["model", "fenced", "bare fence", "int", "list", "str", "enum", "strict", "union", "optional", "dict", "schema",
         "array"],
)  # fmt: skip
def test_an_answer_that_fits_becomes_a_value(wanted, text, value):
    output = OutputType(wanted)
    assert output.schema.schema["type"] == "object"
    assert output.read(text) == value


@pytest.mark.parametrize(
    ("wanted", "text", "said"),
    [
        (Post, "no json", "not JSON"),
        (Post, "", "not JSON"),
        (Post, '{"words": 1}', "title: required and missing"),
        (Post, "[1]", "does not fit"),
        (Post, '{"title": "a"} {"title": "b"}', "not JSON"),
        (int, "7", 'the one key "value"'),
        (int, '{"value": "x"}', "does not fit"),
        (int, '{"value": 1, "more": 2}', 'the one key "value"'),
        ({"type": "object", "required": ["a"]}, "{}", "'a' is a required property"),
        (Post, "[" * 100_000, "not JSON"),
    ],
    ids=["words", "nothing", "missing", "array", "two", "bare", "type", "more", "schema", "deep"],
)
def test_an_answer_that_does_not_fit_says_why(wanted, text, said):
    with pytest.raises(OutputError) as raised:
        OutputType(wanted).read(text)
    assert said in str(raised.value)


@pytest.mark.parametrize("wanted", [OutputType, pytest, {"type": "nonsense"}], ids=["class", "module", "schema"])
def test_a_type_that_cannot_be_asked_for_is_the_callers_mistake(wanted):
    with pytest.raises(ConfigError):
        OutputType(wanted)


def test_definitions_stay_at_the_root():
    schema = OutputType(list[Post]).schema
    assert set(schema.schema) == {"type", "properties", "required", "additionalProperties", "$defs"}


@pytest.mark.parametrize("wanted", [Post, list[Post], int, dict[str, Post]], ids=repr)
def test_the_schemas_name_is_legal_everywhere(wanted):
    name = OutputType(wanted).schema.name
    assert 0 < len(name) <= 64
    assert name.replace("_", "").replace("-", "").isalnum()
