"""`officellm check`: every problem at its line, a summary where there is none, a schema, a ping."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from officellm.files.teamcheck import Ping, Report, check_team
from officellm.files.teamschema import team_schema
from officellm.testing import FakeLLM

REFERENCE = Path(__file__).parents[1] / "data" / "reference_team.yaml"

TOOLS = """\
from officellm import tool
print("noise of an import")

@tool
def web_search(query: str) -> str:
    "Search."
    return query

@tool
def read_page(url: str) -> str:
    "Read."
    return url
"""


@pytest.fixture
def folder(tmp_path, monkeypatch, request) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    monkeypatch.delitem(sys.modules, "checked_tools", raising=False)
    (tmp_path / "checked_tools.py").write_text(TOOLS, encoding="utf-8")
    return tmp_path


def report_of(folder: Path, text: str, *, ping: bool = False) -> Report:
    path = folder / "team.yaml"
    path.write_text(text, encoding="utf-8")
    return asyncio.run(check_team(path, ping=ping))


def lines(problems) -> list[str]:
    return [f"{problem.line}: {problem.text}" for problem in problems]


HEAD = "tools: {modules: [checked_tools]}\nagents:\n"


def test_a_team_without_problems_is_summed_up(folder):
    report = report_of(
        folder,
        HEAD
        + "  - {name: boss, model: openai:m, workers: [helper]}\n  - {name: helper, model: openai:m, tools: ['*']}\n",
    )
    assert (report.errors, report.warnings) == ([], [])
    boss, helper = report.agents
    assert (boss.name, boss.model, boss.tools, boss.workers) == ("boss", "openai:m", [], ["helper"])
    assert (helper.tools, helper.workers) == (["web_search", "read_page"], [])


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("tools: [web_serch]", "3: agents[0].tools[0]: no tool is named 'web_serch'. Did you mean 'web_search'?"),
        ("tools: [gone.x]", "3: agents[0].tools[0]: no tool is named 'gone.x'. Available: read_page, web_search."),
        ("tools: [web_search], workers: [web_search]", "3: agents[0].workers[0]: unknown agent 'web_search'"),
        ("params: 'checked_tools:web_search'", "3: agents[0].params: 'checked_tools:web_search' is no pydantic model"),
        ("tools: ['os.path:split']", "3: agents[0].tools[0]: "),
    ],
)
def test_what_an_agent_cannot_have_is_an_error(folder, agent, said):
    (problem,) = lines(report_of(folder, f"{HEAD}  - {{name: a, model: openai:m, {agent}}}\n").errors)
    assert problem.startswith(said)


def test_a_worker_and_a_tool_of_one_name_are_an_error(folder):
    report = report_of(
        folder,
        HEAD + "  - {name: a, model: openai:m, tools: [web_search], workers: [web_search]}\n"
        "  - {name: web_search, model: openai:m}\n",
    )
    assert lines(report.errors) == ["3: agents[0]: agent 'a': a worker and a tool share the name 'web_search'"]
    assert report.agents == []


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("tools: ['fs_*']", "3: agents[0].tools[0]: 'fs_*' matches no tool"),
        ("tools: {allow: ['*'], deny: [write]}", "3: agents[0].tools.deny[0]: 'write' matches no tool"),
        ("tools: [task_get]", "3: agents[0].tools: no board is configured: these tools are left out unless"),
    ],
)
def test_what_has_no_effect_is_a_warning(folder, agent, said):
    report = report_of(folder, f"{HEAD}  - {{name: a, model: openai:m, {agent}}}\n")
    assert report.errors == []
    (warning,) = lines(report.warnings)
    assert warning.startswith(said)
    assert len(report.agents) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tools: {modules: [nomod_z]}\n", "1: tools.modules[0]: cannot import 'nomod_z': ModuleNotFoundError"),
        ("tools: {modules: [json]}\n", "1: tools.modules[0]: 'json' has no function marked @tool"),
        (
            "tools: {modules: [checked_tools], web_serch: {timeout: 1}}\n",
            "1: tools.web_serch: no tool is named 'web_serch'.",
        ),
    ],
)
def test_modules_and_tool_options_that_lead_nowhere_are_errors(folder, text, said):
    (problem,) = lines(report_of(folder, text + "agents: [{name: a, model: openai:m}]\n").errors)
    assert problem.startswith(said)


def test_problems_of_every_kind_are_found_in_one_go(folder):
    report = report_of(
        folder,
        "agents:\n"
        "  - {name: a, model: openai:m, tols: []}\n"
        "  - {name: b, model: gemni:m}\n"
        "  - {name: c, model: openai:m, tools: ['nomod_q:f']}\n"
        "  - {name: d, model: openai:m, tools: [gone]}\n"
        "router: kyword\n"
        "providers: {openai: {timeot: 3}}\n"
        "limits: {max_turns: 0}\n",
    )
    assert [line.partition(":")[0] for line in lines(report.errors)] == ["2", "3", "4", "5", "6", "7", "8"]


def test_a_key_that_is_not_set_is_a_warning(folder, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    report = report_of(folder, "agents: [{name: a, model: openai:m}, {name: b, model: ollama:m}]\n")
    assert lines(report.warnings) == [
        "1: agents[0].model: the environment variable OPENAI_API_KEY is not set: 'openai' will be refused"
    ]


def test_the_reference_team_has_warnings_only():
    report = asyncio.run(check_team(REFERENCE))
    assert report.errors == []
    assert report.agents[0].name == "claude-planner"


def test_a_file_that_cannot_be_read_is_one_error(tmp_path):
    report = asyncio.run(check_team(tmp_path / "gone.yaml"))
    assert [str(problem) for problem in report.errors] == [f"{tmp_path}/gone.yaml: no such file"]


async def test_a_ping_asks_each_provider_in_use_for_its_models(folder):
    async with FakeLLM(["unused"], models=("m", "n")) as llm:
        path = folder / "team.yaml"
        path.write_text(
            "providers:\n"
            f"  up: {{format: openai_compat, base_url: '{llm.openai_url}', model: m}}\n"
            f"  down: {{format: openai_compat, base_url: '{llm.url}/nowhere/v9', model: m}}\n"
            f"  unused: {{format: openai_compat, base_url: '{llm.openai_url}', model: m}}\n"
            "agents: [{name: a, provider: up}, {name: b, provider: down}]\n",
            encoding="utf-8",
        )
        report = await check_team(path, ping=True)
    down, up = report.pings
    assert up == Ping("up", models=2)
    assert down.provider == "down"
    assert down.error is not None


@pytest.mark.parametrize(
    ("text", "is_valid"),
    [
        (REFERENCE.read_text(encoding="utf-8"), True),
        ("manager: a\nrouter: llm\norchestrator: handoff\nagents: [{name: a, tools: [x]}]\n", True),
        ("agents: [{name: a, tols: [x]}]\n", False),
        ("agents: [{model: x}]\n", False),
        ("providers: {p: {format: openai_compat, base_ur: x}}\n", False),
        ("tools: {modules: [m], x: {timeout: 3}}\n", True),
        ("tools: {modules: [m], x: {timeot: 3}}\n", False),
    ],
)
def test_the_schema_accepts_what_a_team_file_may_say(text, is_valid):
    schema = team_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert jsonschema.Draft202012Validator(schema).is_valid(yaml.safe_load(text)) is is_valid


def officellm(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from officellm.cli import main; main()", *args]
    env = {**os.environ, "OPENAI_API_KEY": "key"}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=60, check=False)


def test_the_command_prints_problems_on_stdout_and_exits_with_two(folder):
    (folder / "team.yaml").write_text(HEAD + "  - {name: a, model: openai:m, tools: [web]}\n    \n", encoding="utf-8")
    done = officellm("check", "team.yaml", cwd=folder)
    assert done.returncode == 2
    assert done.stdout.startswith("team.yaml:3: agents[0].tools[0]: no tool is named 'web'.")
    assert "noise" not in done.stdout


def test_the_command_finds_the_team_file_and_speaks_json(folder):
    (folder / "team.yaml").write_text(HEAD + "  - {name: a, model: openai:m, tools: [read_page]}\n", encoding="utf-8")
    done = officellm("check", "--json", cwd=folder)
    said = json.loads(done.stdout)
    assert done.returncode == 0
    assert said["ok"] is True
    assert said["agents"] == [{"name": "a", "model": "openai:m", "tools": ["read_page"], "workers": []}]


def test_the_command_checks_a_task_file_too(folder):
    (folder / "task.json").write_text('{"titel": "x"}', encoding="utf-8")
    done = officellm("check", "task.json", cwd=folder)
    assert done.returncode == 2
    assert "task.json:1: titel: unknown key. Did you mean 'title'?" in done.stdout


def test_a_failed_ping_exits_with_one(folder):
    text = "agents: [{name: a, model: 'p:m'}]\nproviders: {p: {format: openai_compat, base_url: 'http://127.0.0.1:1/v1'}}\n"
    (folder / "team.yaml").write_text(text, encoding="utf-8")
    done = officellm("check", "--ping", cwd=folder)
    assert done.returncode == 1
    assert "ping p: failed: " in done.stdout


def test_the_schema_needs_no_team_file(tmp_path):
    done = officellm("check", "--schema", cwd=tmp_path)
    assert done.returncode == 0
    assert "agents" in json.loads(done.stdout)["properties"]
