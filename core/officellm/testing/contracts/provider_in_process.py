"""The suite of providers that have no server: what a model in this process can promise."""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings as hypothesis_settings
from jsonschema import Draft202012Validator

from officellm.agents import Agent
from officellm.clock import SystemClock
from officellm.codec import loads
from officellm.errors import ProviderError
from officellm.kinds import Kind
from officellm.limits import Limits
from officellm.messages import Assistant, Delta, Finished, OutputSchema, Request, ToolResult, ToolSpec, User
from officellm.office import Office
from officellm.protocols import Provider
from officellm.results import StopReason
from officellm.testing.contracts.base import Contract, run
from officellm.testing.contracts.exchanges import essence, reply_of, text_of
from officellm.testing.contracts.strategies import histories
from officellm.toolmode import adapted

_QUESTIONS = ("Say hello.", "Name a colour.", "Count to three.", "Say goodbye.")
_PEOPLE = {"poet": "Writes poems and songs.", "baker": "Bakes bread and cakes.", "coder": "Writes program code."}
_FORM = {
    "type": "object",
    "properties": {"count": {"type": "integer"}, "word": {"type": "string", "maxLength": 20}},
    "required": ["count", "word"],
    "additionalProperties": False,
}
_TOOLS = (
    ToolSpec("look_up", "Finds a word.", {"type": "object", "properties": {"word": {"type": "string"}}}),
    ToolSpec("clock", "Tells the time.", {"type": "object", "properties": {}}),
)
#: Seconds after which a request that lasts is given up, and seconds that a loop may stand still.
_SOON = 0.05
_STILL = 0.5


class NoHttp:
    """An `HttpFactory` for whoever needs none."""

    clock = SystemClock()

    def __call__(self) -> Any:
        """Never."""
        raise AssertionError("a provider in this process asked for an HTTP client")


