"""Runner processes that are killed at any moment: all work comes to its end, none is done by two at once.

In the default run 60 tasks; with OFFICELLM_LONG=1 as many as 500. The counts are printed either way.
"""

from __future__ import annotations

import collections
import os
import random
import re
import subprocess
import sys
import threading
import time

import pytest

from officellm.testing import FakeLLM, call, reply, rule
from officellm_team.board import deliveries
from officellm_team.board.caller import Caller
from officellm_team.board.store import Board
from officellm_team.tools.subjects import all_tools

LONG = os.environ.get("OFFICELLM_LONG") == "1"
TASKS, KILLS, MINUTES = (500, 25, 15) if LONG else (60, 4, 1.5)
RUNNERS = 3
LEASE = 3.0

TEAM = """
providers: {{fake: {{format: openai_compat, base_url: "{url}", api_key_env: FAKE_KEY}}}}
agents:
  - {{name: worker, provider: fake, model: m, system_prompt: You work, tools: [memory_write, task_update]}}
  - {{name: helper, provider: fake, model: m, system_prompt: You help, tools: [memory_write, task_update]}}
orchestrator:
  notification_kinds: [task_assigned]
  poll_interval_seconds: 0.5
  max_concurrent_dispatches: 2
  dispatch_limits: {{provider_retries: 0}}
"""


class Model:
    """Works each task in three turns, and notes where a conversation goes on although a newer one began."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.begun: dict[str, list[int]] = collections.defaultdict(list)
        self.overlaps: list[str] = []
        self.numbers = 0

    def __call__(self, heard):
        task = re.search(r"The task ([0-9a-f-]{36})", heard.task)[1]
        with self.lock:
            if heard.turns == 0:
                self.numbers += 1
                self.begun[task].append(self.numbers)
                text = f"conversation {self.numbers}"
                return reply(text, calls=[call("memory_write", type="note", content=text)], latency=0.05)
            first = next(one.text for one in heard.said if one.role == "assistant")
            mine = int(re.match(r"conversation (\d+)", first)[1])
            if mine != self.begun[task][-1]:
                self.overlaps.append(task)
        if heard.turns == 1:
            return reply(calls=[call("task_update", task_id=task, state="completed")], latency=0.05)
        return reply("Done.", latency=0.05)


class Crew:
    """Runner processes on one board."""

    def __init__(self, folder, board_url: str) -> None:
        self.folder = folder
        self.arguments = ["team", "run", "--quiet", "--board", board_url, "--lease", str(LEASE)]
        self.alive: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        command = [sys.executable, "-m", "officellm", *self.arguments]
        self.alive.append(subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL))

    def kill(self, one: subprocess.Popen[bytes]) -> None:
        one.kill()
        one.wait()
        self.alive.remove(one)

    def end(self) -> None:
        for one in self.alive:
            one.terminate()
        assert [one.wait(60) for one in self.alive] == [0] * len(self.alive)


@pytest.fixture
def crew(tmp_path, board_url):
    made = Crew(tmp_path, board_url)
    yield made
    for one in list(made.alive):
        made.kill(one)


def leaseholders(board: Board) -> set[str]:
    """Process ids: a runner is called `host-pid-random`."""
    return {one["leased_by"].rsplit("-", 2)[1] for one in deliveries.listing(board, "leased", TASKS)}


def kill_in_the_midst(board: Board, crew: Crew, dice: random.Random, due: int) -> bool:
    """Kill a process that has work in hand, once so many deliveries are done; False where it is too early."""
    if deliveries.counts(board, kinds=["task_assigned"])["done"] < due:
        return False
    time.sleep(dice.random() * 0.1)
    holders = leaseholders(board)
    busy = [one for one in crew.alive if str(one.pid) in holders]
    if not busy:
        return False
    crew.kill(dice.choice(busy))
    crew.start()
    return True


@pytest.mark.timeout(MINUTES * 60 + 60)
def test_work_of_killed_processes_is_done_by_others_and_never_by_two_at_once(tmp_path, board_url, crew, capsys):
    dice, model, killed, begun = random.Random(5), Model(), 0, time.monotonic()
    board = Board(board_url)

    def tool(name: str, /, **arguments):
        return all_tools()[name].run(board, Caller("boss"), arguments)

    for name in ("boss", "worker", "helper"):
        all_tools()["agent_register"].run(board, Caller(name), {})
    with FakeLLM.in_thread([rule(model, by="order")]) as llm:
        (tmp_path / "team.yaml").write_text(TEAM.format(url=llm.openai_url))
        tasks = [tool("task_create", title=f"task {number}")["id"] for number in range(TASKS)]
        for number, task in enumerate(tasks):
            tool("task_assign", task_id=task, owner_agent=("worker", "helper")[number % 2])
        for _ in range(RUNNERS):
            crew.start()
        while (counts := deliveries.counts(board, kinds=["task_assigned"]))["done"] + counts["dead"] < TASKS:
            assert time.monotonic() - begun < MINUTES * 60, counts
            if killed < KILLS:
                killed += kill_in_the_midst(board, crew, dice, due=TASKS * killed // (KILLS + 1) + 1)
            time.sleep(0.05)
        crew.end()
        assert llm.refusals == []
    states = collections.Counter(tool("task_get", task_id=task)["state"] for task in tasks)
    with board.read() as connection:
        sent = connection.exec_driver_sql(
            "SELECT task_id, count(*) FROM deliveries WHERE agent_id = 'boss' AND kind = 'task_completed' GROUP BY 1"
        )
        told = {row[0]: row[1] for row in sent}
    board.close()
    again = sum(len(conversations) - 1 for conversations in model.begun.values())
    with capsys.disabled():
        print(
            f"\n{board_url.partition(':')[0] if '://' in board_url else 'sqlite'}: {TASKS} tasks, {killed} kills, "
            f"{dict(states)}, {model.numbers} dispatches ({again} begun again), {len(model.overlaps)} overlaps, "
            f"{len(told)} creators' notifications, {len(llm.requests)} requests, {time.monotonic() - begun:.1f} s"
        )
    assert killed == KILLS
    assert model.overlaps == []
    assert states == {"completed": TASKS}
    assert told == dict.fromkeys(tasks, 1)
    assert counts == {"queued": 0, "leased": 0, "done": TASKS, "dead": 0}
