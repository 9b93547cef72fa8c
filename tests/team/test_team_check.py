"""`officellm team check`: what is wrong, what is doubtful; nothing is opened, started or asked without --ping."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from officellm.cli import exit_code_of, main
from officellm.testing import FakeLLM
from officellm_team.cli.teamstart import MINIMAL

REFERENCE = Path(__file__).parents[1] / "data" / "reference_team.yaml"
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GROK_API_KEY")
HEAD = """\
providers: {lm: {format: openai_compat, base_url: "http://127.0.0.1:1/v1"}}
orchestrator: {notification_kinds: [task_assigned, handoff]}
agents:
"""
AGENT = "  - {name: a, provider: lm, model: m, system_prompt: x}\n"
MCP_SERVER = """\
from mcp.server.mcpserver import MCPServer
server = MCPServer("notes")

@server.tool()
def read_note(name: str) -> str:
    "Reads."
    return name

open("started", "w").close()
server.run("stdio")
"""


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    """Checks a text as team.yaml: the exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def run(text: str, *options: str, command: tuple[str, ...] = ("team", "check")) -> tuple[int, str, str]:
        Path("team.yaml").write_text(text)
        arguments = [*command, "team.yaml", *options]
        if options or command == ("check",):  # what takes the real stdout, or gives it to children
            done = subprocess.run(
                [sys.executable, "-m", "officellm", *arguments], capture_output=True, text=True, timeout=60, check=False
            )
            return done.returncode, done.stdout, done.stderr
        code = exit_code_of(lambda: main.main(arguments, standalone_mode=False))
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def with_agent(options: str) -> str:
    return f"{HEAD}  - {{name: a, provider: lm, model: m, system_prompt: x, {options}}}\n"


def test_the_four_agents_of_the_reference_pass_unchanged(check, monkeypatch):
    for key in KEYS:
        monkeypatch.setenv(key, "k")
    assert check(REFERENCE.read_text()) == (0, "team.yaml: ok (4 agent(s), 4 provider(s))\n", "")
    assert [path.name for path in Path().iterdir()] == ["team.yaml"]


def test_a_remote_address_without_its_key_is_a_warning(check, monkeypatch):
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    code, out, err = check(REFERENCE.read_text())
    assert (code, out) == (0, "team.yaml: ok (4 agent(s), 4 provider(s))\n")
    assert [any(key in line for line in err.splitlines()) for key in KEYS] == [True] * 4
    assert len(err.splitlines()) == 4


def test_the_minimal_file_passes_and_makes_no_board(check):
    assert check(MINIMAL) == (0, "team.yaml: ok (1 agent(s), 1 provider(s))\n", "")
    assert [path.name for path in Path().iterdir()] == ["team.yaml"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (with_agent("tools: [task_updat]"), "4: agents[0].tools[0]: no tool is named 'task_updat'"),
        (with_agent("tools: [board.task_updat]"), "the board has no tool 'board.task_updat'. Did you mean"),
        (with_agent("rol: x"), "4: agents[0].rol: unknown key. Did you mean 'role'?"),
        (HEAD + AGENT + AGENT, "5: agents[1].name: "),
        (HEAD.replace("handoff]", "handoff], max_iterations: -1") + AGENT, "2: orchestrator.max_iterations: "),
        (
            HEAD.replace("handoff]", "handoff], dispatch_limits: {max_turns: 0}") + AGENT,
            "2: orchestrator.dispatch_limits.max_turns: ",
        ),
        (HEAD.replace("handoff]", "handoff], poll: 3") + AGENT, "2: orchestrator.poll: unknown key"),
        (HEAD + AGENT + "board: {name: b.db, colour: red}\n", "5: board.colour: unknown key"),
        (HEAD + AGENT.replace("provider: lm", "provider: lmm"), "4: agents[0].provider: "),
        (HEAD + AGENT + "mcp_servers: {s: {}}\n", "mcp_servers.s: give a command or a url"),
        (HEAD, "agents"),
        ("- a\n", "a team file is a mapping"),
    ],
    ids=lambda value: value[-60:] if "\n" not in value else "",
)
def test_what_is_wrong_is_said_at_its_line(check, text, said):
    code, out, err = check(text)
    assert (code, out) == (1, "")
    head, *problems = err.splitlines()
    assert head == f"team.yaml: {len(problems)} problem{'s' if len(problems) > 1 else ''}:"
    assert any(said in line for line in problems), err


