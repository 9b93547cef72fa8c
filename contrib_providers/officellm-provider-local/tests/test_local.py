"""What the local provider does with the real SmolLM2: choosing, calling, quoting, writing, stopping, failing."""

import asyncio
import contextlib
import json
import time
from pathlib import Path

import pytest

from officellm import (
    Agent,
    ConfigError,
    Finished,
    Host,
    Kind,
    Office,
    OutputSchema,
    ProviderError,
    Request,
    System,
    TextDelta,
    ToolCall,
    ToolResult,
    User,
    tool,
)
from officellm.messages import Assistant

NOTE = "The canteen opens at 11:30 and closes at 14:00. On Fridays there is fish. A meal costs 6.80 euros for staff."
NAMES = {"poet": "Writes poems and songs.", "baker": "Bakes bread and cakes.", "coder": "Writes program code."}


def choice(**more):
    properties = {"agent": {"enum": list(NAMES)}, "reason": {"type": "string"}, **more}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return OutputSchema("choice", schema, choice="agent", choices=NAMES)


def asked(text, **more):
    return Request(model="smollm2", messages=[User(text)], **more)


def looked_up(question, *notes):
    calls = tuple(ToolCall(f"c{index}", f"notes_{index}", {}) for index in range(len(notes)))
    results = [ToolResult(f"c{index}", f"notes_{index}", note) for index, note in enumerate(notes)]
    return Request(model="smollm2", messages=[User(question), Assistant("", calls), *results])


async def reply_of(provider, request):
    async with contextlib.aclosing(provider.stream(request)) as deltas:
        found = [delta async for delta in deltas]
    assert isinstance(found[-1], Finished)
    return found[-1].reply, "".join(delta.text for delta in found if isinstance(delta, TextDelta))


async def test_a_choice_is_weighed_and_says_so(local):
    request = asked(
        "Task: Fix the login script\n\nDescription: It crashes.", output=choice(confidence={"type": "number"})
    )
    reply, _ = await reply_of(local(), request)
    said = json.loads(reply.message.text)
    assert said["agent"] == "coder"
    assert said["reason"] == "closest in meaning of 3"
    assert 1 / 3 < said["confidence"] <= 1
    assert reply.raw_stop == "weighed"
    assert reply.usage.input > 0
    assert reply.usage.complete


async def test_the_same_choice_is_made_every_time(local):
    request = asked("Sing me something about the sea", output=choice(confidence={"type": "number"}))
    first, _ = await reply_of(local(), request)
    second, _ = await reply_of(local(), request)
    assert first.message == second.message


@pytest.mark.parametrize(
    ("settings", "output"),
    [({"choose": "write"}, choice()), ({}, choice(plan={"type": "string", "maxLength": 20}))],
    ids=["as the settings say", "because more is asked for than can be weighed"],
)
async def test_a_choice_may_be_written(local, settings, output):
    reply, _ = await reply_of(local(**settings), asked("Fix the script", output=output))
    assert json.loads(reply.message.text)["agent"] in NAMES
    assert reply.raw_stop == "stop"
    assert reply.usage.output > 0


async def test_an_answer_quotes_the_sentence_that_the_question_is_about(local):
    reply, _ = await reply_of(local(), looked_up("When does the canteen close?", NOTE))
    assert reply.message.text == '"The canteen opens at 11:30 and closes at 14:00."'
    assert reply.raw_stop == "quoted"
    assert reply.usage.total > 0


async def test_an_answer_quotes_each_result_under_its_tools_name(local):
    request = looked_up("When does the canteen close, and where is the key?", NOTE, '"Paula has the key."')
    reply, _ = await reply_of(local(), request)
    assert reply.message.text.splitlines() == [
        'notes_0: "The canteen opens at 11:30 and closes at 14:00."',
        'notes_1: "Paula has the key."',
    ]


async def test_an_answer_is_written_where_the_settings_say_so(local):
    reply, _ = await reply_of(local(answer="write", max_tokens=30), looked_up("When does the canteen close?", NOTE))
    assert reply.raw_stop in ("stop", "length")
    assert reply.usage.output > 0


async def test_written_text_streams_and_adds_up_to_the_reply(local):
    request = asked("Say hello.", stream=True, settings={"max_tokens": 12})
    reply, shown = await reply_of(local(), request)
    assert shown == reply.message.text != ""
    reply, shown = await reply_of(local(), asked("Say hello.", settings={"max_tokens": 12}))
    assert shown == ""


async def test_a_reply_that_meets_the_token_limit_says_so(local):
    reply, _ = await reply_of(local(max_tokens=3), asked("Tell me a long story."))
    assert reply.stop == "length"
    assert reply.usage.output == 3


