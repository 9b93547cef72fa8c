"""What the scheduler of workflows costs: CPU a node of layered graphs of nodes that do nothing, without HTTP.

`python bench/dag.py [--nodes 10000] [--width 100]`. `functions` is all that a run costs, a node; `agents` is what the
workflow adds to calling the same agents, whose model answers at once, one after the other. Twice the nodes should cost
twice as much: the last column is the ratio of the costs a node.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import AsyncIterator, Sequence

from officellm import (
    Agent,
    AgentResult,
    Assistant,
    Delta,
    Desk,
    Finished,
    Limits,
    Node,
    NodeContext,
    Office,
    Reply,
    Request,
    Task,
    Usage,
    Workflow,
)

REPLY = Reply(Assistant("done"), "stop", Usage(input=1, output=1))
EDGES = 3


class Instant:
    """A provider that answers at once."""

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        yield Finished(REPLY)


async def nothing(context: NodeContext) -> str:
    return "done"


class OneByOne:
    """Calls an agent again and again: what the agents of a workflow cost without the workflow."""

    needs_entry = False

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes

    async def work(self, task: Task, desk: Desk) -> AgentResult:
        for node in self._nodes:
            ended = await desk.call("a", "go", key=node.id)
        return ended


def layered(nodes: int, width: int, run: object) -> list[Node]:
    """Layers of `width`; each node waits for some of the layer before."""
    made = []
    for number in range(nodes):
        layer, place = divmod(number, width)
        after = [f"n{layer - 1}_{(place + edge) % width}" for edge in range(EDGES)] if layer else []
        made.append(Node(f"n{layer}_{place}", run, input="go", after=after))  # type: ignore[arg-type]
    return made


async def cost(office: Office, orchestrator: Workflow | OneByOne, nodes: int, rounds: int) -> float:
    """The least CPU a node of several runs, in microseconds."""
    best = float("inf")
    for _ in range(rounds):
        begun = time.process_time()
        result = await office.run("go", orchestrator=orchestrator, limits=Limits(loop_window=None, max_visits=None))
        best = min(best, time.process_time() - begun)
        assert result.success, result.error
    return best / nodes * 1e6


async def main(nodes: int, width: int, rounds: int) -> None:
    office = Office(Agent("a", model=Instant()))
    print(f"CPU a node in microseconds, {EDGES} edges a node, layers of {width}, least of {rounds} runs")
    print(f"{'nodes':>8}{'check':>8}{'functions':>12}{'agents':>10}{'workflow adds':>16}{'to half':>10}")
    before: float | None = None
    for count in (nodes // 4, nodes // 2, nodes):
        begun = time.process_time()
        functions = Workflow(layered(count, width, nothing))
        check = (time.process_time() - begun) / count * 1e6
        agents = layered(count, width, "a")
        plain = await cost(office, functions, count, rounds)
        alone = await cost(office, OneByOne(agents), count, rounds)
        added = await cost(office, Workflow(agents), count, rounds) - alone
        ratio = "" if before is None else f"{plain / before:.2f}"
        print(f"{count:>8}{check:>8.1f}{plain:>12.1f}{alone:>10.1f}{added:>16.1f}{ratio:>10}")
        before = plain


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--width", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    asyncio.run(main(chosen.nodes, chosen.width, chosen.rounds))