def test_every_problem_is_said_once(check):
    code, _, err = check(with_agent("tools: [task_updat], rol: x") + "board: {name: b.db, colour: red}\n")
    assert (code, len(err.splitlines())) == (1, len(set(err.splitlines())))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            with_agent("tools: [task_update, memory_write, 'gdpr_*', memory_delete]"),
            ["agent 'a' may call tools that are off by default: gdpr_export, gdpr_forget, memory_delete"],
        ),
        (
            with_agent("tools: {allow: ['board.*'], deny: ['gdpr_*', 'board.memory_*', chroma_sync, agent_offline]}"),
            ["agent 'a' has no memory_write"],
        ),
        (
            with_agent("tools: [task_get]"),
            [
                "agent 'a' has no task_update: it cannot close its tasks",
                "agent 'a' has no memory_write: it cannot keep what others need",
            ],
        ),
        (
            HEAD.replace("[task_assigned, handoff]", "[task_assignd]") + AGENT,
            [
                "kind 'task_assignd' is sent by nobody but `notify`. Did you mean 'task_assigned'?",
                "'task_assigned' is not among the notification kinds: no agent can be reached by it",
                "'handoff' is not among the notification kinds",
            ],
        ),
        (HEAD.replace("[task_assigned, handoff]", "[]") + AGENT, ["nothing would wake the team"]),
        (HEAD.replace("orchestrator", "#") + AGENT, ["nothing would wake the team"]),
    ],
    ids=["gated", "denied", "cannot close", "unknown kind", "no kinds", "no orchestrator"],
)
def test_what_is_doubtful_is_a_warning(check, text, said):
    code, out, err = check(text)
    assert (code, out) == (0, "team.yaml: ok (1 agent(s), 1 provider(s))\n")
    lines = err.splitlines()
    assert len(lines) == len(said), err
    for line, part in zip(lines, said, strict=True):
        assert line.startswith("team.yaml")
        assert f"warning: {part}" in line or part in line


def test_a_ping_asks_each_provider_and_fails_where_one_is_away(check):
    with FakeLLM.in_thread(["unasked"], models=("one", "two")) as llm:
        there = (HEAD + AGENT).replace("http://127.0.0.1:1/v1", llm.openai_url)
        code, out, _ = check(there, "--ping")
        assert (code, out.splitlines()[0]) == (0, "ping lm: ok, 2 models")
        assert not any(request.path.endswith("completions") for request in llm.requests)
    code, out, _ = check(HEAD + AGENT, "--ping")
    assert code == 1
    assert out.startswith("ping lm: ")
    assert "ok," not in out.splitlines()[0]


def served(tmp_path: Path, tools: str) -> str:
    (tmp_path / "server.py").write_text(MCP_SERVER)
    command = f"mcp_servers:\n  notes: {{command: ['{sys.executable}', server.py]}}\n"
    return with_agent(f"tools: [task_update, memory_write, {tools}]") + command


@pytest.mark.parametrize("command", [("team", "check"), ("check",)], ids=" ".join)
def test_an_mcp_server_is_started_by_a_ping_alone(check, tmp_path, command):
    text = served(tmp_path, "notes.read_note, 'notes.*', read_note") + "board: board.db\n"
    code, out, err = check(text, command=command)
    assert code == 0
    assert "mcp_servers.notes: its tools are not known without starting it: --ping does" in out + err
    assert not (tmp_path / "started").exists()
    with FakeLLM.in_thread(["unasked"]) as llm:
        code, out, err = check(text.replace("http://127.0.0.1:1/v1", llm.openai_url), "--ping", command=command)
    assert (code, "not known" in out + err) == (0, False), err
    assert (tmp_path / "started").exists()
    assert not (tmp_path / "board.db").exists()


def test_a_ping_finds_tools_that_a_server_does_not_have(check, tmp_path):
    code, _, err = check(served(tmp_path, "notes.write_note"), "--ping")
    assert code == 1
    assert "team.yaml:4: agents[0]: agent 'a': Tool \"notes.write_note\" has no implementation provided" in err


def test_a_ping_finds_a_server_that_does_not_start(check):
    text = with_agent("tools: [task_update, memory_write]") + "mcp_servers:\n  s: {command: [no-such-program-x]}\n"
    code, _, err = check(text, "--ping")
    assert code == 1
    assert "team.yaml:6: mcp_servers.s: the MCP server 's'" in err


def test_a_ping_finds_a_board_that_cannot_be_reached(check):
    text = HEAD + AGENT + "board: 'postgresql://u:s3cret@127.0.0.1:1/b'\n"
    assert check(text)[0] == 0
    code, _, err = check(text, "--ping")
    assert code == 1
    assert "board postgresql://u:***@127.0.0.1:1/b" in err
    assert "s3cret" not in err


def test_tools_of_a_server_may_be_denied_by_its_name(check, tmp_path):
    (tmp_path / "server.py").write_text(MCP_SERVER)
    text = with_agent("tools: {allow: [read_note, task_update, memory_write], deny: ['notes.*']}")
    text += f"mcp_servers:\n  notes: {{command: ['{sys.executable}', server.py]}}\nboard: board.db\n"
    code, out, _ = check(text, command=("check",))
    assert (code, out.splitlines()[-1]) == (0, "a: lm:m; tools: task_update, memory_write")


def test_a_missing_package_is_named_with_its_extra(tmp_path):
    (tmp_path / "team.yaml").write_text(MINIMAL)
    (tmp_path / "board.db").touch()
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['sqlalchemy', 'mcp'])); from officellm.cli import main; main()"
    )
    for arguments, extra in (
        (["team", "run"], "'officellm[team]'"),
        (["board", "tasks"], "'officellm[team]'"),
        (["mcp", "--as", "a"], "'officellm[team,mcp]'"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert re.match("error: this needs the package (sqlalchemy|mcp): pip install ", done.stderr)
        assert extra in done.stderr
