"""`officellm team`: real processes on a real board, with the model faked over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from sqlalchemy import update

from officellm.testing import FakeLLM, call, calls, fault, reply, rule
from officellm_team.board import deliveries
from officellm_team.board.caller import Caller
from officellm_team.board.store import Board
from officellm_team.board.tables import DELIVERIES, NOTIFICATIONS
from officellm_team.tools.subjects import all_tools

TEAM = """
providers: {{fake: {{format: openai_compat, base_url: "{url}", api_key_env: FAKE_KEY}}}}
agents:
  - {{name: worker, provider: fake, model: m, system_prompt: You work, role: generalist}}
  - {{name: helper, provider: fake, model: m, system_prompt: You help, role: generalist}}
orchestrator:
  notification_kinds: [task_assigned, handoff]
  poll_interval_seconds: 0.2
  dispatch_limits: {{provider_retries: 0, max_seconds: 20}}
"""


def task_of(heard) -> str:
    return re.search(r"The task ([0-9a-f-]{36})", heard.task)[1]


def closing(heard):
    """Looks up, writes down, closes: what an agent does with a task."""
    match heard.turns:
        case 0:
            return calls(
                call("memory_search", query="tide pools"),
                call("memory_write", type="note", title="Tide pools", content="They are shallow."),
            )
        case 1:
            return call("task_update", task_id=task_of(heard), state="completed")
    return "Done."


class Place:
    """A folder with a team, its board, and what a person does at it."""

    def __init__(self, folder: Path, board_url: str, llm: FakeLLM) -> None:
        self.folder = folder
        self.url = board_url
        self.llm = llm
        self.board = Board(board_url)
        (folder / "team.yaml").write_text(TEAM.format(url=llm.openai_url))
        for name in ("boss", "worker", "helper"):
            self.tool("agent_register", as_=name)

    def tool(self, name: str, /, as_: str = "boss", **arguments):
        return all_tools()[name].run(self.board, Caller(as_), arguments)

    def give(self, title: str, owner: str = "worker") -> str:
        task = self.tool("task_create", title=title)
        self.tool("task_assign", task_id=task["id"], owner_agent=owner)
        return task["id"]

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "officellm", "team", "run", "--board", self.url, *arguments]

    def work(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command("--once", *arguments), cwd=self.folder, capture_output=True, text=True, timeout=60, check=False
        )

    @contextlib.contextmanager
    def started(self) -> Iterator[subprocess.Popen[str]]:
        """A team at work, from the moment that it listens to signals; killed if it is still there at the end."""
        with subprocess.Popen(
            self.command(), cwd=self.folder, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as runner:
            try:
                while "waiting for" not in (line := runner.stderr.readline()):
                    assert line, "the team did not start"
                yield runner
            finally:
                runner.kill()

    def state(self, task: str) -> str:
        return self.tool("task_get", task_id=task)["state"]

    def heard(self) -> list[str]:
        return [one["kind"] for one in self.tool("notifications_poll")["notifications"]]


@pytest.fixture
def place(board_url, tmp_path):
    with contextlib.ExitStack() as stack:

        def make(*replies) -> Place:
            llm = stack.enter_context(FakeLLM.in_thread(list(replies)))
            made = Place(tmp_path, board_url, llm)
            stack.callback(made.board.close)
            return made

        yield make


def wait_for(what, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def test_work_is_done_and_its_creator_hears_of_it(place):
    at = place(rule(closing, by="order"))
    task = at.give("Tide pools")
    done = at.work()
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"  \[worker\] notif=\d+ terminal=success turns=3 tool_calls=3 elapsed=\d\.\ds\n", done.stdout)
    assert (at.state(task), at.heard()) == ("completed", ["task_completed"])
    assert at.tool("memory_search", as_="worker", query="shallow")["count"] == 1
    assert {one["status"] for one in at.tool("agent_list")["agents"] if one["agent_id"] != "boss"} == {"offline"}


async def test_the_quickstart_from_init_to_a_client_that_reads_the_result(board_url, tmp_path, monkeypatch):
    async def run(*arguments: str) -> int:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "officellm", *arguments, cwd=tmp_path, stdout=asyncio.subprocess.DEVNULL
        )
        return await process.wait()

    with FakeLLM.in_thread([rule(closing, by="order")]) as llm:
        assert await run("team", "init") == 0
        file = tmp_path / "team.yaml"
        text = file.read_text().replace(
            "http://localhost:1234/v1/chat/completions", f"{llm.openai_url}/chat/completions"
        )
        file.write_text(text.replace("board: board.db", f"board: {board_url!r}"))
        assert await run("team", "check") == 0
        team = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "officellm", "team", "run", cwd=tmp_path, stdout=asyncio.subprocess.DEVNULL
        )
        try:
            server = StdioServerParameters(
                command=sys.executable, args=["-m", "officellm", "mcp", "--as", "alice", "--no-agents"], cwd=tmp_path
            )
            async with asyncio.timeout(40), Client(stdio_client(server)) as client:

                async def tool(name: str, **arguments):
                    result = await client.call_tool(name, arguments)
                    assert not result.is_error, result
                    return result.structured_content

                await tool("agent_register")
                while (await tool("agent_list"))["count"] < 2:  # noqa: ASYNC110 - another process has no event of ours
                    await asyncio.sleep(0.1)
                task = await tool("task_create", title="Tide pools")
                await tool("task_assign", task_id=task["id"], owner_agent="local-agent")
                while (await tool("task_get", task_id=task["id"]))["state"] != "completed":  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
                kinds = [one["kind"] for one in (await tool("notifications_poll"))["notifications"]]
            assert kinds == ["task_completed"]
        finally:
            team.send_signal(signal.SIGTERM)
            assert await team.wait() == 0


def test_an_agent_that_forgets_to_close_its_task_is_asked_once_and_then_the_task_has_failed(place):
    at = place(rule(reply("I am done.", repeat=True)))
    task = at.give("Tide pools")
    done = at.work()
    assert "terminal=not_closed turns=2" in done.stdout, done.stderr
    shown = at.tool("task_get", task_id=task)
    assert (shown["state"], shown["metadata"]["dispatch_terminal"]) == ("failed", "not_closed")
    assert at.heard() == ["task_failed"]


def test_a_limit_fails_the_task_with_the_reason(place):
    at = place(rule(reply(calls=[call("memory_search", query="x")], repeat=True)))
    task = at.give("Tide pools")
    assert "terminal=loop_detected" in at.work().stdout
    shown = at.tool("task_get", task_id=task)
    assert (shown["state"], shown["metadata"]["dispatch_terminal"]) == ("failed", "loop_detected")
    assert at.heard() == ["task_failed"]


def test_a_provider_that_is_down_is_asked_ever_less_often(place):
    at = place(rule(*[fault("500")] * 9, by="order"))
    task = at.give("Tide pools")
    with at.started() as runner:
        wait_for(lambda: deliveries.counts(at.board)["queued"] == 1 and at.llm.requests)
        (queued,) = deliveries.listing(at.board, "queued")
        assert queued["attempts"] == 1
        assert "500" in queued["last_error"]
        time.sleep(0.2)  # a poll: it does not ask
        assert len(at.llm.requests) == 1
        runner.send_signal(signal.SIGTERM)
        assert runner.wait(30) == 0
    assert at.state(task) == "in_progress"


def test_work_that_nobody_wants_any_more_costs_no_token(place):
    at = place(rule(closing, by="order"))
    task = at.give("Tide pools")
    at.tool("task_update", task_id=task, state="cancelled")
    assert at.work().returncode == 0
    assert at.llm.requests == []
    assert at.heard() == []


def test_a_poison_payload_is_put_aside_alone(place):
    at = place(rule(closing, by="order"))
    at.tool("notify", agent_id="worker", kind="handoff", payload={"a": 1})
    with at.board.write() as connection:
        connection.execute(update(NOTIFICATIONS).values(payload="[1"))
    task = at.give("Tide pools")
    done = at.work()
    assert done.returncode == 0, done.stderr
    assert "terminal=poison" in done.stdout
    assert at.state(task) == "completed"
    assert deliveries.counts(at.board)["dead"] == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_the_team_in_order(place, number, code):
    at = place(rule(reply("slow", latency=0.2), closing, closing, by="order"))
    at.give("Tide pools")
    with at.started() as runner:
        wait_for(lambda: at.llm.requests)
        runner.send_signal(number)
        assert runner.wait(20) == code
    agents = {one["agent_id"]: one["status"] for one in at.tool("agent_list")["agents"]}
    assert agents["helper"] == agents["worker"] == "offline"
    assert deliveries.counts(at.board)["leased"] == 0


def test_a_second_signal_ends_it_at_once(place):
    at = place(rule(reply("slow", latency=30.0, repeat=True)))
    at.give("Tide pools")
    with at.started() as runner:
        wait_for(lambda: at.llm.requests)
        runner.send_signal(signal.SIGTERM)
        assert "once more stops at once" in runner.stderr.readline()
        runner.send_signal(signal.SIGTERM)
        assert runner.wait(20) == 130


def test_a_killed_process_leaves_work_that_another_does_once_its_lease_is_over(place):
    at = place(rule(reply("slow", latency=60.0), closing, closing, closing, by="order"))
    task = at.give("Tide pools")
    with at.started() as killed:
        wait_for(lambda: at.llm.requests)
        killed.kill()
    (leased,) = deliveries.listing(at.board, "leased")
    with at.board.write() as connection:  # as if its minute had passed
        connection.execute(update(DELIVERIES).where(DELIVERIES.c.id == leased["id"]).values(lease_expires_at=1.0))
    done = at.work()
    assert "terminal=" in done.stdout, done.stderr
    assert at.state(task) in ("completed", "failed")


def test_a_file_that_is_read_again_brings_new_agents(place):
    at = place(rule(closing, by="order"))
    with at.started() as runner:
        file = at.folder / "team.yaml"
        file.write_text(file.read_text().replace("name: helper", "name: newcomer"))
        runner.send_signal(signal.SIGHUP)
        wait_for(lambda: "newcomer" in [one["agent_id"] for one in at.tool("agent_list")["agents"]])
        task = at.give("Tide pools", "newcomer")
        wait_for(lambda: at.state(task) == "completed")
        runner.send_signal(signal.SIGTERM)
        assert runner.wait(30) == 0


@pytest.mark.parametrize(
    ("arguments", "code", "out", "err"),
    [
        (["init"], 0, "wrote team.yaml", ""),
        (["init", "nowhere/team.yaml"], 1, "", "cannot be written"),
        (["check"], 1, "", "team file not found: team.yaml"),
        (["run"], 1, "", "officellm team init team.yaml"),
        (["wrong"], 2, "", "wrong"),
        ([], 1, "", "team file not found"),
    ],
)
def test_commands_and_exit_codes_of_the_reference(tmp_path, arguments, code, out, err):
    done = subprocess.run(
        [sys.executable, "-m", "officellm", "team", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert out in done.stdout
    assert err in done.stderr
    assert "Traceback" not in done.stderr


def test_init_never_overwrites_and_check_names_doubts(tmp_path):
    def team(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "officellm", "team", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False)

    assert team("init").returncode == 0
    again = team("init")
    assert (again.returncode, again.stderr) == (1, "refusing to overwrite existing team.yaml\n")
    checked = team("check")
    assert (checked.returncode, checked.stdout) == (0, "team.yaml: ok (1 agent(s), 1 provider(s))\n"), checked.stderr
    text = (tmp_path / "team.yaml").read_text()
    (tmp_path / "team.yaml").write_text(
        text.replace("role: generalist", "role: generalist\n    tools: [memory_delete]")
    )
    doubtful = team("check")
    assert doubtful.returncode == 0
    assert "may call tools that are off by default: memory_delete" in doubtful.stderr
    assert "has no task_update: it cannot close its tasks" in doubtful.stderr
    (tmp_path / "team.yaml").write_text(text.replace("model: local-model", "modell: x"))
    broken = team("check")
    assert broken.returncode == 1
    assert "problem" in broken.stderr
    assert "modell" in broken.stderr
