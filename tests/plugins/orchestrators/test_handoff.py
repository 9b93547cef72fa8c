"""The built-in orchestrators keep their contract; how they behave in an office stands in tests/acceptance."""

import pytest

from officellm import Agent, Office, PluginNotFoundError
from officellm.testing import call, scripted


@pytest.mark.parametrize("name", ["manager", "none"])
async def test_the_entry_agent_works_to_its_end_and_is_offered_no_transfers(name):
    model = scripted(["done"])
    result = await Office(Agent("a", model=model), agents=[Agent("b", model=scripted([]))]).run("t", orchestrator=name)
    assert (result.content, result.agent, list(model.requests[0].tools)) == ("done", "a", [])


async def test_an_orchestrator_that_is_not_there_names_those_that_are():
    with pytest.raises(PluginNotFoundError, match="handoff"):
        await Office(Agent("a", model=scripted([]))).run("t", orchestrator="handof")


async def test_a_typed_output_holds_for_whoever_answers_last():
    a = scripted([call("transfer_to_agent", agent="b")])
    b = scripted(["words", '{"value": 7}'])
    office = Office(agents=[Agent("a", model=a), Agent("b", model=b)])
    result = await office.run("t", agent="a", output_type=int)
    assert (result.output, result.agent) == (7, "b")
