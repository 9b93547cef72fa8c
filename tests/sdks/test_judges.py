"""The vendors' own SDKs read the fake server's replies as the script means them, and it takes what they send."""

from __future__ import annotations

import contextlib
import copy
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest

from officellm.messages import Usage
from officellm.testing import FakeLLM, call, calls, fault, reply, rule

from .judge import EVERY, KEY, PACKAGES, Judge, Tide, judge_named

# What an SDK's own code is warned of is its makers' business.
pytestmark = pytest.mark.filterwarnings(*{rf"ignore:::{re.escape(name)}\b" for name in PACKAGES.values()})

WORDS = "Low tide at 6 – bring boots."
TWO = calls(call("search", query="Gezeiten–Tümpel"), call("search", query="b"), text="Looking.")
COUNTS = Usage(input=321, output=45, cached=64, reasoning=7)

every_sdk = pytest.mark.parametrize("sdk", EVERY)
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
#: The SDKs that have a way to read structured output.
parsers = pytest.mark.parametrize(
    "sdk", ["openai_chat", "openai_responses", "anthropic_messages", "google_gemini", "mistral_chat"]
)
#: The SDKs that list models; Amazon has another client for it.
listers = pytest.mark.parametrize("sdk", [name for name in EVERY if not name.startswith("bedrock_")])
#: Where the SDKs whose errors show it keep the time to wait.
SAYS_WHEN: Mapping[str, Callable[[Any], str]] = {
    "openai_chat": lambda error: error.response.headers["retry-after"],
    "openai_responses": lambda error: error.response.headers["retry-after"],
    "anthropic_messages": lambda error: error.response.headers["retry-after"],
    "google_gemini": lambda error: error.details["error"]["details"][0]["retryDelay"].removesuffix("s"),
    "mistral_chat": lambda error: error.headers["retry-after"],
    "cohere_chat": lambda error: error.headers["retry-after"],
}
#: The SDKs that raise for an error in a stream; Cohere's gives the event.
raisers = pytest.mark.parametrize("sdk", [name for name in EVERY if name != "cohere_chat"])


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch):
    """No address and no key of this machine reaches an SDK."""
    starts = ("OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_", "MISTRAL_", "CO_API", "OLLAMA_", "AWS_")
    for name in [name for name in os.environ if name.startswith(starts)]:
        monkeypatch.delenv(name)


@contextlib.asynccontextmanager
async def judging(sdk: str, *script: Any, key: str = KEY) -> AsyncIterator[Any]:
    """An SDK, pointed at a server that plays this script; no request may be refused unless the test says so."""
    kind = judge_named(sdk)
    async with FakeLLM(list(script), key=KEY, models=["small", "large"]) as llm:
        judge = kind(llm, key)
        judge.llm = llm
        try:
            yield judge
        finally:
            await judge.close()


@every_sdk
@both_ways
async def test_a_text_arrives(sdk, stream):
    async with judging(sdk, WORDS) as judge:
        got = await judge.ask(judge.user("When?"), stream=stream)
        assert (got.text, got.calls) == (WORDS, [])
        assert got.finish == judge.words.finish["stop"]
        assert [(one.stream, one.heard.task, one.outcome) for one in judge.llm.requests] == [
            (stream, "When?", "answered")
        ]


@every_sdk
@both_ways
async def test_parallel_calls_arrive_and_their_results_go_back_in_the_sdks_own_types(sdk, stream):
    async with judging(sdk, TWO, "{tools}", "Welcome.") as judge:
        history = judge.user("When?")
        got = await judge.ask(history, stream=stream, tools=True)
        assert got.text == "Looking."
        assert got.calls == [("search", {"query": "Gezeiten–Tümpel"}), ("search", {"query": "b"})]
        assert got.finish == judge.words.finish["tool_calls"]
        history += [*got.turn, *judge.results(got, ["six", "seven"])]
        done = await judge.ask(history, stream=stream, tools=True)
        assert judge.llm.refusals == []
        assert done.text == "six\nseven"
        history += [*done.turn, *judge.user("Thanks.")]
        assert (await judge.ask(history, stream=stream, tools=True)).text == "Welcome."


