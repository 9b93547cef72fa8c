"""Cancelling a run, wherever it stands: nothing goes on, nothing is left unanswered, usage and text are kept."""

import asyncio

import pytest

from officellm import Agent, Finished, Office, StopReason, TextDelta
from officellm.testing import call, calls, reply, scripted

from .reading import boss, unanswered, worker


async def pause(n: int) -> str:
    """Wait a moment."""
    await asyncio.sleep(0)
    return f"paused {n}"


def an_office():
    async def slowly(request):
        await asyncio.sleep(0)
        return calls(call("pause", n=len(request.messages)), call("pause", n=-1), text="working")

    helpers = [worker(scripted([slowly, slowly, "W"]), f"w{n}", tools=[pause]) for n in range(2)]
    lead = scripted([calls(call("w0", task="a"), call("w1", task="b"), text="asking both"), "F"])
    return Office(boss(lead), workers=helpers), lead


def others():
    return [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


@pytest.mark.parametrize("ticks", range(24))
async def test_a_run_may_be_cancelled_at_any_point(ticks):  # case 41
    office, _ = an_office()
    async with office.stream("go") as run:
        for _ in range(ticks):
            await asyncio.sleep(0)
    assert others() == []
    result = run.result
    assert result.stop_reason in (StopReason.CANCELLED, StopReason.SUCCESS)
    assert unanswered(result.messages) == []
    assert result.usage.requests == sum(usage.requests for usage in result.by_agent.values())
    for failure in result.failures:
        assert unanswered(failure.messages) == []


async def test_a_cancel_in_the_middle_keeps_text_finished_results_and_usage():  # case 41
    started, stopped = asyncio.Event(), []

    async def hang() -> str:
        """Hang."""
        started.set()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            stopped.append("hang")
            raise
        return "never"

    def quick() -> str:
        """Be quick."""
        return "done"

    model = scripted([reply("so far", calls=[call("quick"), call("hang")]), "never"])
    async with Office(worker(model, tools=[hang, quick])).stream("go") as run:
        await started.wait()
        await asyncio.sleep(0.03)
    result = run.result
    assert (result.stop_reason, result.content, result.agent) == (StopReason.CANCELLED, "so far", "research_agent")
    assert (result.usage.requests, result.usage.total, result.usage.tool_calls) == (1, 15, 2)
    answers = [one.content for one in result.messages if hasattr(one, "call_id")]
    assert answers[0] == "done"
    assert answers[1].startswith("Interrupted")
    assert (stopped, len(model.requests), others()) == (["hang"], 1, [])


async def test_a_cancelled_await_raises_and_sends_nothing_more():  # case 41
    office, lead = an_office()
    task = asyncio.create_task(office.run("go"))
    for _ in range(6):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    made = len(lead.requests)
    await asyncio.sleep(0.01)
    assert (made, others()) == (1, [])


async def test_the_text_shown_of_a_reply_is_kept_when_it_is_cancelled():
    class Slow:
        model = "m"
        closed = False

        async def stream(self, request):
            try:
                yield TextDelta("once upon ")
                yield TextDelta("a time")
                await asyncio.sleep(30)
                yield Finished
            finally:
                Slow.closed = True

    async with Office(Agent("a", model=Slow())).stream("go") as run:
        async for event in run:
            if event.type == "text.delta" and event.text == "a time":
                break
    assert (run.result.content, run.result.stop_reason) == ("once upon a time", StopReason.CANCELLED)
    assert Slow.closed


async def test_a_tool_that_refuses_to_be_cancelled_cannot_keep_the_run():
    async def stubborn() -> str:
        """Ignore the first cancel."""
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            await asyncio.sleep(0.01)
        return "finished anyway"

    model = scripted([call("stubborn"), "never"])
    task = asyncio.create_task(Office(worker(model, tools=[stubborn])).run("go"))
    await asyncio.sleep(0.03)
    task.cancel()
    result = (await asyncio.gather(task, return_exceptions=True))[0]
    assert isinstance(result, asyncio.CancelledError)
    assert len(model.requests) == 1


async def test_a_run_started_while_cleaning_up_after_a_cancel_works():
    async def main():
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            return await worker(scripted([call("pause", n=1), "end"]), tools=[pause]).run(task="t")

    task = asyncio.create_task(main())
    await asyncio.sleep(0)
    task.cancel()
    assert (await task).content == "end"
