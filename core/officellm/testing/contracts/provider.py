"""The suite of providers that speak HTTP. What their faults must be stands in `provider_faults`."""

from __future__ import annotations

import asyncio
import copy
import re
from contextlib import aclosing

import httpx
import pytest

from officellm.messages import Delta, Finished, Reply, ToolResult, Usage, User
from officellm.testing.contracts.base import KEY, key_in_environment, run
from officellm.testing.contracts.exchanges import essence, reply_of, text_of
from officellm.testing.contracts.playback import Answer, Exchange, Playback, recut
from officellm.testing.contracts.provider_faults import ProviderFaults

_CROWD = 24
_NUMBER = re.compile(rb"question-(\d+)-")


class ProviderContract(ProviderFaults):
    """For a driver of `officellm.providers` that speaks HTTP: give it `name` and `exchanges`."""

    def test_it_has_golden_exchanges(self) -> None:
        """A text and a call; without them this suite says little."""
        assert any(one.text and one.fault is None for one in self.exchanges), "give an exchange with a text"
        assert any(one.calls for one in self.exchanges), "give an exchange with a call"

    def test_a_reply_means_what_it_says(self, exchange: Exchange) -> None:
        """Text, calls, stop and usage, and `Finished` once, at the end."""
        deltas = self.play(exchange)
        reply = reply_of(deltas)
        assert reply.message.text == exchange.text
        wanted = [(id, name, dict(arguments)) for id, name, arguments in exchange.calls]
        assert [
            (one.id if id is not None else None, one.name, one.arguments)
            for one, (id, _, _) in zip(reply.message.calls, wanted, strict=True)
        ] == wanted
        assert reply.stop == exchange.stop
        assert not any(isinstance(delta, Finished) for delta in deltas[:-1])

    def test_usage_is_counted_or_said_to_be_unknown(self, exchange: Exchange) -> None:
        """Never negative, parts within their wholes, the total their sum, requests left to the run."""
        usage = reply_of(self.play(exchange)).usage
        assert usage.complete == (exchange.usage is not None)
        assert (usage.input, usage.output) == (exchange.usage or (usage.input, usage.output))
        assert 0 <= usage.cached <= usage.input
        assert 0 <= usage.reasoning <= usage.output
        assert usage.total == usage.input + usage.output
        assert (usage + usage).total == 2 * usage.total
        assert usage.tool_calls == Usage().tool_calls

    def test_shown_text_is_the_reply_s_text(self, stream: Exchange) -> None:
        """What a watcher read, piece by piece, is what the reply says."""
        assert text_of(self.play(stream)) == stream.text

    def test_a_stream_is_the_same_however_it_is_cut(self, stream: Exchange) -> None:
        """Whole, byte by byte, in pieces, and in two at every byte: the same deltas."""
        whole = self.play(stream)

        async def all_cuts() -> None:
            for chunks in recut(stream.body):
                provider = self.provider(Playback(Answer.of(stream, chunks)))
                assert await self.deltas(provider, self.request(stream)) == whole, f"cut into {chunks!r}"

        run(all_cuts(), seconds=120)

    @pytest.mark.parametrize("line_end", [b"\n", b"\r\n"], ids=["lf", "crlf"])
    def test_line_ends_do_not_matter(self, stream: Exchange, line_end: bytes) -> None:
        """Proxies change them."""
        if b"\x00" in stream.body:
            pytest.skip("a binary stream has no lines")
        body = stream.body.replace(b"\r\n", b"\n").replace(b"\n", line_end)
        assert self.play(stream, [body]) == self.play(stream)

    def test_streaming_and_not_give_the_same_reply(self) -> None:
        """Where the author gave both."""
        by_name: dict[str, dict[bool, Reply]] = {}
        for one in self.exchanges:
            if one.fault is None:
                by_name.setdefault(one.name, {})[one.streamed] = reply_of(self.play(one))
        pairs = {name: replies for name, replies in by_name.items() if len(replies) == 2}
        if not pairs:
            pytest.skip("no exchange is given in both forms")
        for name, replies in pairs.items():
            assert essence(replies[True]) == essence(replies[False]), name

    def test_call_ids_go_back_to_the_vendor(self, called: Exchange) -> None:
        """With the call in the history and with its result."""
        reply = reply_of(self.play(called))
        results = [ToolResult(one.id, one.name, "done") for one in reply.message.calls]
        http = Playback(Answer.of(called))
        history = (User("question-0-"), reply.message, *results)
        run(self.deltas(self.provider(http), self.request(called, messages=history)))
        for one in reply.message.calls:
            assert http.sent[0].content.count(one.id.encode()) >= 2, f"{one.id} is not sent back"

    def test_the_same_request_is_sent_the_same_and_left_as_it_was(self, exchange: Exchange) -> None:
        """Caches of vendors match bytes; a request belongs to its caller."""
        http = Playback(Answer.of(exchange))
        request = self.request(exchange)
        before = copy.deepcopy(request)

        async def twice() -> None:
            provider = self.provider(http)
            await self.deltas(provider, request)
            await self.deltas(provider, request)
            await self.deltas(self.provider(http), self.request(exchange))

        run(twice())
        assert request == before
        assert len({(sent.method, str(sent.url), sent.content) for sent in http.sent}) == 1

    def test_one_provider_serves_many_requests_at_once(self) -> None:
        """Each gets its own reply; nothing is kept between them."""
        good = [one for one in self.exchanges if one.fault is None]

        def answer(sent: httpx.Request) -> Answer:
            found = _NUMBER.search(sent.content)
            assert found is not None, "the question is not in the request's body"
            exchange = good[int(found[1]) % len(good)]
            return Answer.of(exchange, [exchange.body[at : at + 16] for at in range(0, len(exchange.body), 16)])

        async def crowd() -> list[list[Delta]]:
            provider = self.provider(Playback(answer))
            asked = [
                self.request(good[number % len(good)], messages=(User(f"question-{number}-"),))
                for number in range(_CROWD)
            ]
            return await asyncio.gather(*(self.deltas(provider, request) for request in asked))

        alone = [essence(reply_of(self.play(one))) for one in good]
        for number, deltas in enumerate(run(crowd())):
            assert essence(reply_of(deltas)) == alone[number % len(good)], f"request {number} got another's reply"

    def test_a_finished_response_is_closed(self, exchange: Exchange) -> None:
        """Its connection can serve the next request."""
        http = Playback(Answer.of(exchange))
        run(self.deltas(self.provider(http), self.request(exchange)))
        assert [body.closed for body in http.bodies] == [True]

    def test_cancellation_closes_the_response(self, exchange: Exchange) -> None:
        """At once, in the middle of a body, and it is passed on."""
        http = Playback(Answer.of(exchange, [exchange.body[: len(exchange.body) // 2]], hangs=True))

        async def cancelled() -> None:
            task = asyncio.create_task(self.deltas(self.provider(http), self.request(exchange)))
            await http.silent.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert http.bodies[0].closed

        run(cancelled())

    def test_leaving_a_stream_closes_the_response(self, stream: Exchange) -> None:
        """A consumer that has seen enough closes the iterator."""
        http = Playback(Answer.of(stream, hangs=True))

        async def left() -> None:
            async with aclosing(self.provider(http).stream(self.request(stream))) as deltas:  # type: ignore[type-var]
                async for _ in deltas:
                    break
            assert http.bodies[0].closed

        run(left())

    def test_the_key_travels_in_a_header_and_nowhere_else(self, exchange: Exchange) -> None:
        """URLs and bodies are logged on the way."""
        http = Playback(Answer.of(exchange))
        with key_in_environment():
            run(self.deltas(self.provider(http), self.request(exchange)))
        (sent,) = http.sent
        assert KEY not in str(sent.url)
        assert KEY.encode() not in sent.content
        if "api_key_env" in self.settings:
            assert any(KEY in value for value in sent.headers.values()), "the key is not sent"