async def test_an_agent_calls_its_tool_once_and_answers_from_the_result(local):
    calls = []

    @tool
    def search_notes(query: str) -> str:
        """Searches the notes of the office and returns the best note."""
        calls.append(query)
        return NOTE

    clerk = Agent("clerk", model=local(), tools=[search_notes], instructions="Answer from the notes.")
    result = await Office(clerk).run("When does the canteen close?")
    assert result.success, result.error
    assert len(calls) == 1
    assert "canteen" in calls[0].lower()
    assert "14:00" in result.content
    assert result.usage.total > 0


async def test_three_runs_at_once_each_get_their_own_answer(local):
    notes = {"Who has the key?": "Paula has the key. It is red.", "What is for lunch?": "Soup is for lunch. It is hot."}
    questions = [*notes, "Who has the key?"]
    replies = await asyncio.gather(*(reply_of(local(), looked_up(text, notes[text])) for text in questions))
    assert [reply.message.text for reply, _ in replies] == [
        '"Paula has the key."',
        '"Soup is for lunch."',
        '"Paula has the key."',
    ]


async def test_a_request_that_takes_too_long_is_a_timeout(local):
    with pytest.raises(ProviderError) as caught:
        await reply_of(local(timeout=0.1, max_tokens=1000), asked("Tell me a very long story."))
    assert caught.value.fault.kind == "timeout"


async def test_a_deadline_is_kept(local):
    request = asked("Tell me a very long story.", deadline=time.monotonic() + 0.1, settings={"max_tokens": 1000})
    with pytest.raises(ProviderError) as caught:
        await reply_of(local(), request)
    assert caught.value.fault.kind == "timeout"


async def test_a_prompt_that_is_too_long_is_a_context_overflow(local):
    with pytest.raises(ProviderError) as caught:
        await reply_of(local(), asked("word " * 3000))
    assert caught.value.fault.kind == "context_overflow"


async def test_a_prompt_that_is_longer_than_one_batch_is_read(local):
    request = Request(model="smollm2", messages=[System("Be brief."), User("word " * 700)], settings={"max_tokens": 2})
    reply, _ = await reply_of(local(), request)
    assert reply.usage.input > 700


async def test_a_long_task_is_weighed(local):
    reply, _ = await reply_of(local(), asked("Bake a cake. " * 900, output=choice()))
    assert json.loads(reply.message.text)["agent"] == "baker"


@pytest.mark.parametrize(
    "text", ["\u4f60\u597d " * 900, "\U0001f600" * 900, "a\x00b \x1b", "\ud800 x", '{} "{0}" %s \\'], ids=ascii
)
async def test_odd_text_is_weighed_and_quoted(local, text):
    reply, _ = await reply_of(local(), asked(text, output=choice()))
    assert json.loads(reply.message.text)["agent"] in NAMES
    reply, _ = await reply_of(local(), looked_up(f"What is {text[:40]}?", f"Bees fly. {text}. Bees hum."))
    assert reply.raw_stop == "quoted"


async def test_a_result_without_a_sentence_is_left_to_the_model(local):
    reply, _ = await reply_of(local(max_tokens=5), looked_up("When does it close?", "---"))
    assert reply.raw_stop in ("stop", "length")


async def test_a_request_to_stop_after_the_results_is_not_taken_for_the_question(local):
    request = looked_up("When does the canteen close?", NOTE)
    closing = Request(model="smollm2", messages=[*request.messages, User("You must stop here. Answer now.")])
    reply, _ = await reply_of(local(), closing)
    assert "14:00" in reply.message.text


async def test_a_schema_that_llama_cpp_cannot_take_is_a_bad_request(local):
    with pytest.raises(ProviderError) as caught:
        await reply_of(local(), asked("Go", output=OutputSchema("x", {"type": "foo"})))
    assert caught.value.fault.kind == "bad_request"


async def test_a_file_that_is_no_model_is_a_configuration_error(local, tmp_path):
    path = tmp_path / "junk.gguf"
    path.write_bytes(b"junk")
    with pytest.raises(ConfigError, match=r"junk\.gguf"):
        await reply_of(local(), Request(model=str(path), messages=[User("Hi")]))


@pytest.mark.needs_nothing
def test_a_model_file_that_is_not_there_ends_the_run_with_its_name(tmp_path):
    path = tmp_path / "none.gguf"
    with pytest.raises(ConfigError, match=r"none\.gguf"):
        Office(Agent("clerk", model=f"local:{path}")).run_sync("Hi")


@pytest.mark.needs_nothing
@pytest.mark.parametrize(
    "values", [{"api_key_env": "X"}, {"base_url": "http://x"}, {"threads": 0}, {"tool_mode": "native"}], ids=str
)
def test_a_setting_that_means_nothing_here_is_refused(values):
    with pytest.raises(ConfigError, match=next(iter(values))):
        Host().settings(Kind.PROVIDER, "local", values)


async def test_two_providers_share_one_loaded_model(local):
    from officellm_provider_local.files import model_file
    from officellm_provider_local.model import load

    await reply_of(local(), asked("Hi", settings={"max_tokens": 1}))
    assert load(model_file("smollm2"), 1, 2048) is load(Path(model_file("smollm2")), 1, 2048)
