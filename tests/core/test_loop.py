"""The agent loop seen from the provider: what it is asked, and what its replies come to."""

import asyncio

import pytest

from officellm import (
    Agent,
    Assistant,
    CallDelta,
    Finished,
    Limits,
    Office,
    Reply,
    StopReason,
    TextDelta,
    Usage,
    User,
)
from officellm.testing import call, reply, scripted


def note(n: int = 0) -> str:
    """Note."""
    return f"noted {n}"


async def asked(agent, **options):
    await agent.run(task="t", **options)
    return agent.model.requests


async def test_a_setting_is_sent_only_if_the_user_set_it():
    (request,) = await asked(Agent("a", model=scripted(["x"])))
    assert (dict(request.settings), request.tool_choice, request.output, request.deadline) == ({}, "auto", None, None)
    (request,) = await asked(Agent("a", model=scripted(["x"]), settings={"temperature": 0}))
    assert request.settings == {"temperature": 0}


@pytest.mark.parametrize(
    ("settings", "limits", "sent"),
    [
        ({}, Limits(max_tokens_per_call=99), 99),
        ({"max_tokens": 5}, Limits(max_tokens_per_call=99), 5),
        ({}, Limits(), None),
    ],
    ids=["limit", "own setting", "none"],
)
async def test_tokens_of_a_call_are_bounded(settings, limits, sent):
    (request,) = await asked(Agent("a", model=scripted(["x"]), settings=settings), limits=limits)
    assert request.settings.get("max_tokens") == sent


@pytest.mark.parametrize(("limits", "retries"), [(Limits(), 3), (Limits(provider_retries=0), 0)], ids=["usual", "none"])
async def test_the_provider_is_told_how_often_to_try(limits, retries):
    (request,) = await asked(Agent("a", model=scripted(["x"])), limits=limits)
    assert request.retries == retries


async def test_a_request_carries_the_nearest_deadline():
    agent = Agent("a", model=scripted(["x"]), limits=Limits(max_seconds=5))
    seen = []
    await Office(agent, clock=Frozen()).run("t", limits=Limits(max_seconds=9), listener=seen.append)
    assert agent.model.requests[0].deadline == Frozen.now + 5


class Frozen:
    """A clock that stands still."""

    now = 100.0

    def monotonic(self):
        return self.now

    def wall(self):
        return self.now

    async def sleep(self, seconds):
        await asyncio.sleep(0)

    def jitter(self):
        return 0.0


async def test_turns_that_never_wait_still_end_with_the_runs_clock():
    class Ticking(Frozen):
        def monotonic(self):
            self.now += 1
            return self.now

    model = scripted([reply(f"t{n}", calls=[call("note", n=n)]) for n in range(50)])
    office = Office(Agent("a", model=model, tools=[note], limits=Limits(max_turns=50)), clock=Ticking())
    result = await office.run("t", limits=Limits(max_seconds=20))
    assert result.stop_reason is StopReason.TIMEOUT
    assert 0 < len(model.requests) < 20
    assert result.content == f"t{len(model.requests) - 1}"


async def test_a_pause_sends_the_turn_back_as_it_is():
    model = scripted([reply("thinking", stop="pause"), "done"])
    result = await Agent("a", model=model).run(task="t")
    assert (result.content, [type(m).__name__ for m in model.requests[1].messages]) == ("done", ["User", "Assistant"])


class Pieces:
    """A provider that never says `Finished`."""

    model = "m"

    def __init__(self, *replies):
        self.replies = list(replies)

    async def stream(self, request):
        for delta in self.replies.pop(0):
            yield delta


async def test_deltas_without_an_end_add_up_to_a_reply():
    model = Pieces(
        [
            TextDelta("Let "),
            TextDelta("me."),
            CallDelta(1, "c2", "note", '{"n"'),
            CallDelta(0, "c1", "note", '{"n": 1}'),
            CallDelta(1, "", "", ": 2}"),
        ],
        [TextDelta("do"), TextDelta("ne")],
    )
    result = await Agent("a", model=model, tools=[note]).run(task="t")
    assert (result.content, result.usage.complete, result.usage.requests) == ("done", False, 2)
    reply_, first, second = result.messages[1:4]
    assert (reply_.text, [one.id for one in reply_.calls]) == ("Let me.", ["c1", "c2"])
    assert (first.content, second.content) == ("noted 1", "noted 2")


async def test_the_stream_is_closed_after_the_end():
    closed = []

    class Endless:
        model = "m"

        async def stream(self, request):
            try:
                yield Finished(Reply(Assistant("done"), "stop", Usage(1, 1)))
                yield TextDelta("never asked for")
            finally:
                closed.append(True)

    assert (await Agent("a", model=Endless()).run(task="t")).content == "done"
    assert closed == [True]


async def test_text_is_streamed_only_when_someone_shows_it():
    model = scripted(["x", "x", "x"])
    office = Office(Agent("a", model=model))
    await office.run("t")
    await office.run("t", listener=lambda event: None)
    async with office.stream("t") as run:
        async for _ in run:
            pass
    assert [request.stream for request in model.requests] == [False, False, True]


async def test_a_history_comes_before_the_task_and_the_agents_own_instructions_hold():
    model = scripted(["x"])
    history = [User("old"), Assistant("answer")]
    result = await Agent("a", model=model, instructions="Do.").run(task="new", history=history)
    assert [m.text for m in model.requests[0].messages] == ["Do.", "old", "answer", "Task: new\n\nPriority: medium"]
    assert len(result.messages) == 5


async def test_the_spec_objects_of_an_agent_are_the_same_every_turn():
    model = []

    class Recording:
        def __init__(self):
            self.played = scripted([call("note", n=1), call("note", n=2), "end"])

        def stream(self, request):
            model.append(request.tools)
            return self.played.stream(request)

    await Agent("a", model=Recording(), tools=[note]).run(task="t")
    assert len(model) == 3
    assert model[0] is model[1] is model[2]


async def test_turns_and_spans_are_told_with_each_request():
    seen = []
    model = scripted([call("w", task="x"), "end"])
    worker = Agent("w", model=scripted(["W"]))
    await Office(Agent("a", model=model), workers=[worker]).run("t", listener=seen.append)
    starts = {event.agent: event for event in seen if event.type == "agent.start"}
    assert (starts["a"].depth, starts["w"].depth) == (1, 2)
    assert starts["w"].parent == starts["a"].span
    assert [(event.agent, event.turn) for event in seen if event.type == "model.request"] == [
        ("a", 1),
        ("w", 1),
        ("a", 2),
    ]
    assert seen[-1].by_agent["w"].requests == 1
