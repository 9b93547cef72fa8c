"""The main job: `officellm run --router llm task.json` from router to answer, over each wire format."""

import json

import pytest

from officellm.testing import call, rule

TEAM = """
providers:
  fake: {format: FORMAT, base_url: "URL"}
agents:
  - {name: boss, provider: fake, model: fake-model, system_prompt: You are the boss, workers: [researcher]}
  - name: researcher
    description: Finds facts
    provider: fake
    model: fake-model
    system_prompt: You find facts
    tools: {allow: [noisy]}
  - {name: support, description: Answers customers, provider: fake, model: fake-model}
tools: {modules: [office_tools]}
limits: {provider_retries: 0}
"""
HANGS = """
import asyncio
from officellm import tool

@tool
async def stubborn() -> str:
    await asyncio.Event().wait()
"""
SCRIPT = [
    rule('{"agent": "boss", "reason": "it leads"}', system="Choose the one agent"),
    rule(call("researcher", task="tide pools"), "{last_tool}, says the boss.", system="You are the boss"),
    rule(call("noisy", query="tide pools"), "Found: {last_tool}", system="You find facts"),
]
FORMATS = ("openai_compat", "anthropic", "gemini")


def url_of(llm, wire):
    return {"openai_compat": llm.openai_url, "anthropic": llm.anthropic_url, "gemini": llm.gemini_url}[wire]


@pytest.mark.parametrize("wire", FORMATS)
def test_a_router_picks_a_manager_that_calls_a_worker_that_calls_a_tool(office, wire):
    place = office(SCRIPT)
    place.write("team.yaml", TEAM.replace("FORMAT", wire).replace("URL", url_of(place.llm, wire)))
    done = place.run("run", "--router", "llm", "task.json")
    assert (done.returncode, done.stdout) == (0, "Found: quiet result, says the boss.\n"), done.stderr
    assert place.llm.refusals == []
    happened = [line for line in done.stderr.splitlines() if " start" in line or "(" in line]
    wanted = ["router llm chose boss (it leads)", "boss: worker researcher(", "researcher: tool noisy("]
    places = [next(number for number, line in enumerate(happened) if line.startswith(one)) for one in wanted]
    assert places == sorted(places)


def test_the_requests_of_the_router_are_counted_under_its_own_name(office):
    place = office(SCRIPT)
    place.write("team.yaml", TEAM.replace("FORMAT", "openai_compat").replace("URL", place.llm.openai_url))
    result = json.loads(place.run("run", "--router", "llm", "--json", "task.json").stdout)
    requests = {name: usage["requests"] for name, usage in result["byAgent"].items()}
    assert requests == {"router:llm": 1, "boss": 2, "researcher": 2}
    assert result["usage"]["requests"] == 5
    assert [hop["agent"] for hop in result["chain"]] == ["boss"]


def test_a_router_whose_model_talks_nonsense_fails_in_words(office):
    place = office([rule("Bananas!", "Bananas again!", system="Choose the one agent")])
    place.write("team.yaml", TEAM.replace("FORMAT", "openai_compat").replace("URL", place.llm.openai_url))
    done = place.run("run", "--router", "llm", "--json", "task.json")
    result = json.loads(done.stdout)
    assert (done.returncode, result["stopReason"], result["usage"]["requests"]) == (1, "failed", 2)
    said = "the router chose no agent on offer: 'Bananas again!'. Agents: boss, researcher, support."
    assert result["error"] == said
    assert f"error: failed: {said}" in done.stderr.splitlines()


def test_a_tool_that_hangs_is_given_up_and_the_run_goes_on(office):
    place = office([rule(call("stubborn"), "{last_tool}", system="You find facts")])
    team = TEAM.replace("FORMAT", "openai_compat").replace("URL", place.llm.openai_url)
    place.write("office_tools.py", HANGS)
    place.write("team.yaml", team.replace("allow: [noisy]", "allow: [stubborn]"))
    done = place.run("run", "--agent", "researcher", "--limit", "tool_timeout=0.1", "task.json")
    said = "Error: tool 'stubborn' did not answer within 0.1 s"
    assert (done.returncode, done.stdout) == (0, f"{said}\n")
    assert said in done.stderr
