"""Answering a reply's calls: barriers, guards, catalogs, and one result a call in call order."""

import asyncio
import itertools

import pytest
from hypothesis import given, strategies as st

from officellm import (
    Agent,
    FatalToolError,
    Host,
    Kind,
    Limits,
    Office,
    Spend,
    ToolCall,
    ToolError,
    ToolResult,
    ToolSpec,
    Verdict,
    hookimpl,
    tool,
)
from officellm.jobs import Job, batches
from officellm.testing import call, calls, scripted
from officellm.toolset import Entry

order = []


async def free(n: int) -> str:
    """Run beside others."""
    order.append(("start", n))
    await asyncio.sleep(0.005)
    order.append(("end", n))
    return str(n)


@tool(sequential=True)
async def alone(n: int) -> str:
    """Run alone."""
    order.append(("start", n))
    await asyncio.sleep(0.005)
    order.append(("end", n))
    return str(n)


def answers(result):
    return [(one.content, one.is_error) for one in result.messages if isinstance(one, ToolResult)]


async def test_a_sequential_call_waits_for_the_earlier_and_holds_up_the_later():
    order.clear()
    kinds = ["free", "free", "alone", "free", "alone", "alone"]
    model = scripted([calls(*(call(kind, n=n) for n, kind in enumerate(kinds))), "end"])
    result = await Agent("a", model=model, tools=[free, alone]).run(task="t")
    assert [text for text, _ in answers(result)] == [str(n) for n in range(6)]
    place = {step: index for index, step in enumerate(order)}
    for n, kind in enumerate(kinds):
        if kind == "alone":
            assert place["end", n] == place["start", n] + 1
            assert all(place["end", m] < place["start", n] for m in range(n))
            assert all(place["start", m] > place["end", n] for m in range(n + 1, 6))
    assert place["start", 1] < place["end", 0]


@given(st.lists(st.booleans(), max_size=8))
def test_batches_keep_the_order_and_leave_sequential_calls_alone(flags):
    spec = ToolSpec("t", "", {})
    jobs = [
        Job(
            ToolCall(str(n), "t", {}),
            Spend(kind="tool_call", scope="s", agent="a"),
            Entry("tool", spec, dict, sequential=flag),
            "s",
        )
        for n, flag in enumerate(flags)
    ]
    made = batches(jobs)
    assert [job for batch in made for job in batch] == jobs
    assert all(len(batch) == 1 for batch in made if any(job.entry.sequential for job in batch))
    mixed = [any(job.entry.sequential for job in batch) for batch in made]
    assert all(first or second for first, second in itertools.pairwise(mixed))


class Guard:
    """An extension that refuses what it was told to."""

    def __init__(self, *refused, error=None):
        self.refused, self.error, self.seen = refused, error, []

    @hookimpl
    def judge(self, call, agent, run):
        self.seen.append((call.kind, call.name, agent.name))
        if self.error is not None:
            raise self.error
        return Verdict("refuse", "not today") if call.name in self.refused else None


async def judged(*guards, model, **options):
    office = Office(Agent("a", model=model, tools=[free], **options), host=Host(plugins=guards, discover=False))
    return await office.run("t")


async def test_a_refused_call_never_runs_and_the_model_reads_why():
    order.clear()
    guard = Guard("free")
    result = await judged(guard, Guard(), model=scripted([call("free", n=1), "end"]))
    assert (result.content, order, result.usage.tool_calls) == ("end", [], 0)
    assert answers(result) == [("Error: 'free' was refused: not today", True)]
    assert guard.seen == [("tool", "free", "a")]


async def test_a_guard_that_fails_refuses():
    order.clear()
    result = await judged(Guard(error=RuntimeError("broken")), model=scripted([call("free", n=1), "end"]))
    assert order == []
    assert "a guard failed (RuntimeError)" in answers(result)[0][0]


