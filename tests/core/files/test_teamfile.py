"""Team files: what may be written, and the office that it means."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

import pytest

from officellm import ConfigError
from officellm.files.teamfile import find_team, load_team
from officellm.testing import scripted

REFERENCE = Path(__file__).parents[2] / "data" / "reference_team.yaml"

FULL = """\
version: 1
providers:
  gemini: {format: gemini, api_key_env: GEMINI_API_KEY, settings: {temperature: 0.2}}
  server: {format: openai_compat, base_url: "http://localhost:1234/v1", model: qwen3-8b, max_concurrency: 4}
agents:
  - name: boss
    provider: gemini
    model: gemini-2.5-pro
    system_prompt: Lead.
    workers: [research_agent]
  - name: research_agent
    description: Finds facts
    provider: server
    role: researcher
    capabilities: [search]
    system_prompt_file: prompts/research.md
    tools: {allow: [lookup_*, "teamtools_full:bare", "board.*"], deny: [lookup_secret]}
    limits: {max_turns: 15}
    params: {type: object, properties: {words: {type: integer}}}
    context_window: 12
    on_limit: summarize
    guidance: true
    settings: {top_p: 0.5}
  - name: checker
    model: openai:gpt-4.1-mini
    transfers: [boss]
    max_turns: 3
    params: teamtools_full:Brief
manager: boss
router: {name: keyword, routes: {sql: research_agent}, default: boss}
tools: {modules: [teamtools_full], lookup_fact: {timeout: 20, idempotent: true}}
limits: {max_total_tokens: 200000, max_cost_usd: 1.0, max_seconds: 300}
policies: {loops: {}}
engine: local
orchestrator: {name: manager, poll_interval_seconds: 2, notification_kinds: [handoff], dispatch_limits: {max_turns: 8}}
"""

TOOLS = """\
from officellm import tool
from pydantic import BaseModel

@tool
def lookup_fact(query: str) -> str:
    "Look up."
    return query

@tool
def lookup_secret(query: str) -> str:
    "Never."
    return query

def bare(text: str) -> str:
    "Not marked."
    return text

class Brief(BaseModel):
    task: str
"""


def write(folder: Path, text: str, name: str = "team.yaml") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.fixture
def full(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "research.md").write_text("Search in ${NOWHERE}.", encoding="utf-8")
    (tmp_path / "teamtools_full.py").write_text(TOOLS, encoding="utf-8")
    return write(tmp_path, FULL)


async def test_a_full_team_file_becomes_an_office(full):
    team = load_team(full)
    office = team.office()
    setups = await office.ready()
    worker = office.agents["research_agent"]
    assert office.entry == "boss"
    assert office.roster.workers("boss") == ["research_agent"]
    assert setups.get("research_agent").toolset.names() == ["bare", "lookup_fact"]
    assert setups.get("research_agent").toolset.get("lookup_fact").timeout == 20
    assert setups.get("research_agent").model == "qwen3-8b"
    assert setups.get("boss").model == "gemini-2.5-pro"
    assert worker.instructions == "Search in ${NOWHERE}."
    assert (worker.limits.max_turns, worker.context_window, worker.on_limit, worker.guidance) == (
        15,
        12,
        "summarize",
        True,
    )
    assert (worker.role, list(worker.capabilities), worker.settings) == ("researcher", ["search"], {"top_p": 0.5})
    assert office.agents["checker"].params.__name__ == "Brief"
    assert office.agents["checker"].limits.max_turns == 3
    assert office.limits.max_total_tokens == 200000
    assert office.router == {"name": "keyword", "routes": {"sql": "research_agent"}, "default": "boss"}
    assert office.orchestrator == {"name": "manager"}
    assert office.policies == {"loops": {}}


def test_polling_settings_are_kept_and_do_not_bound_the_office(full):
    team = load_team(full)
    assert team.polling is not None
    assert team.polling.poll_interval_seconds == 2
    assert team.polling.max_concurrent_dispatches == 4
    assert team.polling.dispatch_limits.max_turns == 8
    assert not team.office().limits.is_set("max_turns")


def test_the_reference_team_loads_and_its_board_tools_are_left_out_with_a_warning():
    team = load_team(REFERENCE)
    assert team.agents == ["claude-planner", "gpt-builder", "gemini-analyst", "grok-reviewer"]
    assert len(team.warnings) == 4
    assert "reference_team.yaml:43: agents[0].tools.allow: these tools are left out" in team.warnings[0]
    office = team.office()
    assert all(agent.tools == () for agent in office.agents.values())
    assert asyncio.run(office.ready()).get("gpt-builder").model == "gpt-4.1"


def test_the_reference_team_runs_an_agent_on_another_provider():
    model = scripted(["built"])
    providers = dict.fromkeys(("openai", "anthropic", "gemini", "grok"), model)
    office = load_team(REFERENCE).office(providers=providers)
    assert office.call_sync("gpt-builder", task="x").content == "built"


@pytest.mark.parametrize("modules", ["", "tools: {modules: [teamtools_other]}\n"], ids=["no module", "another tool"])
def test_a_tool_that_nobody_implements_is_refused_with_the_agents_name(tmp_path, modules):
    (tmp_path / "teamtools_other.py").write_text(TOOLS)
    agents = "agents: [{name: finder, model: 'openai:m', tools: [web_search]}]\n"
    (tmp_path / "team.yaml").write_text(agents + modules)
    said = "agent 'finder': Tool \"web_search\" has no implementation provided."
    with pytest.raises(ConfigError, match=re.escape(said)):
        asyncio.run(load_team(tmp_path / "team.yaml").office().ready())


TOML = """\
manager = "boss"
[providers.server]
format = "openai_compat"
base_url = "http://localhost:1/v1"
model = "m"
[[agents]]
name = "boss"
provider = "server"
[[agents]]
name = "worker"
provider = "server"
tools = []
"""
JSON = '{"manager": "boss", "providers": {"server": {"format": "openai_compat", "base_url": "http://localhost:1/v1",\
 "model": "m"}}, "agents": [{"name": "boss", "provider": "server"}, {"name": "worker", "provider": "server"}]}'
MAPPING = """\
providers: {server: {format: openai_compat, base_url: "http://localhost:1/v1", model: m}}
defaults: {provider: server}
manager: {name: boss}
agents: [{name: worker}]
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [("team.toml", TOML), ("team.json", JSON), ("team.yaml", MAPPING)],
    ids=["toml", "json", "mapping"],
)
def test_every_language_says_the_same_and_a_manager_has_all_others_as_workers(tmp_path, name, text):
    office = load_team(write(tmp_path, text, name)).office()
    assert office.entry == "boss"
    assert office.roster.workers("boss") == ["worker"]
    assert office.agents["boss"].model == "server:m"


