"""Asks real services a few words each: `pytest --live tests/live`, with their keys in the environment."""

from __future__ import annotations

import os

import pytest

from officellm import Agent, Office, Request, ToolSpec, User
from officellm.files.starter import MODELS
from officellm.presets import PRESETS

KEYED = [name for name, preset in PRESETS.items() if preset.base_url.startswith("https://")]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = ToolSpec("weather", "The weather in a city.", SCHEMA)


@pytest.fixture(params=KEYED)
def service(request):
    """The name of a service that may be asked."""
    if not request.config.getoption("--live"):
        pytest.skip("asks real services: only with --live")
    variable = PRESETS[request.param].api_key_env
    if not os.environ.get(variable):
        pytest.skip(f"the environment variable {variable} is not set")
    return request.param


@pytest.fixture
def model(service):
    """A model that costs little, as `provider:name`; `OFFICELLM_LIVE_<NAME>` names another."""
    return f"{service}:{os.environ.get(f'OFFICELLM_LIVE_{service.upper()}', MODELS[service])}"


def weather(city: str) -> str:
    """The weather in a city."""
    return f"It rains in {city}."


async def test_it_lists_its_models(service):
    async with Office(Agent("a", model=f"{service}:any")) as office:
        assert await office.providers.provider(service).models()


async def test_it_answers_and_counts(model):
    async with Office(Agent("a", model=model)) as office:
        result = await office.run("Answer with the word blue and nothing else.")
    result.raise_for_error()
    assert "blue" in result.content.lower()
    assert result.usage.input > 0
    assert result.usage.output > 0


async def test_what_is_streamed_is_the_answer(model):
    shown = []
    async with Office(Agent("a", model=model)) as office, office.stream("Count from one to five in words.") as run:
        async for event in run:
            shown += [event.text] if event.type == "text.delta" else []
    run.result.raise_for_error()
    assert "".join(shown).strip() == run.result.content.strip()


async def test_it_calls_a_tool_and_uses_the_result(model):
    async with Office(Agent("a", model=model, tools=[weather])) as office:
        result = await office.run("What is the weather in Oslo? Use the tool.")
    result.raise_for_error()
    assert result.usage.tool_calls >= 1
    assert "rain" in result.content.lower()


async def test_a_forced_call_comes_with_its_arguments(service, model):
    async with Office(Agent("a", model=model)) as office:
        asked = Request(
            model=model.partition(":")[2],
            messages=[User("The weather in Oslo, please.")],
            tools=[WEATHER],
            tool_choice="weather",
        )
        deltas = [delta async for delta in office.providers.provider(service).stream(asked)]
    (call,) = deltas[-1].reply.message.calls
    assert (call.name, call.problem) == ("weather", None)
    assert "city" in call.arguments