class InProcessProviderContract(Contract):
    """For a driver of `officellm.providers` that speaks no HTTP: give it `name`."""

    kind: ClassVar[Kind] = Kind.PROVIDER
    #: The model that is asked; empty for the provider's own.
    model_name: ClassVar[str] = ""
    #: Settings of a request with which it answers soon, and the same every time.
    brief: ClassVar[Mapping[str, Any]] = {}
    #: Settings of a request with which it would take long.
    lasting: ClassVar[Mapping[str, Any]] = {}
    #: Seconds within which it stops once nobody waits for it, and answers a brief request.
    patience: ClassVar[float] = 5.0
    #: How many histories are tried.
    examples: ClassVar[int] = 25

    def make(self, **settings: Any) -> Any:
        """A provider."""
        host = self.host()
        return host.provider(self.name, "contract", self.read_settings(host, **settings), NoHttp())

    def request(self, text: str = _QUESTIONS[0], **fields: Any) -> Request:
        """A brief request."""
        return Request(**{"model": self.model_name, "messages": (User(text),), "settings": self.brief, **fields})

    async def deltas(self, provider: Provider, request: Request) -> list[Delta]:
        """All deltas of one reply."""
        async with aclosing(provider.stream(request)) as stream:  # type: ignore[type-var]
            return [delta async for delta in stream]

    @pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
    def test_the_deltas_are_the_reply(self, streamed: bool) -> None:
        """`Finished` once, at the end; what was shown before it is its text, and the counts are sound."""
        deltas = run(self.deltas(self.make(), self.request(stream=streamed)))
        reply = reply_of(deltas)
        assert not any(isinstance(delta, Finished) for delta in deltas[:-1])
        assert text_of(deltas) in ((reply.message.text,) if streamed else ("", reply.message.text))
        assert 0 <= reply.usage.cached <= reply.usage.input
        assert 0 <= reply.usage.reasoning <= reply.usage.output

    def test_a_request_is_left_as_it_was(self) -> None:
        """It belongs to its caller."""
        request = self.request(tools=_TOOLS)
        before = copy.deepcopy(request)
        run(self.deltas(adapted(self.make()), request))
        assert request == before

    @pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
    def test_a_form_is_kept(self, streamed: bool) -> None:
        """The text is JSON that fits the schema."""
        form = OutputSchema("form", _FORM)
        request = self.request("A number and a word.", output=form, stream=streamed, settings={})
        reply = reply_of(run(self.deltas(self.make(), request)))
        assert list(Draft202012Validator(_FORM).iter_errors(loads(reply.message.text))) == []

    def test_a_choice_is_one_of_those_on_offer(self) -> None:
        """Whether it was weighed or written."""
        properties = {"agent": {"enum": list(_PEOPLE)}, "reason": {"type": "string", "maxLength": 40}}
        schema = {"type": "object", "properties": properties, "required": ["agent", "reason"]}
        output = OutputSchema("choice", schema, choice="agent", choices=_PEOPLE)
        request = self.request("Fix the login script.", output=output, settings={})
        reply = reply_of(run(self.deltas(self.make(), request)))
        assert list(Draft202012Validator(schema).iter_errors(loads(reply.message.text))) == []

    @pytest.mark.parametrize("tool_choice", ["auto", "required", "clock", "none"])
    def test_calls_are_of_tools_on_offer_and_have_ids_of_their_own(self, tool_choice: str) -> None:
        """Its own calls, or those that it writes as it was asked to; none where none is wanted."""
        request = self.request("What time is it?", tools=_TOOLS, tool_choice=tool_choice, settings={})
        made = reply_of(run(self.deltas(adapted(self.make()), request))).message.calls
        allowed = {"auto": ("look_up", "clock"), "required": ("look_up", "clock"), "none": ()}
        assert {one.name for one in made} <= set(allowed.get(tool_choice, (tool_choice,)))
        assert all(one.arguments is not None for one in made)
        assert all(one.id for one in made)
        assert len({one.id for one in made}) == len(made)

    def test_a_run_with_tools_ends_and_every_call_is_answered(self) -> None:
        """Also where it would call for ever."""

        def clock() -> str:
            """Tells the time."""
            return "It is six o'clock."

        clerk = Agent("clerk", model=adapted(self.make()), tools=[clock])

        async def worked() -> Any:
            limits = Limits(max_turns=4)
            async with Office(clerk, limits=limits, host=self.host()) as office:
                return await office.run("What time is it?")

        result = run(worked())
        assert result.stop_reason != StopReason.FAILED, result.error
        calls = [one.id for message in result.messages if isinstance(message, Assistant) for one in message.calls]
        answered = [message.call_id for message in result.messages if isinstance(message, ToolResult)]
        assert calls == answered
        assert len(set(calls)) == len(calls)

    def test_many_requests_at_once_are_each_answered(self) -> None:
        """On one instance, which keeps nothing between them: each as it would be alone."""
        provider = self.make()
        requests = [self.request(text) for text in _QUESTIONS]

        async def alone() -> list[Any]:
            return [essence(reply_of(await self.deltas(provider, request)))[:3] for request in requests]

        async def together() -> list[Any]:
            read = await asyncio.gather(*(self.deltas(provider, request) for request in requests))
            return [essence(reply_of(deltas))[:3] for deltas in read]

        assert run(together()) == run(alone())

    def test_one_event_loop_after_another_may_use_it(self) -> None:
        """An office that is run again and again keeps its providers."""
        provider = self.make()
        first, second = (reply_of(run(self.deltas(provider, self.request()))) for _ in range(2))
        assert first.message.text == second.message.text

    def test_cancellation_stops_it_at_once(self) -> None:
        """It is passed on, and the model is free for the next request."""
        provider = self.make()

        async def cancelled() -> None:
            await self.deltas(provider, self.request())  # what is loaded on first use is loaded now
            work = asyncio.create_task(self.deltas(provider, self.endless()))
            await asyncio.sleep(_SOON)
            if work.done():
                pytest.skip("it answers before anyone could leave")
            work.cancel()
            async with asyncio.timeout(self.patience):
                with pytest.raises(asyncio.CancelledError):
                    await work
                await self.deltas(provider, self.request())

        run(cancelled(), seconds=60)

    def test_leaving_the_stream_stops_it_at_once(self) -> None:
        """After the first words, and the model is free for the next request."""
        provider = self.make()

        async def left() -> None:
            await self.deltas(provider, self.request())
            async with aclosing(provider.stream(self.endless())) as stream:
                async for delta in stream:
                    if isinstance(delta, Finished):
                        pytest.skip("it answers before anyone could leave")
                    break
                started = time.monotonic()
            await self.deltas(provider, self.request())
            assert time.monotonic() - started < self.patience

        run(left(), seconds=60)

    def test_a_deadline_is_kept(self) -> None:
        """A reply in time, or a timeout."""
        provider = self.make()

        async def late() -> None:
            await self.deltas(provider, self.request())
            with suppress(ProviderError):
                async with asyncio.timeout(self.patience):
                    await self.deltas(provider, self.endless(deadline=NoHttp.clock.monotonic() + 2 * _SOON))

        run(late(), seconds=60)

    def test_the_event_loop_runs_on_while_it_works(self) -> None:
        """Other runs, and the screen, wait for nobody."""
        provider = self.make()

        async def ticking() -> float:
            await self.deltas(provider, self.request())
            work = asyncio.create_task(self.deltas(provider, self.request(_QUESTIONS[2])))
            longest = 0.0
            while not work.done():
                before = time.monotonic()
                await asyncio.sleep(0.005)
                longest = max(longest, time.monotonic() - before)
            await work
            return longest

        assert run(ticking()) < _STILL

    def test_any_history_is_answered_or_refused_in_words(self) -> None:
        """As transfers, interrupted runs and vendors leave it, with pictures and files: no other exception."""
        provider = self.make()

        @hypothesis_settings(max_examples=self.examples, deadline=None, database=None)
        @given(histories(self.name, self.model_name))
        def made_up(messages: Sequence[Any]) -> None:
            words = ""
            try:
                read = run(self.deltas(provider, self.request(messages=messages)))
            except ProviderError as error:
                words = error.fault.message.strip()
            assert words or text_of(read) in ("", reply_of(read).message.text)

        made_up()

    def endless(self, **fields: Any) -> Request:
        """A request that lasts."""
        return self.request(
            "Tell me a very long story.", stream=True, settings={**self.brief, **self.lasting}, **fields
        )
