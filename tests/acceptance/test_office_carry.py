"""What goes along when a conversation is handed over, markers in prose, and how long an agent may hold it."""

import asyncio
from itertools import pairwise

import pytest

from officellm import Agent, Limits, Office, StopReason, Task
from officellm.testing import FakeClock, FakeLLM, call, calls, fault, reply, scripted

from .reading import unanswered, users

TRANSFER = "transfer_to_agent"


def to(name, text="", **more):
    return reply(text, calls=[call(TRANSFER, agent=name, **more)])


def look() -> str:
    """Look."""
    return "seen"


async def handed(task="the task", settings=None, limits=None, tools=(), **models):
    agents = [Agent(name, f"Does {name}", model=model, tools=tools) for name, model in models.items()]
    office = Office(agents=agents, limits=limits, clock=FakeClock())
    return await office.run(task, agent=next(iter(models)), orchestrator={"name": "handoff", **(settings or {})})


async def test_the_whole_conversation_may_go_along_once_with_every_call_and_its_result():
    b, c = scripted([to("c", "B knows more")]), scripted(["end"])
    a = scripted([calls(call("look"), text="A looks"), to("b", "A passes", query="go on")])
    await handed(settings={"carry": "history"}, tools=[look], a=a, b=b, c=c)
    for model, said in ((b, ["A looks", "A passes"]), (c, ["A looks", "A passes", "B knows more"])):
        (request,) = model.requests
        assert [one.text for one in request.messages if type(one).__name__ == "Assistant"] == said
        assert unanswered(request.messages) == []
        assert users(request)[0] == "the task"
        assert users(request)[-1].startswith("Handed over by: ")
        assert sum(text.count("the task") for text in users(request)) == 1
    assert "Asked of you:\ngo on" in users(b.requests[0])[-1]


async def test_a_summary_may_go_along_and_counts_under_its_own_name():
    a = scripted([calls(call("look"), text="A looks"), to("b", "A passes"), "what was said, in short"])
    b = scripted(["end"])
    result = await handed(settings={"carry": "summary"}, tools=[look], a=a, b=b)
    asked = a.requests[2].messages[-1].text
    assert all(
        part in asked for part in ("User: the task", "Assistant: A looks", "Call of look", "Result of look: seen")
    )
    (told,) = users(b.requests[0])
    assert "So far:\nwhat was said, in short" in told
    assert result.by_agent["handoff:summary"].requests == 1


async def test_a_summary_that_fails_ends_the_run_with_the_last_answer():
    a = scripted([to("b", "A passes"), fault("400")])
    result = await handed(settings={"carry": "summary"}, a=a, b=scripted([]))
    assert (result.stop_reason, result.content) == (StopReason.PROVIDER_ERROR_4XX, "A passes")


async def test_the_context_of_a_task_reaches_every_agent_of_the_chain():
    models = {"a": scripted([to("b")]), "b": scripted([to("c")]), "c": scripted(["end"])}
    await handed(Task(title="T", context={"customer": "4711"}), **models)
    assert all("customer: 4711" in users(model.requests[0])[0] for model in models.values())


async def test_an_agent_may_hold_the_conversation_for_a_bounded_time():
    async def never(request):
        await asyncio.sleep(30)

    async with asyncio.timeout(5):
        result = await handed(settings={"hop_timeout": 0.05}, a=scripted([to("b")]), b=scripted([never]))
    assert (result.stop_reason, result.agent) == (StopReason.TIMEOUT, "b")
    assert "'b'" in result.error


@pytest.mark.parametrize(
    ("said", "asked", "reason"),
    [
        ("[HANDOFF:b:needs maths] 2+2", "2+2", "needs maths"),
        ("[HANDOFF:b:r]", None, "r"),
        ("Let me pass you on. [HANDOFF:b:calc] what is 2+2?", "what is 2+2?", "calc"),
        ("[HANDOFF:b:x:y\nz] q", "q", "x:y\nz"),
        ("[HANDOFF:b:r] first [HANDOFF:c:s] second", "first [HANDOFF:c:s] second", "r"),
        ("```\n[HANDOFF:b:r]\n```", None, "r"),
        ("```text\n[HANDOFF:b:r]\n```\nplease sum", "please sum", "r"),
    ],
    ids=["first", "alone", "after prose", "colon and line break", "two", "fence", "fence and words"],
)
async def test_a_marker_hands_over_with_what_follows_it(said, asked, reason):
    b = scripted(["4"])
    result = await handed(settings={"markers": True}, a=scripted([said]), b=b, c=scripted([]))
    assert (result.success, result.content, result.chain[1].reason) == (True, "4", reason)
    (told,) = users(b.requests[0])
    assert told.startswith("the task")
    assert told.partition("Asked of you:\n")[2] == (asked or "")
    assert "HANDOFF:b" not in told


@pytest.mark.parametrize(
    "said",
    ["[handoff:b:r] q", "[HANDOFF:b:]", "[HANDOFF:b c:r]", "[HANDOFF:b]"],
    ids=["case", "reason", "blank", "short"],
)
async def test_what_is_no_marker_is_an_answer(said):
    result = await handed(settings={"markers": True}, a=scripted([said]), b=scripted([]))
    assert (result.success, result.content) == (True, said)


async def test_without_the_option_a_marker_is_an_answer():
    result = await handed(a=scripted(["[HANDOFF:b:r]"]), b=scripted([]))
    assert result.content == "[HANDOFF:b:r]"


