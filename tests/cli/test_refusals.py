"""What a vendor would refuse of an agent is said by `check`, before anything is sent."""

from __future__ import annotations

import asyncio

import pytest

from officellm import Agent, Office, ToolSpec
from officellm.cli.refusals import check_team, refusal
from officellm.testing import scripted


class Odd:
    """A catalog of one tool, whose schema is whatever it is given."""

    def __init__(self, schema):
        self.schema = schema

    async def tools(self):
        return [ToolSpec("odd", "An odd tool.", self.schema)]

    async def call(self, name, arguments, context):
        raise AssertionError("nothing is run")


async def said_of(model, schema):
    async with Office(Agent("a", model=model, tools=["odd"]), catalogs={"c": Odd(schema)}) as office:
        return refusal((await office.ready()).get("a"))


@pytest.mark.parametrize(("model", "words"), [("openai:gpt-4.1", "schema must be"), ("anthropic:m", "input_schema")])
async def test_a_schema_that_a_vendor_refuses_is_told_in_its_words(model, words):
    assert words in await said_of(model, {"type": "string"})


@pytest.mark.parametrize("model", ["openai:gpt-4.1", "anthropic:m", "gemini:m", "ollama:m"])
async def test_a_schema_that_is_made_fit_for_a_vendor_is_no_doubt(model):
    properties = {"a": {"type": ["string", "null"], "enum": ["", "x"]}, "b": {"const": 1}}
    assert await said_of(model, {"type": "object", "properties": properties, "additionalProperties": False}) is None


async def test_a_provider_without_http_has_no_rules():
    assert await said_of(scripted([]), {"type": "string"}) is None


def test_check_warns_of_it_at_the_agent(tmp_path):
    (tmp_path / "team.yaml").write_text(
        "agents:\n"
        "  - {name: fine, model: 'anthropic:m'}\n"
        "  - {name: thinker, model: 'anthropic:m', settings: {thinking: {type: enabled, budget_tokens: 10}}}\n"
    )
    report = asyncio.run(check_team(tmp_path / "team.yaml"))
    assert report.errors == []
    (doubt,) = [one for one in report.warnings if "would refuse" in one.text]
    assert (doubt.line, "budget_tokens" in doubt.text) == (3, True)
