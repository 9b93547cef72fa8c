"""Random workflows with everything that a node can have, run twice and cancelled once."""

import asyncio
import random
from collections import Counter

from officellm import Back, Node, Workflow, WorkflowError

from .crew import Crew


def _fails(context):
    raise ValueError("n")


class Chaos:
    """A workflow of the seed with everything at once; `begun` counts what ran, by place, round and attempt."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.begun = Counter()
        self.flow = self.workflow(depth=2)

    def work(self, place):
        turns, mood = self.chance.choice([0, 0, 0, 1, 2, 5]), self.chance.choice(["ok", "ok", "ok", "bad", "flaky"])
        tries = []

        async def work(context):
            tries.append(context)
            self.begun[place, context.round, context.item] += 1
            for _ in range(turns):
                await asyncio.sleep(0)
            if mood == "bad" or (mood == "flaky" and len(tries) == 1):
                raise ValueError(place)
            return f"{place}:{context.round}"

        return work

    def node(self, id, before, depth):
        maybe, pick = lambda odds: self.chance.random() < odds, self.chance.choice
        options = {"after": self.chance.sample(before, self.chance.randint(0, min(3, len(before))))}
        if options["after"] and maybe(0.3):
            options["need"] = self.chance.randint(1, len(options["after"]))
        if maybe(0.2):
            options["when"] = pick([lambda context: context.round < 2, lambda context: False, _fails])
        if maybe(0.15):
            options["each"] = pick([[1, 2, 3], [], lambda context: "[1, 2]", lambda context: 5])
        if maybe(0.2):
            options["back"] = Back(
                pick([id, *before]), pick([lambda context: False, lambda context: context.round > 1])
            )
        run = self.workflow(depth - 1) if depth and maybe(0.15) else self.work(id)
        return Node(id, run, on_error=pick(["fail", "fail", "continue", "fail_fast"]), retry=pick([0, 0, 1]), **options)

    def workflow(self, depth):
        flow = None
        for number in range(self.chance.randint(1, 7)):
            before = [node.id for node in flow.nodes] if flow is not None else []
            try:
                node = self.node(f"n{number}", before, depth)
                flow = Workflow([node]) if flow is None else flow.add(node)
            except WorkflowError:
                continue  # a way back that leads nowhere, mostly
        if flow is None:
            flow = Workflow([Node("n0", self.work("n0"))])
        ids = [node.id for node in flow.nodes]
        return flow.but(final=self.chance.choice([None, *ids]), max_concurrency=self.chance.choice([None, 1, 2]))


async def chaos(office, seed, ticks=None):
    """What there is to compare of one run; None where it was cancelled, after so many turns of the loop."""
    before, seen, made = asyncio.all_tasks(), [], Chaos(seed)
    run = asyncio.create_task(office.run("t", orchestrator=made.flow, listener=seen.append))
    for _ in range(ticks or 0):
        await asyncio.sleep(0)
    if ticks is not None:
        run.cancel()
    async with asyncio.timeout(20):
        await asyncio.wait([run])
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before
    told = [one for one in seen if one.type == "node"]
    ends = {one.node: one.state for one in told}
    assert set(ends.values()) <= {"completed", "failed", "skipped", "cancelled"}
    assert max(Counter((one.node, one.round) for one in told if one.state == "running").values(), default=1) == 1
    if run.cancelled():
        assert ticks is not None
        return None
    result = run.result()
    assert result.error_type in (None, "ValueError", "NotAccepted", "NodeFailed"), result.error
    assert {id: str(node.state) for id, node in result.nodes.items()} == ends
    return (
        result.stop_reason,
        result.content,
        result.error,
        ends,
        [str(one.error) for one in result.failures],
        made.begun,
    )


async def test_whatever_stands_in_a_workflow_it_ends_whole_and_the_same_way_each_time():
    async with Crew(a="x").office() as office:
        for seed in range(250):
            assert await chaos(office, seed) == await chaos(office, seed), seed
            await chaos(office, seed, ticks=seed % 30)
