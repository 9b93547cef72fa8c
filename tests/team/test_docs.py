"""docs/team.md and examples/team: every command, example and table is run or compared with what is built."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from officellm.files.teamfile import load_team
from officellm.files.teammodel import McpServer, Polling
from officellm_team.board import deliveries, errors, transitions
from officellm_team.cli.board import board
from officellm_team.cli.mcp import mcp
from officellm_team.cli.teamcheck import KINDS
from officellm_team.tools.subjects import all_tools

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "team.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
SECONDS = 60


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


def rows(heading: str) -> list[list[str]]:
    """The cells of the tables under a heading."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|") and not line.startswith("|---")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def words(text: str) -> list[str]:
    return re.findall(r"`([\w.]+)`", text)


class Shell:
    """A folder where commands are typed; what goes on in the background is ended with the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._running = contextlib.ExitStack()

    def run(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "officellm", *arguments]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert done.returncode == 0, f"{arguments}\n{done.stderr}"
        return done.stdout

    def start(self, *arguments: str, until: str) -> str:
        """Start a command, and give what it says on stderr up to `until`."""
        process = self._running.enter_context(
            subprocess.Popen(
                [sys.executable, "-m", "officellm", *arguments],
                cwd=self.folder,
                text=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        )
        self._running.callback(process.kill)
        said = ""
        while until not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        return said

    def serve(self, script: str) -> str:
        """A fake model on a free port; its address."""
        said = self.start("testing", "serve", "--script", script, "--port", "0", until="recorded")
        return re.search(r"openai +(\S+)", said)[1]

    def wait_for(self, state: str, *titles: str) -> None:
        end = time.monotonic() + SECONDS
        while True:
            tasks = json.loads(self.run("board", "--json", "tasks"))["tasks"]
            if {one["title"] for one in tasks if one["state"] == state} >= set(titles):
                return
            assert time.monotonic() < end, tasks
            time.sleep(0.1)

    def close(self) -> None:
        self._running.close()


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    made = Shell(tmp_path)
    yield made
    made.close()


def test_the_quickstart_and_the_client_script_work_as_they_stand(shell, monkeypatch):
    setup, use = blocks("sh")
    (shell.folder / "script.yaml").write_text(blocks("yaml")[0])
    typed = [shlex.split(line) for line in setup.splitlines()]
    assert [line[:3] for line in typed] == [
        ["officellm", "testing", "serve"],
        ["officellm", "team", "init"],
        ["officellm", "team", "check"],
        ["officellm", "team", "run"],
    ]
    assert typed[0][3:] == ["--script", "script.yaml", "--port", "1234", "&"]
    address = shell.serve("script.yaml")
    shell.run("team", "init")
    file = shell.folder / "team.yaml"
    file.write_text(file.read_text().replace("http://localhost:1234/v1", address))  # a test has no port of its own
    shell.run("team", "check")
    shell.start("team", "run", until="waiting for")
    said = {}
    for line in use.splitlines():
        command = shlex.split(line)[1:]
        if command[1] == "tasks":
            shell.wait_for("completed", "Tide pools")
        said[command[1]] = shell.run(*command)
    assert "local-agent" in said["agents"]
    assert "completed" in said["tasks"]
    assert "task_completed" in said["notifications"]
    assert "Tide pools are shallow." in said["memories"]

    bin = Path(sys.executable).parent
    monkeypatch.setenv("PATH", str(bin), prepend=":")
    client = subprocess.run(
        [sys.executable, "-c", blocks("python")[0]],
        cwd=shell.folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert client.stdout == "completed\nTide pools are shallow.\n", client.stderr


def test_the_example_splits_a_task_and_closes_it(shell, monkeypatch):
    for file in (ROOT / "examples" / "team").iterdir():
        shutil.copy(file, shell.folder)
    monkeypatch.setenv("OFFICELLM_URL", shell.serve("script.yaml"))
    assert shell.run("team", "check") == "team.yaml: ok (2 agent(s), 1 provider(s))\n"
    shell.start("team", "run", until="waiting for")
    task = json.loads(shell.run("board", "add", "Tide pools", "--assign", "planner", "--json"))
    shell.wait_for("completed", "Tide pools", "Write about tide pools")
    head, part = shell.run("board", "tree", task["id"]).splitlines()
    assert head.endswith("completed  Tide pools")
    assert part.endswith("completed  Write about tide pools")
    assert shell.run("board", "memories", "shallow", "--agent", "writer").endswith("Tide pools are shallow.\n")


def test_the_tools_of_the_page_are_those_of_the_board():
    named = [tool for row in rows("The 44 tools")[1:] for tool in words(row[1])]
    assert sorted(named) == sorted(all_tools())
    gated = re.findall(r"\*\*`(\w+)`\*\*", PAGE)
    assert sorted(gated) == sorted(name for name, tool in all_tools().items() if tool.marks.gated)
    assert (len(named), len(gated)) == (44, 9)


def test_the_codes_of_the_page_are_those_of_refusals():
    section = PAGE.split("A refusal is")[1].split("Nothing was changed")[0]
    assert set(words(section)) == set(get_args(errors.Code))


def test_states_kinds_and_deliveries_are_those_of_the_board():
    table = rows("Tasks, and who is told")
    moves = {state: set(words(row[1])) for row in table if len(row) == 2 for state in words(row[0])}
    assert moves == {state: set(after) for state, after in transitions.NEXT.items()}
    kinds = [kind for row in table if len(row) == 3 for kind in words(row[2])]
    assert sorted(kinds) == sorted(KINDS)
    assert [words(row[0])[0] for row in rows("Deliveries") if words(row[0])] == list(deliveries.STATES)


def test_the_keys_of_the_page_are_those_of_team_files():
    keys = [key for row in rows("The team file")[1:] for key in words(row[0])]
    polling = {key.removeprefix("orchestrator.") for key in keys if key.startswith("orchestrator.")}
    assert polling == set(Polling.model_fields) - {"name"}
    assert {key for row in rows("MCP servers as tools")[1:] for key in words(row[0])} == set(McpServer.model_fields)


def test_the_commands_of_the_page_are_all_there_are():
    table = [row for row in rows("Commands and exit codes") if len(row) == 2 and row[1]]
    named = {text.split()[0] for row in table for text in re.findall(r"`([a-z][^`]*)`", row[0])}
    assert named == set(board.commands)
    (add,) = [row for row in table if row[0].startswith("`add")]
    options = {name for one in board.commands["add"].params for name in one.opts if name[:2] == "--"}
    assert set(re.findall(r"`(--\w+)", add[1])) == options - {"--json"}


def test_the_editors_configuration_starts_a_server():
    (server,) = json.loads(blocks("json")[0])["mcpServers"].values()
    name, *arguments = server["args"]
    assert (server["command"], name) == ("officellm", "mcp")
    assert mcp.make_context(name, arguments).params["name"] == "alice"
    options = re.findall(r"(--[\w-]+)", PAGE.split("## MCP clients")[1].split("\n## ")[0])
    assert set(options) <= {name for one in mcp.params for name in one.opts}


def test_the_team_file_with_mcp_servers_loads(tmp_path):
    (tmp_path / "team.yaml").write_text(blocks("yaml")[1])
    assert set(load_team(tmp_path / "team.yaml").catalogs()) == {"board", "notes", "web"}
