"""Keys that are not set are asked for before anything is sent."""

import pytest

from officellm import Agent, ConfigError, Office
from officellm.testing import scripted


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


async def test_a_missing_key_of_a_worker_is_said_before_the_manager_is_asked():
    boss = scripted(["never"])
    inner = Agent("inner", model="gemini:gemini-2.5-flash")
    office = Office(Agent("boss", model=boss), workers=[Agent("helper", model="openai:gpt-4.1-mini", workers=[inner])])
    with pytest.raises(ConfigError) as raised:
        await office.run("go")
    assert str(raised.value) == (
        "agent 'helper': the environment variable OPENAI_API_KEY is not set; "
        "agent 'inner': the environment variable GEMINI_API_KEY is not set"
    )
    assert boss.requests == []


async def test_a_missing_key_of_the_routers_model_is_no_outcome_of_a_run():
    agents = [Agent(name, model="openai:gpt-4.1-mini") for name in ("a", "b")]
    with pytest.raises(ConfigError, match="router:llm: the environment variable OPENAI_API_KEY is not set"):
        await Office(agents=agents).run("go", router="llm")


async def test_an_agent_that_no_run_can_reach_needs_no_key():
    agents = [Agent("a", model=scripted(["done"])), Agent("b", model="openai:gpt-4.1-mini")]
    assert (await Office(agents=agents).run("go", agent="a", orchestrator="none")).content == "done"
