"""Many runners on one board: each delivery is worked by one at a time and done once, whoever dies or dawdles."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
import threading
from collections import Counter

import pytest
from sqlalchemy import func, select

from officellm_team.board import deliveries
from officellm_team.board.errors import BoardError
from officellm_team.board.tables import DELIVERIES

KINDS = ("task_assigned", "handoff", "hint")
LEASE = 60.0
SETTLE = {
    "finish": lambda board, one: deliveries.finish(board, one.id, one.token, "success"),
    "retry_later": lambda board, one: deliveries.retry_later(board, one.id, one.token, "down", 5.0),
    "release": lambda board, one: deliveries.release(board, one.id, one.token),
}
pytestmark = pytest.mark.usefixtures("team")


class Crew:
    """Threads that claim and then finish, fail, give back, dawdle or die, while the clock runs."""

    def __init__(self, board, clock, seed, per_agent):
        self.board, self.clock, self.seed, self.per_agent = board, clock, seed, per_agent
        self.lock = threading.Lock()
        self.leases, self.done, self.errors = Counter(), Counter(), []

    def work(self, number):
        dice = random.Random(self.seed * 100 + number)
        try:
            while deliveries.counts(self.board)["done"] < self.total and not self.errors:
                self.step(dice, f"runner {number}")
        except Exception as error:  # noqa: BLE001 - shown by the test
            self.errors.append(error)

    def step(self, dice, runner):
        with self.lock:
            self.clock.advance(dice.choice((0.0, 0.0, LEASE / 3)))
        claimed = deliveries.claim(
            self.board,
            runner=runner,
            agents=["builder", "reviewer"],
            kinds=KINDS,
            lease_seconds=LEASE,
            limit=dice.randint(1, 3),
            per_agent=self.per_agent,
        )
        self.check()
        for one in claimed:
            with self.lock:
                self.leases[one.id, one.token] += 1
            if dice.random() < 0.2:
                deliveries.renew(self.board, one.id, one.token, LEASE)
            how = dice.choices(("finish", "retry_later", "release", "crash"), (6, 1, 1, 2))[0]
            if how == "crash":
                continue
            try:
                SETTLE[how](self.board, one)
                if how == "finish":
                    with self.lock:
                        self.done[one.id] += 1
            except BoardError as error:
                if error.code != "stale_lease":
                    raise

    def check(self):
        live = DELIVERIES.c.state == "leased"
        with self.board.read() as connection:
            for column, most in ((DELIVERIES.c.task_id, 1), (DELIVERIES.c.agent_id, self.per_agent or 99)):
                counted = select(column, func.count()).where(live, column.is_not(None)).group_by(column)
                assert all(count <= most for _, count in connection.execute(counted))

    def run(self, threads):
        self.total = sum(deliveries.counts(self.board).values())
        crew = [threading.Thread(target=self.work, args=[number]) for number in range(threads)]
        for one in crew:
            one.start()
        for one in crew:
            one.join()
        assert self.errors == []


@pytest.mark.parametrize("per_agent", [2, None], ids=["capped", "free"])
@pytest.mark.parametrize("seed", [1, 2])
def test_among_many_runners_that_die_each_delivery_is_done_once_and_none_is_lost(
    board, clock, tools, create, seed, per_agent
):
    for number in range(12):
        owner, priority = ("builder", "reviewer")[number % 2], ("low", "medium", "high")[number % 3]
        task = create(assign=owner, priority=priority)
        tools("memory_handoff", as_="planner", to_agent="builder", task="look", task_id=task)
        tools("notify", as_="planner", agent_id="reviewer", kind="hint")
    crew = Crew(board, clock, seed, per_agent)
    crew.run(4)
    assert set(crew.done.values()) == {1}
    assert len(crew.done) == crew.total == 36
    assert set(crew.leases.values()) == {1}, "one token was given out twice"


_CLAIMER = """
    import sys
    from officellm_team.board import deliveries
    from officellm_team.board.store import Board

    board = Board(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.readline()
    while claimed := deliveries.claim(
        board, runner=sys.argv[2], agents=["builder"], kinds=["hint"], lease_seconds=600.0, limit=3
    ):
        for one in claimed:
            deliveries.finish(board, one.id, one.token, "success")
            print(one.id, flush=True)
"""


def test_four_processes_share_two_hundred_deliveries_and_none_gets_one_twice(board_url, tools):
    sent = {
        tools("notify", as_="planner", agent_id="builder", kind="hint", payload={"n": number})["notification_id"]
        for number in range(200)
    }
    code = textwrap.dedent(_CLAIMER)
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, board_url, f"runner {number}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for one in running:
        assert one.stdout.readline() == "ready\n", one.stderr.read()
    for one in running:
        one.stdin.write("go\n")
        one.stdin.flush()
    said = [one.communicate(timeout=60) for one in running]
    assert [(one.returncode, errors) for one, (_, errors) in zip(running, said, strict=True)] == [(0, "")] * 4
    finished = [int(id) for output, _ in said for id in output.split()]
    assert Counter(finished) == dict.fromkeys(sent, 1)
