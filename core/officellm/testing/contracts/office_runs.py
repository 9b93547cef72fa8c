"""What the parts of the office suite share: one agent, the driver as its provider, the fake server as the vendor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, ClassVar

import httpx
import pytest

from officellm.agents import Agent
from officellm.clock import Clock
from officellm.codec import loads
from officellm.events import Event, TextDeltaEvent
from officellm.kinds import Kind
from officellm.limits import Limits
from officellm.messages import Delta, Request
from officellm.office import Office
from officellm.protocols import Provider
from officellm.results import Result
from officellm.testing.contracts.base import KEY, KEY_VARIABLE, Suite, key_in_environment, run
from officellm.testing.contracts.clock import FakeClock
from officellm.testing.contracts.playback import Answer as PlayedAnswer, Playback
from officellm.testing.record import Record
from officellm.testing.replies import ReplyLike
from officellm.testing.script import By, rule
from officellm.testing.server import SPEAKERS, FakeLLM
from officellm.testing.wires.speaker import Answer, Heard, Speaker

#: What a speaker is made to answer, where there is no script.
Respond = Callable[[Speaker, Heard], Answer]


def add(a: int, b: int = 2) -> str:
    """Adds two numbers."""
    return str(a + b)


def ping() -> str:
    """Answers pong."""
    return "pong"


@dataclass(frozen=True, slots=True)
class Played:
    """A run that is over: how it ended, what was seen of it, and the requests that the server got."""

    result: Result
    events: Sequence[Event]
    requests: Sequence[Record]

    @property
    def shown(self) -> str:
        """The text that a watcher read."""
        return "".join(event.text for event in self.events if isinstance(event, TextDeltaEvent))

    def answers(self, request: int = -1) -> list[str]:
        """The tool results that a request holds, in order."""
        return [one.text for one in self.requests[request].heard.said if one.role == "tool"]


class WithOffice(Suite):
    """Runs an office over real HTTP, or asks the provider alone with the vendor in the same process."""

    kind: ClassVar[Kind] = Kind.PROVIDER
    settings: ClassVar[Mapping[str, Any]] = {"api_key_env": KEY_VARIABLE}
    #: The model that is asked, where the driver or the vendor goes by its name.
    model_name: ClassVar[str] = "fake-model"
    #: Who speaks for the vendor; one of your own for a wire that the fake server does not know.
    speakers: ClassVar[Sequence[Speaker]] = SPEAKERS

    def base_url(self, llm: FakeLLM) -> str:
        """The address at which the fake server speaks the driver's wire."""
        raise NotImplementedError("say where the vendor is, such as: return llm.openai_url")

    def block(self, llm: FakeLLM) -> Mapping[str, Any]:
        """The driver's block of a team file."""
        return {**self.settings, "base_url": self.base_url(llm)}

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Each test that asks for `streamed` runs both ways."""
        if "streamed" in metafunc.fixturenames:
            metafunc.parametrize("streamed", [False, True], ids=["plain", "streamed"])

    @pytest.fixture(autouse=True)
    def _key(self) -> Iterator[None]:
        with key_in_environment():
            yield

    def serving(self, *replies: ReplyLike, by: By = "order") -> FakeLLM:
        """A server that gives these replies; it wants the key where the driver has one."""
        key = KEY if self.settings.get("api_key_env") == KEY_VARIABLE else None
        return FakeLLM([rule(*replies, by=by)], key=key, speakers=self.speakers)

    def office(
        self,
        llm: FakeLLM,
        *,
        tools: Sequence[Callable[..., Any]] = (add, ping),
        limits: Limits | None = None,
        clock: Clock | None = None,
        **agent: Any,
    ) -> Office:
        """An office of one agent; waits cost no time unless there is a `clock`."""
        worker = Agent("clerk", model=f"vendor:{self.model_name}", instructions="You do.", tools=tools, **agent)
        block = {"format": self.name, **self.block(llm)}
        return Office(worker, providers={"vendor": block}, limits=limits, host=self.host(), clock=clock or FakeClock())

    def play(
        self, *replies: ReplyLike, streamed: bool = False, options: Mapping[str, Any] | None = None, **office: Any
    ) -> Played:
        """One run in which the model gives these replies; `options` are the run's. No request was illegal."""

        async def played() -> Played:
            async with self.serving(*replies) as llm, self.office(llm, **office) as made:
                result, events = await watched(made, streamed, **(options or {}))
            assert llm.refusals == []
            return Played(result, events, llm.requests)

        return run(played())

    def spoken(self, respond: Respond) -> Playback:
        """A vendor without a network: each request is heard by its speaker and answered by `respond`."""

        def answer(sent: httpx.Request) -> PlayedAnswer:
            path = sent.url.path
            speaker = next((one for one in self.speakers if one.listens_to(path)), None)
            assert speaker is not None, f"no speaker listens to {path}"
            headers = {name.lower(): value for name, value in sent.headers.items()}
            said = respond(speaker, speaker.hear(path, dict(sent.url.params), headers, loads(sent.content)))
            headers = {**said.headers, "content-type": said.content_type}
            return PlayedAnswer(status=said.status, headers=headers, chunks=said.pieces)

        return Playback(answer)

    def provider(self, http: Playback) -> Provider:
        """The driver's provider, whose vendor is `spoken`."""
        host = self.host()
        block = self.block(FakeLLM(["-"], speakers=self.speakers))
        return host.provider(self.name, "contract", host.settings(self.kind, self.name, block), http)

    async def deltas(self, provider: Provider, request: Request) -> list[Delta]:
        """All deltas of one reply."""
        async with aclosing(provider.stream(request)) as stream:  # type: ignore[type-var]
            return [delta async for delta in stream]


async def watched(office: Office, streamed: bool, task: str = "go", **options: Any) -> tuple[Result, list[Event]]:
    """The result and the events of one run."""
    events: list[Event] = []
    if not streamed:
        return await office.run(task, listener=events.append, **options), events
    async with office.stream(task, **options) as stream:
        events = [event async for event in stream]
    return stream.result, events
