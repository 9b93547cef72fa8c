"""How runs end: every stop reason that a model, a provider or a defect can bring about, with text and usage kept."""

import asyncio
import logging

import pytest
from pydantic import BaseModel

from officellm import Agent, ConfigError, Fault, Finished, Office, ProviderError, RunError, StopReason, TextDelta
from officellm.testing import call, reply, scripted

from .reading import boss, last_result, results, users, worker

AUTH = Fault("auth", "bad key", 401)
DOWN = Fault("overloaded", "busy", 529, retryable=True)


async def ends(*replies, **options):
    return await worker(scripted(list(replies)), tools=[note], **options).run(task="t")


def note() -> str:
    """Note."""
    return "noted"


@pytest.mark.parametrize(
    ("replies", "reason", "content"),
    [
        ([reply("half an ans", stop="length")], StopReason.TRUNCATED, "half an ans"),
        ([reply("", stop="length")], StopReason.TRUNCATED, ""),
        ([reply("first", calls=[call("note")]), reply("no", stop="refused")], StopReason.REFUSED, "first"),
        ([reply("first", calls=[call("note")]), "", " "], StopReason.EMPTY_REPLY, "first"),
        ([Fault("context_overflow", "too long", 400)], StopReason.CONTEXT_OVERFLOW, ""),
        ([Fault("refused", "filtered", 400)], StopReason.REFUSED, ""),
        ([reply("first", calls=[call("note")]), AUTH], StopReason.PROVIDER_ERROR_4XX, "first"),
        ([DOWN], StopReason.PROVIDER_ERROR_5XX_EXHAUSTED, ""),
        ([TimeoutError("late")], StopReason.PROVIDER_ERROR_5XX_EXHAUSTED, ""),
        ([reply("first", calls=[call("note")]), ValueError("a defect")], StopReason.FAILED, "first"),
        ([reply("", stop="error"), reply("", stop="error")], StopReason.FAILED, ""),
    ],
    ids=[
        "cut off", "cut off before a word", "refused", "empty twice", "context", "filtered", "401", "529", "no reply",
        "provider defect", "unreadable twice",
    ],
)  # fmt: skip
async def test_a_run_that_did_not_succeed_says_how_it_ended(replies, reason, content):  # cases 38, 39
    result = await ends(*replies)
    assert (result.stop_reason, result.content, result.success) == (reason, content, False)
    assert result.error
    assert result.usage.requests == len(replies)
    with pytest.raises(RunError) as raised:
        result.raise_for_error()
    assert raised.value.result is result


async def test_an_empty_reply_is_asked_about_once():  # case 39
    model = scripted(["", "there it is"])
    result = await worker(model).run(task="t")
    assert (result.content, len(model.requests)) == ("there it is", 2)
    assert len(users(model.requests[1])) == 2


async def test_text_beside_calls_is_kept_and_is_not_the_answer():  # R20
    model = scripted([reply("let me look", calls=[call("note")], stop="stop"), "the answer"])
    result = await worker(model, tools=[note]).run(task="t")
    assert result.content == "the answer"
    assert [m.text for m in model.requests[1].messages if type(m).__name__ == "Assistant"] == ["let me look"]


async def test_a_workers_provider_that_fails_is_a_result_for_the_manager():  # case 17
    lead = scripted([call("research_agent", task="x"), "F"])
    result = await Office(boss(lead), workers=[worker(scripted([AUTH]))]).run("hi")
    assert (result.success, result.content) == (True, "F")
    said = last_result(lead)
    assert said.startswith("Error: ")
    assert "HTTP 401" in said
    assert [str(one.stop_reason) for one in result.failures] == ["provider_error_4xx"]
    assert result.to_dict()["failures"][0]["agent"] == "research_agent"


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside another"])
async def test_a_workers_provider_with_a_defect_is_a_result_too(beside, caplog):  # section 6, 14
    lead = scripted(
        [reply(calls=[call("research_agent", task="x"), *([call("writer_agent", task="y")] if beside else [])]), "F"]
    )
    both = [worker(scripted([ValueError("kaput")])), worker(scripted(["W"]), "writer_agent")]
    result = await Office(boss(lead), workers=both).run("hi")
    assert result.content == "F"
    first, *others = results(lead.requests[1])
    assert "ValueError: kaput" in first.content
    assert [one.content for one in others] == (["W"] if beside else [])
    assert any(record.exc_info for record in caplog.records)


