"""`officellm init`: files that pass `check`, run as they are, and never replace anything."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from officellm.errors import ConfigError
from officellm.files.starter import MODELS, likely_provider, starter_files
from officellm.files.taskfile import load_tasks
from officellm.files.teamcheck import check_team
from officellm.files.teamfile import load_team
from officellm.presets import PRESETS
from officellm.provenance import offers
from officellm.testing import FakeLLM


@pytest.fixture(autouse=True)
def fresh_modules(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    sys.modules.pop("mytools", None)


def written(folder: Path, provider: str, *, minimal: bool = False) -> Path:
    for name, text in starter_files(provider, minimal=minimal).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "team.yaml"


def test_every_preset_has_a_model_to_start_with():
    assert MODELS.keys() == PRESETS.keys()


@pytest.mark.parametrize("minimal", [False, True], ids=["team", "minimal"])
@pytest.mark.parametrize("provider", sorted(PRESETS.keys() - {"local"}))
def test_the_starter_passes_check_for_every_provider(tmp_path, monkeypatch, provider, minimal):
    if PRESETS[provider].api_key_env:
        monkeypatch.setenv(PRESETS[provider].api_key_env, "key")
    report = asyncio.run(check_team(written(tmp_path, provider, minimal=minimal)))
    assert (report.errors, report.warnings) == ([], [])
    assert report.agents[0].model == f"{provider}:{MODELS[provider]}"
    assert load_tasks(tmp_path / "task.json").tasks[0].task.title


async def test_the_starter_runs_as_it_is(tmp_path):
    editor = [
        {"calls": [{"name": "researcher", "arguments": {"task": "facts about tide pools"}}]},
        "Tide pools are small seas.",
    ]
    researcher = [
        {"calls": [{"name": "search_notes", "arguments": {"topic": "tide pools"}}]},
        "Starfish live there.",
    ]
    script = [
        {"when": {"system": "You lead a small team"}, "replies": editor},
        {"when": {"system": "Use your tools"}, "replies": researcher},
    ]
    team = load_team(written(tmp_path, "ollama"))
    task = load_tasks(tmp_path / "task.json").tasks[0]
    async with FakeLLM(script) as llm:
        providers = {"ollama": {**team.model.providers["ollama"], "base_url": llm.openai_url}}
        async with team.office(providers=providers) as office:
            result = await office.run(task.task)
    assert result.content == "Tide pools are small seas."
    assert sorted(result.by_agent) == ["editor", "researcher"]


def test_an_unknown_provider_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown provider 'opena'\. Did you mean 'openai'\?"):
        starter_files("opena")


def test_the_provider_is_one_whose_key_is_set_or_one_that_needs_none(monkeypatch):
    for preset in PRESETS.values():
        monkeypatch.delenv(preset.api_key_env or "none", raising=False)
    installed = any(offer.name == "local" for offer in offers("officellm.providers"))
    assert likely_provider() == ("local" if installed else "ollama")
    monkeypatch.setenv("GEMINI_API_KEY", "key")
    assert likely_provider() == "gemini"


def officellm(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from officellm.cli import main; main()", *args]
    env = {**os.environ, "OPENAI_API_KEY": "key"}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=60, check=False)


def test_the_command_makes_the_folder_and_says_what_to_do_next(tmp_path):
    done = officellm("init", "a/b", "--provider", "openai", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout == ""
    assert "officellm run task.json" in done.stderr
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == ["mytools.py", "task.json", "team.yaml"]
    assert officellm("check", cwd=tmp_path / "a" / "b").returncode == 0


def test_the_minimal_starter_has_no_tools(tmp_path):
    assert officellm("init", "--minimal", "--provider", "ollama", cwd=tmp_path).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["task.json", "team.yaml"]


@pytest.mark.parametrize("name", ["team.yaml", "task.json", "mytools.py"])
def test_a_file_that_is_there_is_never_overwritten(tmp_path, name):
    (tmp_path / name).write_text("mine", encoding="utf-8")
    done = officellm("init", cwd=tmp_path)
    assert done.returncode == 2
    assert f"{name}: exists already" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("folder", ["file", "file/below"])
def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path, folder):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    done = officellm("init", folder, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: file")
