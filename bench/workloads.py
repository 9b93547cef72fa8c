"""One sample in a fresh process: `python workloads.py PEER WORKLOAD URL` prints a JSON line of figures.

tool-loop: 10 tool turns; long-loop: 100 tool turns; manager: three workers one after the other, two tool calls each;
crowd: 100 tool loops at once, each reply after 50 ms (ideal 550 ms).
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any


def script(turns: int) -> str:
    """A tool loop of so many turns."""
    calls = "; ".join(f'call add {{"a": {i}, "b": {i + 1}}}' for i in range(turns))
    return f"Add. SCRIPT: {calls}; say done"


def team_script() -> str:
    """A manager that calls each worker once."""
    calls = []
    for index, name in enumerate(("worker_a", "worker_b", "worker_c")):
        inner = "<sep>".join(f'call add {{"a": {index}, "b": {i}}}' for i in range(2)) + "<sep>say worker done"
        calls.append(f"call {name} {json.dumps({'task': 'SCRIPT: ' + inner})}")
    return f"Coordinate. SCRIPT: {'; '.join(calls)}; say done"


async def measure(work: Callable[[], Awaitable[Any]], runs: int, calls: int) -> dict[str, float]:
    """CPU and wall milliseconds a model call, after a warm-up."""
    for _ in range(3):
        await work()
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(runs):
        await work()
    used, passed = time.process_time() - cpu, time.perf_counter() - wall
    return {"cpu_ms_per_call": used * 1000 / runs / calls, "wall_ms": passed * 1000 / runs}


async def sample(peer: Any, workload: str) -> dict[str, float]:
    """Figures of one workload. Raises `AssertionError` for a wrong answer."""

    async def right(work: Awaitable[str]) -> None:
        assert await work == "done"

    if workload == "tool-loop":
        return await measure(lambda: right(peer.tool_loop(script(10))), 30, 11)
    if workload == "long-loop":
        return await measure(lambda: right(peer.tool_loop(script(100))), 3, 101)
    if workload == "manager":
        return await measure(lambda: right(peer.manager(team_script())), 30, 13)
    prompt = script(10)
    return await measure(lambda: asyncio.gather(*(right(peer.tool_loop(prompt)) for _ in range(100))), 2, 1100)


async def main(name: str, workload: str, url: str) -> None:
    """Build the peer, take the sample, print it."""
    started = time.process_time()
    if name == "floor":
        from floor import Floor as Peer
    else:
        from ours import Ours as Peer  # type: ignore[assignment]
    peer = Peer(f"{url}/wait/50/v1" if workload == "crowd" else f"{url}/v1")
    built = time.process_time() - started
    figures = await sample(peer, workload)
    await peer.close()
    print(json.dumps({"peer": name, "workload": workload, "build_cpu_ms": built * 1000, **figures}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
