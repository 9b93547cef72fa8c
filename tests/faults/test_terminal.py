"""What models, tools and servers write must not drive a terminal, nor break the lines that a program reads."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest

from officellm.testing import FakeLLM, call, fault, reply, rule

from .scenes import WIRES, providers

EVIL = (
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b31m \x9d0;title\x9c \u202eevil\u202c NUL\x00 bell\x07 del\x7f back\b\b "
    "return\rover \x1bP1;1|x\x1b\\ \x0e line\u2028separator next\x85line end"
)
# All but tab, the line break, and the two characters that our own drawing uses.
OBEYED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\x1b[]PX^_]|\x1b\\[31m")
TOOLS = '''
from officellm import tool

@tool
def echo(x: str) -> str:
    """Fail."""
    raise ValueError(x)
'''


@pytest.fixture
def place(tmp_path):
    """A folder with tools; `place(llm, wire)` writes the team file into it."""
    (tmp_path / "echo_tools.py").write_text(TOOLS)

    def write(llm, wire):
        agent = {"name": "a", "model": "p:m", "tools": ["echo"]}
        team = {
            "providers": providers(llm, wire),
            "agents": [agent],
            "tools": {"modules": ["echo_tools"]},
            "limits": {"provider_retries": 0},
        }
        (tmp_path / "team.json").write_text(json.dumps(team))
        return tmp_path

    return write


def command(*options):
    return [sys.executable, "-m", "officellm", "run", "--team", "team.json", "--text", "go", *options]


def on_a_terminal(folder, *options):
    """What a terminal gets from both streams."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
    done = subprocess.Popen(command(*options), cwd=folder, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    got = b""
    try:
        while piece := os.read(ours, 65536):
            got += piece
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(ours)
    done.wait(timeout=30)
    return got.decode("utf-8", "replace")


def script():
    return [rule(reply(EVIL, calls=[call("echo", x=EVIL), call(EVIL[:40], y=EVIL)]), reply(EVIL))]


@pytest.mark.parametrize("options", [(), ("--json",), ("--events",), ("--stream",), ("--quiet",)], ids=" ".join)
def test_no_word_of_a_model_is_obeyed_by_a_terminal(place, options):
    with FakeLLM.in_thread(script()) as llm:
        shown = on_a_terminal(place(llm, "openai"), *options)
    assert "red" in shown
    assert OBEYED.findall(shown) == []


@pytest.mark.parametrize("options", [(), ("--json",), ("--events",)], ids=["plain", "json", "events"])
def test_no_word_of_a_servers_error_is_obeyed_by_a_terminal(place, options):
    with FakeLLM.in_thread([fault("401", message=EVIL)]) as llm:
        shown = on_a_terminal(place(llm, "openai"), *options)
    assert "evil" in shown
    assert OBEYED.findall(shown) == []


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("mode", ["--json", "--events"])
def test_each_line_is_one_json_value_whatever_counts_as_a_line_break(place, wire, mode):
    with FakeLLM.in_thread(script()) as llm:
        done = subprocess.run(command(mode), cwd=place(llm, wire), capture_output=True, timeout=30)
    assert llm.refusals == []
    lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert len(lines) == done.stdout.count(b"\n")
    assert lines[-1]["content"] == EVIL


def test_nothing_is_left_open_at_the_end(place):
    with FakeLLM.in_thread(script()) as llm:
        run = [sys.executable, "-W", "error", *command("--json")[1:]]
        done = subprocess.run(run, cwd=place(llm, "openai"), capture_output=True, text=True, timeout=30)
    assert "Warning" not in done.stderr
