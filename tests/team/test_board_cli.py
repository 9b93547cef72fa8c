"""`officellm board` as a person meets it: every command, as lines and as JSON, and what it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import click.testing
import pytest

from officellm.cli import exit_code_of, main
from officellm_team.board import deliveries
from officellm_team.board.caller import Caller
from officellm_team.board.store import Board
from officellm_team.tools.subjects import all_tools

HOSTILE = "a\x1b[2J\x1b]0;owned\x07b\nc\r\x9b31md\u202ee\u2028f\x00"[:-1]  # PostgreSQL stores no NUL, nor do we
ID = r"[0-9a-f]{8}-[0-9a-f-]{27}"


class Terminal:
    """Runs commands on one board, and refuses to be driven by what they print."""

    def __init__(self, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.board = Board(url)
        self._url = url
        self._capsys = capsys
        self.tool("agent_register", as_="worker", role="does work")

    def tool(self, name: str, /, as_: str = "boss", **arguments):
        return all_tools()[name].run(self.board, Caller(as_), arguments)

    def run(self, *arguments: str, place: bool = True) -> tuple[int, str, str]:
        where = ["--board", self._url] if place else []
        code = exit_code_of(lambda: main.main(["board", *where, *arguments], standalone_mode=False))
        said = self._capsys.readouterr()
        for text in (said.out, said.err):
            assert all(character.isprintable() or character == "\n" for character in text), repr(text)
        return code, said.out, said.err

    def lines(self, *arguments: str) -> list[str]:
        code, out, err = self.run(*arguments)
        assert (code, err) == (0, "")
        return out.splitlines()

    def json(self, *arguments: str):
        code, out, err = self.run(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    def kill(self) -> int:
        """The next delivery is given up."""
        (taken,) = deliveries.claim(
            self.board, runner="r", agents=["worker"], kinds=["task_assigned", "hint"], lease_seconds=60
        )
        deliveries.bury(self.board, taken.id, taken.token, "the model is\x1b[31m gone")
        return taken.id


@pytest.fixture
def terminal(board_url, capsys):
    made = Terminal(board_url, capsys)
    yield made
    made.board.close()


def test_an_empty_board_is_said_to_be_empty(terminal):
    for command in (["tasks"], ["notifications"], ["memories", "x"]):
        assert terminal.lines(*command) == ["none"]
    assert terminal.lines("deliveries") == ["none", "0 queued, 0 leased, 0 done, 0 dead"]


def test_a_task_is_added_given_away_shown_and_cancelled(terminal):
    added = dict(
        line.split(": ", 1) for line in terminal.lines("add", "Tide pools", "-d", "Look.", "--priority", "high")
    )
    assert (added["title"], added["state"], added["created_by"]) == ("Tide pools", "pending", "operator")
    id = added["id"]
    assert terminal.lines("tasks") == [f"{id}  pending    Tide pools"]
    assert "state: in_progress" in terminal.lines("assign", id, "worker")
    assert terminal.lines("tasks", "--state", "in_progress", "--owner", "worker") == [
        f"{id}  in_progress  worker  Tide pools"
    ]
    assert "description: Look." in terminal.lines("show", id[:8])
    assert "state: cancelled" in terminal.lines("cancel", id, "--reason", "too late")
    changes = [line.split()[1:] for line in terminal.lines("history", id)]
    assert [change[1:] for change in changes if change[0] == "task_state"][:2] == [
        ["operator", "in_progress", "cancelled"],
        ["operator", "pending", "in_progress"],
    ]
    assert terminal.json("show", id)["metadata"] == {"reason": "too late"}


def test_a_task_with_a_parent_and_needs_stands_in_a_tree(terminal):
    root = terminal.json("add", "Root")["id"]
    part = terminal.tool("task_create", title="Part", parent_task_id=root, as_="operator")["id"]
    need = terminal.json("add", "Need")["id"]
    lines = terminal.lines("add", "Leaf", "--parent", part, "--needs", need, "--due", "2030-01-01T00:00:00Z")
    assert any(line.startswith("due_at: 2030-01-01") for line in lines)
    assert any(need in line for line in lines if line.startswith("waiting_for"))
    shown = terminal.lines("tree", root[:8])
    assert [re.sub(ID, "ID", line) for line in shown if "Root" in line or "Leaf" in line] == [
        "ID  pending  Root",
        "    ID  pending  Leaf",
    ]
    assert len(terminal.lines("tree", root, "--depth", "1")) < len(shown)
    assert terminal.json("tree", root)["tree"]["id"] == root


def test_a_task_that_is_added_with_an_agent_wakes_it(terminal):
    terminal.lines("add", "Tide pools", "--assign", "worker")
    (line, counts) = terminal.lines("deliveries", "--state", "queued")
    assert line.split()[1:] == ["queued", "worker", "task_assigned", "0"]
    assert counts == "1 queued, 0 leased, 0 done, 0 dead"
    found = terminal.json("deliveries")
    assert (found["deliveries"][0]["kind"], found["counts"]["queued"]) == ("task_assigned", 1)


def test_json_is_asked_for_before_or_behind_the_command(terminal):
    assert json.loads(terminal.run("--json", "agents")[1]) == json.loads(terminal.run("agents", "--json")[1])


def test_agents_and_memories_are_listed(terminal):
    (line,) = terminal.lines("agents")
    assert line.startswith("worker  active  does work  20")
    assert terminal.json("agents")["agents"][0]["agent_id"] == "worker"
    terminal.tool("memory_write", as_="worker", type="note", title="Tide pools", content="Shallow " + "x" * 500)
    (line,) = terminal.lines("memories", "shallow", "-k", "3", "--agent", "worker")
    assert "note  worker  Tide pools  Shallow xxx" in line
    assert line.endswith("...")
    assert terminal.json("memories", "shallow")["results"][0]["content"].endswith("xxx")


def test_notifications_are_those_of_who_asks(terminal):
    id = terminal.json("add", "Tide pools", "--assign", "worker")["id"]
    terminal.tool("task_update", as_="worker", task_id=id, state="completed")
    (line,) = terminal.lines("notifications")
    assert "task_completed  worker" in line
    assert id in line
    assert terminal.json("--as", "boss", "notifications")["count"] == 0
    terminal.tool("notifications_ack_all", as_="operator")
    assert terminal.lines("notifications") == ["none"]
    assert len(terminal.lines("notifications", "--all")) == 1


def test_a_dead_letter_is_queued_again_and_a_failed_task_is_tried_again(terminal):
    task = terminal.json("add", "Tide pools", "--assign", "worker")["id"]
    number = terminal.kill()
    (line, _) = terminal.lines("deliveries", "--state", "dead")
    assert line.endswith("the model is [31m gone")
    again = terminal.json("retry", str(number))
    assert (again["state"], again["id"] != number) == ("queued", True)
    terminal.kill()
    (second,) = terminal.json("tasks", "--state", "failed", "--limit", "1")["tasks"]
    assert (second["attempt"], second["id"] != task) == (2, True)
    assert "attempt: 3" in terminal.lines("retry", second["id"])
    terminal.tool("notify", agent_id="worker", kind="hint")
    assert terminal.lines("retry", str(kill_hint(terminal)))[1] == "state: queued"


def kill_hint(terminal: Terminal) -> int:
    (taken,) = deliveries.claim(terminal.board, runner="r", agents=["worker"], kinds=["hint"], lease_seconds=60)
    deliveries.bury(terminal.board, taken.id, taken.token, "no")
    return taken.id


def test_what_others_wrote_never_drives_the_terminal(terminal):
    task = terminal.tool("task_create", title=HOSTILE, description=HOSTILE, metadata={HOSTILE: HOSTILE})
    terminal.tool("task_assign", task_id=task["id"], owner_agent="worker")
    terminal.tool("agent_register", as_="evil", role=HOSTILE)
    terminal.tool("memory_write", as_="worker", type="note", title=HOSTILE, content=f"tide {HOSTILE}")
    terminal.tool("notify", agent_id="worker", kind="hint", payload={"a": HOSTILE})
    commands: list[list[str]] = [
        ["tasks"],
        ["show", task["id"]],
        ["tree", task["id"]],
        ["agents"],
        ["memories", "tide"],
        ["deliveries"],
        ["history", task["id"]],
        ["--as", "worker", "notifications"],
    ]
    for command in commands:
        lines = terminal.lines(*command)  # looks at each character
        assert not any(re.match(r"[cf]\b", line) for line in lines), lines
        terminal.json(*command)
    assert terminal.json("show", task["id"])["title"] == HOSTILE
    code, _, err = terminal.run("assign", task["id"], HOSTILE)
    assert code == 1
    assert len(err.splitlines()) == 1


NOWHERE = "00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["show", "nope"], 1, "task 'nope' is not on the board"),
        (["tree", "nope"], 1, "task 'nope' is not on the board"),
        (["assign", NOWHERE, "worker"], 1, "is not on the board"),
        (["cancel", "nope"], 1, "task 'nope' is not on the board"),
        (["retry", "nope"], 1, "task 'nope' is not on the board"),
        (["retry", "77"], 1, "delivery '77' is not on the board"),
        (["retry", "²"], 1, "task '²' is not on the board"),
        (["retry", "9" * 5000], 1, "is not on the board"),
        (["history", "nope"], 1, "'nope' is not on the board"),
        (["add", "x", "--assign", "worcer"], 1, "agent 'worcer' is not registered. Did you mean 'worker'?"),
        (["add", "x", "--parent", "nope"], 1, "'nope' is not on the board"),
        (["add", "x", "--needs", "nope"], 1, "'nope' is not on the board"),
        (["add", "x", "--due", "soon"], 1, "soon"),
        (["add", ""], 1, "title"),
        (["tasks", "--state", "bad"], 1, "state 'bad' is unknown"),
        (["memories", " "], 1, "query"),
        (["add", "x", "--priority", "urgent"], 2, "'urgent' is not one of"),
        (["deliveries", "--state", "bad"], 2, "'bad' is not one of"),
        (["tasks", "--limit", "0"], 2, "0 is not in the range"),
        (["tasks", "--limit", "9" * 30], 2, "is not in the range"),
        (["wrong"], 2, "wrong"),
        (["show"], 2, "TASK_ID"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else "",
)
def test_refusals_name_the_thing_and_change_nothing(terminal, arguments, code, message):
    found, out, err = terminal.run(*arguments)
    assert (found, out) == (code, "")
    assert message in err
    assert terminal.tool("task_list")["count"] == 0


def test_an_illegal_change_says_what_is_legal(terminal):
    id = terminal.json("add", "x")["id"]
    terminal.lines("cancel", id)
    code, _, err = terminal.run("assign", id, "worker")
    assert (code, f"task '{id}' is cancelled" in err) == (1, True), err
    code, _, err = terminal.run("retry", terminal.json("add", "y")["id"])
    assert (code, "pending" in err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tasks"], "there is no board at board.db"),
        (["--board", "nowhere/b.db", "tasks"], "there is no board at nowhere/b.db"),
        (["--board", "mysql://x/y", "tasks"], "board mysql://x/y"),
        (["--board", "postgresql://u:s3cret@127.0.0.1:1/x", "tasks"], "board postgresql://u:***@127.0.0.1:1/x"),
        (["--team", "none.yaml", "tasks"], "none.yaml"),
    ],
    ids=["none", "elsewhere", "no database of ours", "unreachable", "no team file"],
)
def test_without_a_board_nothing_is_made(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    code = exit_code_of(lambda: main.main(["board", *arguments], standalone_mode=False))
    err = capsys.readouterr().err
    assert code == 2
    assert message in err
    assert "s3cret" not in err
    assert list(tmp_path.iterdir()) == []


def test_help_needs_no_board(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in ([], ["tasks"], ["add"], ["retry"]):
        done = click.testing.CliRunner().invoke(main, ["board", *command, "--help"], standalone_mode=False)
        assert done.exception is None
        assert "Usage:" in done.output


def test_the_board_is_the_team_files(tmp_path, monkeypatch, capsys, sqlite_template):
    monkeypatch.chdir(tmp_path)
    place: Callable[[str], Path] = (tmp_path / "team").joinpath
    place("").mkdir()
    place("work.db").write_bytes(sqlite_template.read_bytes())
    text = "providers: {ollama: {}}\nagents: [{name: a, model: 'ollama:m', system_prompt: x}]\nboard: work.db\n"
    place("team.yaml").write_text(text)
    code = exit_code_of(
        lambda: main.main(["board", "--team", "team/team.yaml", "add", "Here", "--json"], standalone_mode=False)
    )
    assert (code, json.loads(capsys.readouterr().out)["title"]) == (0, "Here")
    monkeypatch.chdir(place(""))
    assert exit_code_of(lambda: main.main(["board", "tasks"], standalone_mode=False)) == 0
    assert "Here" in capsys.readouterr().out
