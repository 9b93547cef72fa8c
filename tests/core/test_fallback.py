"""Fallback models: asked in order where one fails, never once something was shown, and all that was paid is counted."""

from __future__ import annotations

import pytest

from officellm import Agent, ConfigError, Fault, Office, ProviderError, Request, TextDelta, Usage, User
from officellm.fallback import Fallback
from officellm.testing import reply, scripted

AUTH = Fault("auth", "no key", 401)


def request():
    return Request(model="", messages=(User("hi"),), retries=0)


async def answer(fallback, asked=None):
    return [delta async for delta in fallback.stream(asked or request())][-1].reply


def over(first, on=("error",)):
    second = scripted(["from the second"])
    return Fallback([(scripted([first]), "one"), (second, "two")], on), second


@pytest.mark.parametrize(
    "fault",
    [
        AUTH,
        Fault("quota", "no credit", 402),
        Fault("bad_request", "no such model", 404),
        Fault("rate_limit", "too fast", 429, retryable=True),
        Fault("server", "broken", 500, retryable=True),
        Fault("overloaded", "busy", 529, retryable=True),
        Fault("network", "the connection broke", retryable=True),
        Fault("malformed", "not JSON", 200, retryable=True),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.status}",
)
async def test_a_failed_request_goes_to_the_next_model(fault):
    fallback, _ = over(fault)
    asked = request()

    assert (await answer(fallback, asked)).message.text == "from the second"
    assert asked.model == "two"


@pytest.mark.parametrize(
    ("fault", "on"),
    [
        (Fault("bad_request", "no such field", 400), ("error", "refused")),
        (Fault("context_overflow", "too long", 400), ("error", "refused")),
        (Fault("refused", "flagged", 400), ("error",)),
        (AUTH, ("refused",)),
    ],
    ids=["bad-request", "too-long", "refused", "not-asked-for"],
)
async def test_other_failures_are_the_answer(fault, on):
    fallback, second = over(fault, on)

    with pytest.raises(ProviderError):
        await answer(fallback)
    assert second.requests == []


async def test_a_filter_of_the_service_is_a_refusal():
    fallback, _ = over(Fault("refused", "flagged", 400), ("refused",))

    assert (await answer(fallback)).message.text == "from the second"


@pytest.mark.parametrize(
    ("first", "on"),
    [(reply("", stop="refused"), "refused"), (reply("No.", stop="refused"), "refused"), (reply(""), "bad_reply")],
    ids=["refused", "refused-in-words", "empty"],
)
async def test_a_reply_that_is_none_goes_on_only_where_that_is_asked_for(first, on):
    kept, second = over(first)
    assert (await answer(kept)).message.text != "from the second"
    assert second.requests == []

    fallback, _ = over(first, (on,))
    assert (await answer(fallback)).message.text == "from the second"


async def test_what_an_unused_reply_took_is_counted():
    fallback, _ = over(reply("", usage=Usage(input=100, output=1)), ("bad_reply",))
    alone = await answer(Fallback([(scripted(["from the second"]), "two")]))

    assert (await answer(fallback)).usage.total == alone.usage.total + 101


class Breaks:
    """Shows a text, then fails."""

    async def stream(self, request):
        yield TextDelta("Once upon")
        raise ProviderError("first", Fault("network", "cut", retryable=True), partial="Once upon")


async def test_nothing_that_was_shown_is_taken_back():
    second = scripted(["from the second"])

    with pytest.raises(ProviderError) as raised:
        await answer(Fallback([(Breaks(), "one"), (second, "two")]))
    assert raised.value.partial == "Once upon"
    assert second.requests == []


async def test_where_all_fail_the_last_error_names_what_was_tried():
    models = [(scripted([Fault("rate_limit", "too fast", 429)]), "one"), (scripted([AUTH]), "two")]

    with pytest.raises(ProviderError, match="before that one: rate_limit") as raised:
        await answer(Fallback(models))
    assert raised.value.fault.kind == "auth"


async def test_an_agent_falls_back_and_says_so():
    agent = Agent("a", model=scripted([AUTH]), fallback=[scripted(["saved"])])
    retries = []
    async with Office(agent).stream("t") as run:
        async for event in run:
            if event.type == "model.retry":
                retries.append(event.fault)

    assert (run.result.content, run.result.success, retries) == ("saved", True, ["auth"])


def test_an_agent_says_what_is_wrong_with_its_fallback():
    with pytest.raises(ConfigError, match="fallback_on must be a list of error, refused, bad_reply"):
        Agent("a", fallback_on=["always"])
    with pytest.raises(ConfigError, match=r"fallback must be a list, not 'openai:x'"):
        Agent("a", fallback="openai:x")
    with pytest.raises(ConfigError, match="agent 'a': fallback: unknown provider 'opnai'"):
        Office(Agent("a", model=scripted(["x"]), fallback=["opnai:x"])).run_sync("t")