@every_sdk
@both_ways
@pytest.mark.parametrize("stop", ["length", "refused"])
async def test_a_finish_reason_is_the_vendors_word(sdk, stream, stop):
    said = reply("" if stop == "refused" else "Low ti", stop=stop)
    async with judging(sdk, said) as judge:
        assert (await judge.ask(judge.user("When?"), stream=stream)).finish == judge.words.finish[stop]


@every_sdk
@both_ways
async def test_the_counts_are_the_scripts(sdk, stream):
    async with judging(sdk, reply(WORDS, usage=COUNTS)) as judge:
        counted = (await judge.ask(judge.user("When?"), stream=stream)).usage
        assert counted == {name: getattr(COUNTS, name) for name in counted}
        assert {"input", "output"} <= set(counted)


@every_sdk
@both_ways
async def test_a_429_is_the_sdks_rate_limit_error(sdk, stream):
    async with judging(sdk, rule(fault("429"), by="order")) as judge:
        await _fails(judge, "rate_limit", judge.ask(judge.user("When?"), stream=stream))
        assert len(judge.llm.requests) == 1


@pytest.mark.parametrize("sdk", SAYS_WHEN)
async def test_a_429_tells_the_sdk_when_to_come_back(sdk):
    async with judging(sdk, fault("429", retry_after=7)) as judge:
        error = await _fails(judge, "rate_limit", judge.ask(judge.user("When?")))
        assert SAYS_WHEN[sdk](error) == "7"


@every_sdk
async def test_a_request_that_the_vendor_refuses_is_the_sdks_bad_request_error(sdk):
    async with judging(sdk, "never said") as judge:
        await _fails(judge, "bad_request", judge.ask_for_nonsense())
        assert len(judge.llm.refusals) == 1


@every_sdk
@both_ways
async def test_a_wrong_key_is_the_sdks_auth_error(sdk, stream):
    async with judging(sdk, "never said", key="wrong-key") as judge:
        await _fails(judge, "auth", judge.ask(judge.user("When?"), stream=stream))


@listers
async def test_the_models_are_listed(sdk):
    async with judging(sdk, "never said") as judge:
        assert await judge.models() == ["small", "large"]


@raisers
async def test_an_error_in_a_stream_is_raised(sdk):
    async with judging(sdk, fault("error_in_200", message="Overloaded by tourists")) as judge:
        error = await _fails(judge, "mid_stream", judge.ask(judge.user("When?"), stream=True))
        assert ("Overloaded by tourists" in str(error)) is judge.words.errors["mid_stream"].quotes


async def test_an_error_in_a_stream_is_the_ending_of_cohere():
    async with judging("cohere_chat", fault("error_in_200")) as judge:
        assert (await judge.ask(judge.user("When?"), stream=True)).finish == "ERROR"


@parsers
async def test_structured_output_is_parsed(sdk):
    async with judging(sdk, '{"place": "Büsum", "metres": 3}') as judge:
        assert await judge.parsed("How high?") == Tide(place="Büsum", metres=3)
        assert judge.llm.refusals == []


@pytest.mark.parametrize("sdk", ["openai_chat", "openai_responses"])
@both_ways
async def test_a_refusal_of_openai_has_its_own_field(sdk, stream):
    async with judging(sdk, reply("I can't help with that.", stop="refused")) as judge:
        got = await judge.ask(judge.user("How?"), stream=stream)
        assert (got.text, got.refusal, got.finish) == ("", "I can't help with that.", judge.words.finish["stop"])


@every_sdk
@both_ways
async def test_reasoning_arrives_beside_the_text(sdk, stream):
    async with judging(sdk, reply(WORDS, reasoning="Moon and – sun.")) as judge:
        got = await judge.ask(judge.user("When?"), stream=stream)
        assert (got.text, got.reasoning) == (WORDS, "Moon and – sun.")


