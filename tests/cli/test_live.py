"""The live view on a terminal, and what a terminal is spared."""

import contextlib
import os
import pty
import re
import signal
import subprocess
import time

import pytest

from officellm.testing import call, reply, rule

ESCAPE = "\x1b"
SCRIPT = [
    rule(call("researcher", task="find"), "All done.", system="boss"),
    rule(reply("found \x1b[2Jit", latency=0.15), system="find facts"),
]


class Terminal:
    """A terminal, and all that was written to it."""

    def __init__(self):
        self._ours, self.theirs = pty.openpty()
        self._seen = b""

    def read(self, process):
        """Everything up to the end of the process."""
        os.close(self.theirs)
        with contextlib.suppress(OSError):  # Linux says EIO when the last writer has gone
            while piece := os.read(self._ours, 65536):
                self._seen += piece
        os.close(self._ours)
        process.wait(timeout=10)
        return self._seen.decode().replace("\r\n", "\n")


def on_terminal(place, *arguments, term="xterm-256color", stdout=subprocess.PIPE, **env):
    """Run with stderr on a terminal; the result and what the terminal showed."""
    place.env |= {"TERM": term, **env}
    terminal = Terminal()
    process = place.start(*arguments, stderr=terminal.theirs, stdout=terminal.theirs if stdout is None else stdout)
    shown = terminal.read(process)
    written = process.stdout.read() if process.stdout else ""
    if process.stdout:
        process.stdout.close()
    return process.returncode, written, shown


def test_a_terminal_sees_a_tree_of_agents_and_stdout_has_only_the_result(office):
    place = office(SCRIPT)
    code, stdout, shown = on_terminal(place, "run", "task.json")
    assert (code, stdout) == (0, "All done.\n")
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert re.match(r"run [0-9a-f]{16}\n", plain)
    assert "Tide pools" in plain
    assert re.search(r"^└── boss  working, turn 1  .*gpt-4.1$", plain, re.M)
    assert re.search(r"^    > researcher\(task='find'\)$", plain, re.M)
    assert re.search(r"^    └── researcher  thinking, turn 1  .*gpt-4.1-mini", plain, re.M)
    assert re.search(r"researcher  success, turn 1  15 tokens", plain)
    assert re.search(r"[\r\n]success: 3 requests, 1 tool call, 45 tokens", plain)


def test_the_view_asks_for_streams_and_cleans_what_models_write(office):
    place = office(SCRIPT)
    _, _, shown = on_terminal(place, "run", "task.json")
    assert {one.stream for one in place.llm.requests} == {True}
    assert f"{ESCAPE}[2J" not in shown


def test_the_cursor_is_shown_again(office):
    _, _, shown = on_terminal(office(SCRIPT), "run", "task.json")
    assert shown.count(f"{ESCAPE}[?25l") == shown.count(f"{ESCAPE}[?25h") == 1


def test_no_color_takes_the_colours_away(office):
    coloured = re.compile(r"\x1b\[[0-9;]*3[0-9]m")
    place = office(SCRIPT)
    assert coloured.search(on_terminal(place, "run", "task.json")[2])
    place.llm.reset()
    assert not coloured.search(on_terminal(place, "run", "task.json", NO_COLOR="1")[2])


@pytest.mark.parametrize(
    ("term", "arguments"), [("dumb", []), ("xterm", ["--quiet"])], ids=["a dumb terminal", "--quiet"]
)
def test_nothing_is_drawn_where_it_is_not_wanted(office, term, arguments):
    code, stdout, shown = on_terminal(office(SCRIPT), "run", "task.json", *arguments, term=term)
    assert (code, stdout) == (0, "All done.\n")
    assert ESCAPE not in shown
    assert ("boss: success after 2 turns" in shown) is (term == "dumb")


def test_an_answer_on_a_terminal_is_cleaned_and_comes_after_the_view(office):
    place = office(["fine \x1b[31mred\x1b]0;title\x07 \x9b2J end"])
    code, _, shown = on_terminal(place, "run", "task.json", stdout=None)
    assert code == 0
    assert shown.endswith(f"{ESCAPE}[?25h\rfine red 2J end\n")


def test_json_lines_on_the_same_terminal_are_not_torn_by_a_view(office):
    place = office(["{task}"])
    place.write("tasks.json", [{"title": "zero"}, {"title": "one"}])
    code, _, shown = on_terminal(place, "run", "tasks.json", stdout=None)
    assert code == 0
    assert ESCAPE not in shown
    assert '\n{"index":1,"success":true,' in shown


def test_ctrl_c_leaves_the_terminal_usable(office):
    place = office([reply("late", latency=30)])
    place.env |= {"TERM": "xterm"}
    terminal = Terminal()
    process = place.start("run", "task.json", "--json", stderr=terminal.theirs)
    deadline = time.monotonic() + 15
    while not place.llm.requests and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    shown = terminal.read(process)
    assert '"stopReason":"cancelled"' in process.stdout.read()
    process.stdout.close()
    assert process.returncode == 130
    assert shown.rfind(f"{ESCAPE}[?25h") > shown.rfind(f"{ESCAPE}[?25l")
