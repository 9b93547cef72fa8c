"""Every command and example of the README is run here."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
import types
from pathlib import Path

import pytest
import yaml

from officellm import Agent, Host, Kind, Office
from officellm.files.teamfile import load_team
from officellm.testing import FakeLLM, call

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def blocks(language: str) -> list[str]:
    found = [text for name, text in BLOCKS if name == language]
    assert found, f"the README has no {language} block"
    return found


def test_the_python_examples_run_in_order(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    script = [
        {
            "when": {"system": "JSON Schema"},
            "replies": [{"text": '{"title": "Tide pools", "body": "Shallow."}', "repeat": True}],
        },
        {"when": {"tool": "research_agent"}, "replies": [call("research_agent", task="tide pools"), "Shallow pools."]},
        {"replies": [{"text": "Shallow pools.", "repeat": True}]},
    ]
    with FakeLLM.in_thread(script) as llm:
        for name, url in (("OPENAI", llm.openai_url), ("ANTHROPIC", llm.anthropic_url), ("GEMINI", llm.gemini_url)):
            monkeypatch.setenv(f"{name}_BASE_URL", url)
            monkeypatch.setenv(f"{name}_API_KEY", "key")
        namespace: dict[str, object] = {"__name__": "readme"}
        for text in blocks("python"):
            if not text.startswith("#"):
                exec(compile(text, "README.md", "exec"), namespace)
        assert llm.refusals == []
    printed = capsys.readouterr().out
    assert "True success 45 ['manager', 'research_agent']" in printed
    assert "Shallow pools." in printed
    assert "Tide pools" in printed
    assert "run.end manager" in printed


def test_the_team_file_loads_and_makes_an_office(tmp_path: Path) -> None:
    tools = '@tool\ndef search_notes(query: str) -> str:\n    """Search."""\n    return query\n'
    (tmp_path / "mytools.py").write_text(f"from officellm import tool\n\n{tools}")
    (tmp_path / "team.yaml").write_text(blocks("yaml")[0])
    office = load_team(tmp_path / "team.yaml").office()
    assert list(office.agents) == ["boss", "research_agent", "support"]


def test_the_commands_run(tmp_path: Path) -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    ran = 0
    for line in "".join(blocks("sh")).splitlines():
        words = shlex.split(line, comments=True)
        if words[0] == "make":
            assert words[1] in targets
        else:
            assert words[0] == "officellm"
            command = [sys.executable, "-m", "officellm", *words[1:]]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{line}\n{done.stderr}"
            ran += 1
    assert ran >= 4


def test_the_plugin_of_one_screen_passes_its_contract(tmp_path: Path) -> None:
    project = tomllib.loads(blocks("toml")[0])["project"]
    for text in blocks("python"):
        named = re.match(r"# ([\w/]+\.py)", text)
        if named:
            target = tmp_path / named.group(1)
            target.parent.mkdir(exist_ok=True)
            target.write_text(text)
    info = tmp_path / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    ((group, names),) = project["entry-points"].items()
    (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *map(" = ".join, names.items())]))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\d+ passed", done.stdout)


async def test_the_script_of_the_fake_server_page_plays() -> None:
    text = (ROOT / "docs" / "fake-server.md").read_text()
    found = re.search(r"^```yaml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert found is not None

    def web_search(query: str) -> str:
        """Search."""
        return f"pages about {query}"

    async with FakeLLM(yaml.safe_load(found.group(1))) as llm:
        providers = {"fake": {"format": "anthropic", "base_url": llm.anthropic_url}}
        worker = Agent("research_agent", model="fake:m", instructions="You research", tools=[web_search])
        boss = Agent("boss", model="fake:m", instructions="You lead")
        async with Office(boss, workers=[worker], providers=providers) as office:
            result = await office.run("tide pools")
    assert result.success, result.error
    assert result.content.startswith("The report: Found: pages about")
    assert llm.refusals == []


async def test_the_provider_of_the_hooks_page_answers() -> None:
    text = (ROOT / "docs" / "hooks.md").read_text()
    plugin = types.ModuleType("parrot")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        exec(compile(block, "hooks.md", "exec"), plugin.__dict__)
    host = Host(discover=False)
    host.add_driver(Kind.PROVIDER, "parrot", plugin)
    office = Office(Agent("a", model="bird:x"), providers={"bird": {"format": "parrot"}}, host=host)
    assert (await office.run("hello")).content == "hello"