@pytest.mark.parametrize(
    ("agent", "top", "model"),
    [
        ("model: openai:gpt-4.1-mini", "", "openai:gpt-4.1-mini"),
        ("provider: ollama, model: 'qwen3:8b'", "", "ollama:qwen3:8b"),
        ("provider: openai, model: openai:gpt-4.1", "", "openai:gpt-4.1"),
        ("model: 'qwen3:8b'", "defaults: {provider: ollama}", "ollama:qwen3:8b"),
        ("role: x", "defaults: {provider: ollama, model: m}", "ollama:m"),
        ("role: x", "defaults: {model: openai:m}", "openai:m"),
        ("provider: p", "providers: {p: {format: openai_compat, base_url: 'http://h', model: m}}", "p:m"),
    ],
)
def test_a_model_is_a_provider_and_a_name(tmp_path, agent, top, model):
    path = write(tmp_path, f"agents: [{{name: a, {agent}}}]\n{top}\n")
    assert load_team(path).office().agents["a"].model == model


def test_variables_are_expanded_in_values_only(tmp_path, monkeypatch):
    monkeypatch.setenv("MODEL_NAME", "gpt-x")
    monkeypatch.setenv("EMPTY", "")
    text = (
        "agents: [{name: a, model: 'openai:${MODEL_NAME}', system_prompt: '${EMPTY:-none} $MODEL_NAME ${bad name}'}]\n"
        "limits: {max_turns: '${TURNS:-7}', max_seconds: '${SECONDS:-1.5}'}\n"
    )
    office = load_team(write(tmp_path, text)).office()
    assert office.agents["a"].model == "openai:gpt-x"
    assert office.agents["a"].instructions == "none $MODEL_NAME ${bad name}"
    assert (office.limits.max_turns, office.limits.max_seconds) == (7, 1.5)


def test_changes_replace_arguments_of_the_office(full):
    office = load_team(full).office(
        router=None, providers={n: scripted(["hi"]) for n in ("gemini", "server", "openai")}
    )
    assert office.router is None
    assert office.call_sync("boss", task="x").content == "hi"


def test_a_tool_of_the_users_may_have_the_name_of_a_board_tool(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    code = "from officellm import tool\n@tool\ndef task_get(id: str) -> str:\n    'x'\n    return id\n"
    (tmp_path / "teamtools_board.py").write_text(code, encoding="utf-8")
    text = "agents: [{name: a, model: openai:m, tools: [task_get, task_list]}]\ntools: {modules: [teamtools_board]}\n"
    office = load_team(write(tmp_path, text)).office()
    assert asyncio.run(office.ready()).get("a").toolset.names() == ["task_get"]


@pytest.mark.parametrize("name", ["team.yaml", "team.yml", "team.toml", "officellm.yaml", "officellm.toml"])
def test_the_nearest_team_file_is_found_upward(tmp_path, name):
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    path = write(tmp_path / "a", "x", name)
    write(tmp_path, "x")
    assert find_team(deep) == path