async def test_usage_that_a_provider_does_not_send_counts_as_nothing_and_is_flagged():  # case 44
    lead = scripted([call("research_agent", task="x"), "F"])
    result = await Office(boss(lead), workers=[worker(scripted([reply("W", usage=None)]))]).run("hi")
    assert (result.success, result.usage.total, result.usage.complete) == (True, 30, False)
    assert result.by_agent["boss"].complete
    assert not result.by_agent["research_agent"].complete


class Breaking:
    """A provider whose stream breaks after some text."""

    model = "m"

    async def stream(self, request):
        yield TextDelta("half of ")
        yield TextDelta("it")
        raise ProviderError("net", Fault("network", "cut", retryable=True))


async def test_a_stream_that_breaks_keeps_the_text_that_was_shown():  # DESIGN 13
    result = await Agent("a", model=Breaking()).run(task="t")
    assert (result.stop_reason, result.content) == (StopReason.PROVIDER_ERROR_5XX_EXHAUSTED, "half of it")


class Answer(BaseModel):
    words: int


@pytest.mark.parametrize(
    ("replies", "output"),
    [
        (['{"words": 3}'], Answer(words=3)),
        (['```json\n{"words": 3}\n```'], Answer(words=3)),
        (["three", '{"words": 3}'], Answer(words=3)),
        (["three", '{"words": "many"}'], None),
    ],
    ids=["at once", "fenced", "repaired", "never"],
)
async def test_a_typed_output_is_checked_with_one_repair(replies, output):  # DESIGN 13
    model = scripted(replies)
    result = await worker(model).run(task="t", output_type=Answer)
    assert (result.output, result.success) == (output, output is not None)
    assert len(model.requests) == len(replies)
    assert model.requests[0].output.schema["properties"]["words"]["type"] == "integer"
    if output is None:
        assert (result.stop_reason, result.error_type) == (StopReason.FAILED, "OutputError")


class Lost:
    async def work(self, task, desk):
        return None


class Crashing:
    async def work(self, task, desk):
        await desk.call(desk.entry)
        raise RuntimeError("lost it")


@pytest.mark.parametrize(
    ("orchestrator", "content", "said"),
    [(Lost(), "", "NoneType"), (Crashing(), "kept", "RuntimeError: lost it")],
    ids=["returns nothing", "raises"],
)
async def test_a_defect_of_an_orchestrator_is_an_outcome(orchestrator, content, said):  # DESIGN 8
    result = await Office(worker(scripted(["kept"]))).run("hi", orchestrator=orchestrator)
    assert (result.stop_reason, result.content) == (StopReason.FAILED, content)
    assert said in result.error


async def test_a_watcher_that_raises_is_reported_once_and_changes_nothing(caplog):  # case 51
    calls = []

    def watch(event):
        calls.append(event.type)
        raise RuntimeError("sink is full")

    with caplog.at_level(logging.ERROR, "officellm"):
        result = await worker(scripted([call("note"), "end"]), tools=[note]).run(task="t", listener=watch)
    assert (result.content, calls) == ("end", ["run.start"])
    assert len([record for record in caplog.records if "listener failed" in record.message]) == 1


async def test_every_agent_that_started_has_an_end_in_the_events():
    async def hang() -> str:
        """Hang."""
        await asyncio.sleep(30)
        return "never"

    seen = []
    lead = scripted([call("research_agent", task="x")])
    office = Office(boss(lead), workers=[worker(scripted([call("hang")]), tools=[hang])])
    task = asyncio.create_task(office.run("hi", listener=seen.append))
    await asyncio.sleep(0.03)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(e.type, e.agent) for e in seen if e.type.startswith("agent.")] == [
        ("agent.start", "boss"),
        ("agent.start", "research_agent"),
        ("agent.end", "research_agent"),
        ("agent.end", "boss"),
    ]
    assert (seen[-1].type, seen[-1].stop_reason, seen[-1].usage.requests) == ("run.end", "cancelled", 2)


class Unset:
    """A provider that cannot be used as the user set it up."""

    def __init__(self):
        self.asked = 0

    async def stream(self, request):
        self.asked += 1
        raise ConfigError("the settings cannot be sent")
        yield Finished  # an async generator


async def test_settings_that_cannot_be_sent_raise_when_nothing_was_sent():  # DESIGN 8
    with pytest.raises(ConfigError, match="cannot be sent"):
        await Agent("a", model=Unset()).run(task="t")


async def test_settings_of_a_worker_that_cannot_be_sent_are_a_result():
    lead = scripted([call("research_agent", task="x"), "F"])
    result = await Office(boss(lead), workers=[worker(Unset())]).run("hi")
    assert result.content == "F"
    assert "cannot be sent" in last_result(lead)
