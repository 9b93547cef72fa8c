"""The four defects of a scheduler that must never come back, and random workflows against a plain reference.

A scheduler may hang when two nodes end together, run a node twice, mix up what nodes say, or return before all ended.
"""

import asyncio
import random

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from officellm import Agent, Node, Office, Workflow
from officellm.testing import FakeClock, scripted


@pytest.fixture(scope="module")
def office():
    return Office(Agent("a", model=scripted(["x"])), clock=FakeClock())


class Trace:
    """Node functions that end in an order of the seed, with what they saw and when they ran."""

    def __init__(self, seed, failing=()):
        self.chance = random.Random(seed)
        self.failing = set(failing)
        self.begun, self.ended = [], []

    async def work(self, context):
        self.begun.append(context.id)
        for _ in range(self.chance.choice([0, 0, 1, 2, 5])):
            await asyncio.sleep(0)
        self.ended.append(context.id)
        if context.id in self.failing:
            raise ValueError(context.id)
        return f"{context.id}({','.join(context.results.values())})"


def expected(edges, failing):
    """Each node's state and text, worked out one after the other."""
    states, texts = {}, {}
    for id, after in edges.items():
        if any(states[other] != "completed" for other in after):
            states[id], texts[id] = "skipped", ""
        elif id in failing:
            states[id], texts[id] = "failed", ""
        else:
            states[id], texts[id] = "completed", f"{id}({','.join(texts[other] for other in after)})"
    return states, texts


@st.composite
def graphs(draw):
    """Edges of a random graph in an order that works, the nodes that fail, and a bound."""
    size = draw(st.integers(1, 14))
    edges = {}
    for index in range(size):
        earlier = [f"n{other}" for other in range(index)]
        edges[f"n{index}"] = draw(st.lists(st.sampled_from(earlier), max_size=4, unique=True)) if earlier else []
    failing = draw(st.sets(st.sampled_from(sorted(edges)), max_size=3))
    return edges, failing, draw(st.none() | st.integers(1, 3)), draw(st.integers(0, 10_000))


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(), order=st.randoms(use_true_random=False))
def test_a_random_workflow_does_what_a_plain_loop_would(office, graph, order):
    edges, failing, most, seed = graph
    trace = Trace(seed, failing)
    nodes = [Node(id, trace.work, after=after) for id, after in edges.items()]
    order.shuffle(nodes)

    async def go():
        async with asyncio.timeout(10):
            return await office.run("t", orchestrator=Workflow(nodes, max_concurrency=most))

    result = asyncio.run(go())
    states, texts = expected(edges, failing)
    assert {id: str(node.state) for id, node in result.nodes.items()} == states
    assert {id: result.nodes[id].text for id in edges} == texts
    ran = [id for id, state in states.items() if state != "skipped"]
    assert sorted(trace.begun) == sorted(ran)
    for id in ran:
        for other in edges[id]:
            assert trace.ended.index(other) < trace.ended.index(id)


async def test_thousands_of_fans_that_end_in_every_order_neither_hang_nor_repeat_nor_end_early(office):
    async with asyncio.timeout(100):
        for seed in range(2_000):
            trace = Trace(seed)
            fan = [Node(f"f{n}", trace.work) for n in range(4)]
            late = [Node(f"l{n}", trace.work, after=[f"f{n}", f"f{(n + 1) % 4}"]) for n in range(4)]
            end = Node("end", trace.work, after=[one.id for one in late])
            result = await office.run("t", orchestrator=Workflow([*fan, *late, end], final="end"))
            assert result.success, result.error
            assert len(trace.begun) == len(set(trace.begun)) == 9
            assert trace.ended[-1] == "end"


async def test_runs_that_are_cancelled_at_any_moment_leave_no_task_and_no_node_without_an_end(office):
    before = asyncio.all_tasks()
    async with asyncio.timeout(100):
        for seed in range(10_000):
            trace = Trace(seed)
            fan = [Node(f"f{n}", trace.work) for n in range(4)]
            end = Node("end", trace.work, after=[one.id for one in fan])
            seen = []
            run = asyncio.create_task(
                office.run("t", orchestrator=Workflow([*fan, end], final="end"), listener=seen.append)
            )
            for _ in range(seed % 12):
                await asyncio.sleep(0)
            run.cancel()
            await asyncio.gather(run, return_exceptions=True)
            last = {one.node: one.state for one in seen if one.type == "node"}
            assert set(last.values()) <= {"completed", "cancelled"}
            if seen:
                assert seen[-1].type == "run.end"
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before