@both_ways
async def test_a_thinking_block_of_anthropic_is_taken_back_unchanged_only(stream):
    thinks = reply(calls=[call("search", query="a")], reasoning="Let me look.")
    async with judging("anthropic_messages", thinks, "Found.") as judge:
        history = judge.user("When?")
        got = await judge.ask(history, stream=stream, tools=True, thinking=True)
        assert got.reasoning == "Let me look."
        changed = copy.deepcopy(got.turn)
        changed[0]["content"][0].thinking = "Let me lie."
        without = [{**got.turn[0], "content": got.turn[0]["content"][1:]}]
        results = judge.results(got, ["six"])
        for bad in (changed, without):
            await _fails(judge, "bad_request", judge.ask([*history, *bad, *results], tools=True, thinking=True))
        done = await judge.ask([*history, *got.turn, *results], stream=stream, tools=True, thinking=True)
        assert done.text == "Found."


@both_ways
async def test_a_thought_of_openai_is_taken_back_unchanged_and_with_its_call_only(stream):
    thinks = reply(calls=[call("search", query="a")], reasoning="Let me look.")
    async with judging("openai_responses", thinks, "Found.") as judge:
        history = judge.user("When?")
        got = await judge.ask(history, stream=stream, tools=True)
        results = judge.results(got, ["six"])
        thought, called = got.turn
        for bad in ([thought.model_copy(update={"encrypted_content": "lie"}), called], [called], [called, thought]):
            await _fails(judge, "bad_request", judge.ask([*history, *bad, *results], tools=True))
        assert (await judge.ask([*history, *got.turn, *results], stream=stream, tools=True)).text == "Found."


@both_ways
async def test_a_thinking_block_of_bedrock_is_taken_back_unchanged_only(stream):
    thinks = reply(calls=[call("search", query="a")], reasoning="Let me look.")
    async with judging("bedrock_converse", thinks, "Found.") as judge:
        history = judge.user("When?")
        got = await judge.ask(history, stream=stream, tools=True)
        results = judge.results(got, ["six"])
        changed = copy.deepcopy(got.turn)
        changed[0]["content"][0]["reasoningContent"]["reasoningText"]["text"] = "Let me lie."
        unsigned = copy.deepcopy(got.turn)
        del unsigned[0]["content"][0]["reasoningContent"]["reasoningText"]["signature"]
        for bad in (changed, unsigned):
            await _fails(judge, "bad_request", judge.ask([*history, *bad, *results], tools=True))
        assert (await judge.ask([*history, *got.turn, *results], stream=stream, tools=True)).text == "Found."


@both_ways
async def test_a_thinking_block_of_an_invoked_model_is_taken_back_unchanged_only(stream):
    thinks = reply(calls=[call("search", query="a")], reasoning="Let me look.")
    async with judging("bedrock_invoke", thinks, "Found.") as judge:
        history = judge.user("When?")
        got = await judge.ask(history, stream=stream, tools=True)
        results = judge.results(got, ["six"])
        for change in ({"thinking": "Let me lie."}, {"signature": ""}):
            bad = copy.deepcopy(got.turn)
            bad[0]["content"][0] |= change
            await _fails(judge, "bad_request", judge.ask([*history, *bad, *results], tools=True))
        assert (await judge.ask([*history, *got.turn, *results], stream=stream, tools=True)).text == "Found."


@both_ways
async def test_a_signature_of_gemini_is_taken_back_unchanged_only(stream):
    async with judging("google_gemini", call("search", query="a"), "Found.") as judge:
        history = judge.user("When?")
        got = await judge.ask(history, stream=stream, tools=True)
        results = judge.results(got, ["six"])
        for signature in (None, b"another"):
            bad = copy.deepcopy(got.turn)
            bad[0].parts[0].thought_signature = signature
            await _fails(judge, "bad_request", judge.ask([*history, *bad, *results], tools=True))
        assert (await judge.ask([*history, *got.turn, *results], stream=stream, tools=True)).text == "Found."


async def _fails(judge: Judge, kind: str, asked: Any) -> Exception:
    wanted = judge.words.errors[kind]
    with pytest.raises(wanted.kind) as caught:
        await asked
    if wanted.status is not None:
        assert judge.status(caught.value) == wanted.status
    return caught.value