async def test_a_marker_for_nobody_is_a_failure_that_names_those_there_are():
    result = await handed(settings={"markers": True}, a=scripted(["[HANDOFF:zoe:r]"]), b=scripted([]))
    assert not result.success
    assert "cannot hand over to 'zoe'" in result.error
    assert "b" in result.error


async def test_markers_are_bounded_like_transfers():
    a, b = scripted(["[HANDOFF:b:r]"] * 9), scripted(["[HANDOFF:a:r]"] * 9)
    result = await handed(settings={"markers": True}, limits=Limits(max_transfers=2), a=a, b=b)
    assert (result.stop_reason, len(a.requests) + len(b.requests)) == (StopReason.MAX_TRANSFERS, 3)


@pytest.mark.parametrize(
    ("ring", "most", "runs", "length", "reason"),
    [
        ("ab", 0, 1, 1, "max_transfers"),
        ("ab", 3, 4, 4, "max_transfers"),
        ("ab", 10, 4, 5, "loop_detected"),
        ("abc", 10, 6, 7, "loop_detected"),
    ],
)
async def test_a_ring_ends_after_two_visits_each_and_the_chain_shows_the_third(ring, most, runs, length, reason):
    following = dict(zip(ring, ring[1:] + ring[0], strict=True))
    models = {name: scripted([to(next_one, f"{name} says", reason="on")] * 9) for name, next_one in following.items()}
    result = await handed(limits=Limits(max_transfers=most), **models)
    assert sum(len(model.requests) for model in models.values()) == runs
    assert (result.stop_reason, len(result.chain)) == (reason, length)
    assert result.content.endswith("says")
    assert all(hop.reason == "on" for hop in result.chain[1:])
    assert result.usage.requests == runs


@pytest.mark.parametrize("wire", ["openai", "anthropic", "gemini"])
async def test_a_conversation_with_calls_goes_to_an_agent_without_tools_on_every_wire(wire):
    script = [
        {"when": {"system": "You are a"}, "replies": [{"calls": [{"name": "look"}]}, to("b", "A passes")]},
        {"when": {"system": "You are b"}, "by": "order", "replies": ["the end"]},
    ]
    async with FakeLLM(script) as llm:
        block = {"format": {"openai": "openai_compat"}.get(wire, wire), "base_url": getattr(llm, f"{wire}_url")}
        agents = [
            Agent("a", model="p:m", instructions="You are a", tools=[look]),
            Agent("b", model="p:m", instructions="You are b", transfers=[]),
        ]
        async with Office(agents=agents, providers={"p": block}) as office:
            result = await office.run("t", agent="a", orchestrator={"name": "handoff", "carry": "history"})
    assert (result.content, llm.refusals) == ("the end", [])


@pytest.mark.parametrize(
    ("names", "reason", "content"), [("abcde", "success", "e ends"), ("abcdef", "max_transfers", "e passes")]
)
async def test_four_hand_overs_are_allowed_and_a_fifth_keeps_the_last_answer_and_the_chain(names, reason, content):
    models = {name: scripted([to(after, f"{name} passes")]) for name, after in pairwise(names)}
    result = await handed(**models, **{names[-1]: scripted([f"{names[-1]} ends"])})
    assert (result.stop_reason, result.content) == (reason, content)
    assert [hop.agent for hop in result.chain] == list("abcde")


async def test_an_agent_may_have_the_conversation_back_once():
    result = await handed(a=scripted([to("b"), "a again"]), b=scripted([to("a")]))
    assert (result.success, result.content, [hop.agent for hop in result.chain]) == (True, "a again", ["a", "b", "a"])


async def test_an_agent_that_breaks_ends_the_chain_that_led_to_it():
    result = await handed(a=scripted([to("b", "A passes")]), b=scripted([ValueError("broke")]))
    assert (result.success, result.content, [hop.agent for hop in result.chain]) == (False, "A passes", ["a", "b"])
    assert "broke" in result.error


@pytest.mark.parametrize("hops", [0, 1])
async def test_a_run_that_is_cancelled_between_two_agents_does_not_start_the_next(hops):
    answered = []

    async def answer(request):
        await asyncio.sleep(0)
        answered.append("b")
        return "end"

    a = scripted([to("b", "A passes")])
    office = Office(agents=[Agent("a", model=a), Agent("b", model=scripted([answer]))], clock=FakeClock())

    def stop(event):
        if event.type == "transfer":
            run.cancel()

    run = asyncio.create_task(office.run("t", agent="a", orchestrator="handoff", listener=stop))
    if not hops:
        run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert (len(a.requests), answered) == (hops, [])


async def test_a_delegated_agent_sees_the_earlier_messages_exactly_once_each_time():
    first = await handed(a=scripted([calls(call("look")), "A knows"]), tools=[look])
    b = scripted(["one", "two"])
    office = Office(Agent("b", model=b))
    for asked in ("more?", "and more?"):
        await office.call("b", asked, history=first.messages)
    for request, asked in zip(b.requests, ("more?", "and more?"), strict=True):
        assert users(request)[0] == "the task"
        assert asked in users(request)[-1]
        assert len(users(request)) == 2
        assert sum(getattr(one, "text", "") == "A knows" for one in request.messages) == 1
        assert unanswered(request.messages) == []
