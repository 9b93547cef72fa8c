"""What the parts of the provider suite share: the author's exchanges, how they are played, and what they come to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, ClassVar

import pytest

from officellm.kinds import Kind
from officellm.messages import Delta, Finished, Reply, Request, TextDelta, User
from officellm.protocols import Provider
from officellm.testing.contracts.base import KEY_VARIABLE, Contract, key_in_environment, run
from officellm.testing.contracts.playback import Answer, Exchange, Playback


class WithExchanges(Contract):
    """Plays the exchanges to the provider."""

    kind: ClassVar[Kind] = Kind.PROVIDER
    settings: ClassVar[Mapping[str, Any]] = {"base_url": "https://contract.invalid/v1", "api_key_env": KEY_VARIABLE}
    #: Golden replies of the vendor; see `Exchange`.
    exchanges: ClassVar[Sequence[Exchange]] = ()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Each test that asks for an exchange runs once for each that fits."""
        good = [one for one in self.exchanges if one.fault is None]
        chosen = {
            "exchange": good,
            "stream": [one for one in good if one.streamed],
            "called": [one for one in good if any(id is not None for id, _, _ in one.calls)],
            "failed": [one for one in self.exchanges if one.fault is not None],
        }
        for argument in chosen.keys() & set(metafunc.fixturenames):
            metafunc.parametrize(argument, chosen[argument], ids=str)

    @pytest.fixture(autouse=True)
    def _key(self) -> Iterator[None]:
        """A provider says that its key is missing before it sends anything."""
        with key_in_environment():
            yield

    def make(self, **settings: Any) -> Any:
        """A provider without a network."""
        return self.provider(Playback(Answer()), **settings)

    def provider(self, http: Playback, **settings: Any) -> Provider:
        """A provider that plays."""
        host = self.host()
        return host.provider(self.name, "contract", self.read_settings(host, **settings), http)

    def request(self, exchange: Exchange | None = None, **fields: Any) -> Request:
        """A neutral request, as the exchange wants it; retries none unless asked."""
        asked: dict[str, Any] = {"model": "contract-model", "messages": (User("question-0-"),), "retries": 0}
        if exchange is not None:
            asked |= {"stream": exchange.streamed, **exchange.request}
        return Request(**{**asked, **fields})

    async def deltas(self, provider: Provider, request: Request) -> list[Delta]:
        """All deltas of one reply."""
        async with aclosing(provider.stream(request)) as stream:  # type: ignore[type-var]
            return [delta async for delta in stream]

    def play(self, exchange: Exchange, chunks: Sequence[bytes] | None = None) -> list[Delta]:
        """The deltas that the exchange's reply comes to."""
        provider = self.provider(Playback(Answer.of(exchange, chunks)))
        return run(self.deltas(provider, self.request(exchange)))


def reply_of(deltas: Sequence[Delta]) -> Reply:
    """The reply; fails where the last delta is not `Finished`."""
    assert deltas, "the stream was empty"
    last = deltas[-1]
    assert isinstance(last, Finished), f"the last delta is {last!r}, not Finished"
    return last.reply


def text_of(deltas: Sequence[Delta]) -> str:
    """What was shown."""
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


def essence(reply: Reply) -> tuple[Any, ...]:
    """What must not differ between two forms of one reply. An id that we made up may."""
    calls = [(one.name, one.arguments) for one in reply.message.calls]
    usage = (reply.usage.input, reply.usage.output, reply.usage.cached, reply.usage.reasoning)
    return reply.message.text, reply.message.reasoning, calls, reply.stop, usage
