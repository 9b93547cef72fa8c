"""A run that is watched: in order, bounded, and over when the block is left."""

import asyncio

import pytest

from officellm import Agent, ConfigError, Office, PluginNotFoundError, StopReason, stream
from officellm.testing import call, reply, scripted


def note(n: int) -> str:
    """Note."""
    return f"noted {n}"


def an_office(*replies):
    return Office(Agent("a", model=scripted(list(replies)), tools=[note]))


async def test_events_come_in_order_and_the_result_afterwards():
    seen = []
    async with an_office(reply("Noting.", calls=[call("note", n=1)]), "All done.").stream("t") as run:
        async for event in run:
            seen.append(event)
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
    assert {event.run_id for event in seen} == {run.run_id}
    assert "".join(event.text for event in seen if event.type == "text.delta") == "Noting.All done."
    kinds = [event.type for event in seen if not event.type.endswith(".delta")]
    assert kinds == [
        "run.start",
        "agent.start",
        "model.request",
        "model.response",
        "tool.call",
        "tool.result",
        "model.request",
        "model.response",
        "agent.end",
        "run.end",
    ]
    assert (run.result.content, run.result.events_dropped) == ("All done.", 0)


async def test_streaming_and_not_give_the_same_result():
    script = [reply("Noting.", calls=[call("note", n=1)]), "All done."]
    plain = await an_office(*script).run("t")
    async with an_office(*script).stream("t") as run:
        async for _ in run:
            pass
    for one in (plain, run.result):
        one.run_id, one.seconds = "", 0.0
    assert plain.to_dict() == run.result.to_dict()
    assert plain.messages == run.result.messages


async def test_the_result_is_not_there_before_the_end():
    async with an_office("x").stream("t") as run:
        with pytest.raises(RuntimeError, match="not ended"):
            _ = run.result
    assert run.result.stop_reason is StopReason.CANCELLED


async def test_a_run_may_be_left_without_looking():
    async def slow(request):
        await asyncio.sleep(30)

    async with asyncio.timeout(5):
        async with an_office(slow).stream("t") as run:
            await asyncio.sleep(0.01)
    assert run.result.stop_reason is StopReason.CANCELLED


async def watch(office, then, **options):
    """Watch a run for a moment without looking at its events."""
    async with office.stream("t", **options):
        await asyncio.sleep(0.01)
        then()


async def test_a_mistake_of_the_caller_is_raised_in_the_loop_or_at_the_end():
    run = an_office().stream("t", router="nothing")
    with pytest.raises(PluginNotFoundError):
        async with run:
            [event async for event in run]
    with pytest.raises(ConfigError):
        await watch(an_office(), then=lambda: None, router="nothing")


async def test_an_error_in_the_block_is_not_hidden_by_the_runs_own():
    with pytest.raises(ZeroDivisionError):
        await watch(an_office(), then=lambda: 1 // 0, router="nothing")


async def test_a_slow_watcher_loses_pieces_of_text_first_and_holds_up_nobody(monkeypatch):
    monkeypatch.setattr(stream, "MAX_WAITING", 12)
    long = reply("word " * 40, calls=[call("note", n=1)])
    seen = []
    async with an_office(long, "the end").stream("t") as run:
        await asyncio.sleep(0.02)
        async for event in run:
            seen.append(event)
    kinds = [event.type for event in seen]
    assert len(seen) <= 12
    assert run.result.events_dropped > 0
    assert [kind for kind in kinds if kind.startswith(("run.", "tool.", "agent."))] == [
        "run.start",
        "agent.start",
        "tool.call",
        "tool.result",
        "agent.end",
        "run.end",
    ]


async def test_several_watched_runs_do_not_hear_each_other():
    office = an_office(*["x"] * 10)

    async def watch():
        async with office.stream("t") as run:
            return {event.run_id async for event in run}, run.run_id

    for heard, own in await asyncio.gather(*(watch() for _ in range(10))):
        assert heard == {own}