async def test_workers_and_transfers_are_judged_too():
    worker = Agent("w", model=scripted([]))
    guard = Guard("w", "transfer_to_agent")
    model = scripted([calls(call("w", task="x"), call("transfer_to_agent", agent="b")), "end"])
    office = Office(
        Agent("a", model=model, workers=[worker]),
        agents=[Agent("b", model=scripted([]))],
        host=Host(plugins=[guard], discover=False),
    )
    result = await office.run("t", orchestrator="handoff")
    assert result.content == "end"
    assert guard.seen == [("worker", "w", "a"), ("transfer", "transfer_to_agent", "a")]
    assert [is_error for _, is_error in answers(result)] == [True, True]


class Shop:
    """A catalog with typed arguments and tools that go wrong."""

    def __init__(self):
        self.got = []

    async def tools(self):
        schema = {
            "type": "object",
            "properties": {"n": {"type": "integer"}, "unit": {"type": "string", "default": "kg"}},
            "required": ["n"],
        }
        return [ToolSpec(name, "Sells", schema) for name in ("buy", "fail", "stop", "crash")]

    async def call(self, name, arguments, context):
        self.got.append((name, dict(arguments), context.agent))
        if name == "fail":
            raise ToolError("sold out")
        if name == "stop":
            raise FatalToolError("closed for good")
        if name == "crash":
            raise OSError("no connection")
        return {"sold": arguments["n"]}


async def shopping(*made, tools=("*",), **options):
    shop = Shop()
    office = Office(Agent("a", model=scripted([calls(*made), "end"]), tools=tools), catalogs={"shop": shop}, **options)
    return await office.run("t"), shop


async def test_a_catalogs_tool_gets_checked_arguments_with_defaults():
    result, shop = await shopping(call("buy", n=1), call("buy", n="x"), call("buy"))
    assert shop.got == [("buy", {"n": 1, "unit": "kg"}, "a")]
    texts = [text for text, _ in answers(result)]
    assert texts[0] == '{"sold":1}'
    assert "n: 'x' is not of type 'integer'" in texts[1]
    assert "'n' is a required property" in texts[2]


async def test_what_a_catalog_raises_is_a_result_unless_it_is_fatal():
    result, _ = await shopping(call("fail", n=1), call("crash", n=1))
    assert answers(result) == [("sold out", True), ("Error: tool 'crash' failed: OSError: no connection", True)]
    result, _ = await shopping(call("stop", n=1))
    assert (str(result.stop_reason), result.error) == ("failed", "closed for good")


@pytest.mark.parametrize("patterns", [("buy",), ("shop.buy",), ("b*",), ("shop.b*",), ("*", "buy")], ids=str)
async def test_patterns_name_tools_of_catalogs(patterns):
    result, shop = await shopping(call("buy", n=1), tools=patterns)
    assert [name for name, _, _ in shop.got] == ["buy"]
    assert result.success


async def test_denied_tools_do_not_exist():
    shop = Shop()
    agent = Agent("a", model=scripted([call("fail", n=1), "end"]), tools=["*"], deny=["f*", "crash"])
    result = await Office(agent, catalogs={"shop": shop}).run("t")
    assert shop.got == []
    assert "no tool or worker named 'fail'" in answers(result)[0][0]


async def test_a_limit_policy_that_breaks_stops_the_run_and_nothing_runs():
    class Broken:
        def reserve(self, spend):
            if spend.kind == "tool_call":
                raise RuntimeError("lost count")

        def settle(self, reservation, spend, spent):
            return None

    class Plugin:
        @hookimpl
        def make_limit_policy(self, name, settings, clock):
            return Broken()

    order.clear()
    host = Host(discover=False)
    host.add_driver(Kind.LIMIT, "broken", Plugin())
    agent = Agent("a", model=scripted([call("free", n=1), "never"]), tools=[free])
    result = await Office(agent, host=host, policies={"broken": {}}).run("t")
    assert (str(result.stop_reason), order) == ("failed", [])
    assert "lost count" in result.error


async def test_sixty_calls_of_one_reply_are_answered_in_order():
    model = scripted([calls(*(call("free", n=n) for n in range(60))), "end"])
    result = await Agent("a", model=model, tools=[free]).run(task="t", limits=Limits(max_parallel_calls=None))
    assert [text for text, _ in answers(result)] == [str(n) for n in range(60)]
