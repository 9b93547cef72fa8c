"""The suite of providers in an office: whole runs over real HTTP, against a server that speaks the vendor's wire."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from officellm.codec import dump_text
from officellm.limits import Limits
from officellm.messages import Assistant, Media, Request, Text, ToolSpec, Usage, User
from officellm.results import StopReason
from officellm.testing.contracts.base import run
from officellm.testing.contracts.office_calls import OfficeCalls
from officellm.testing.contracts.office_faults import OfficeFaults
from officellm.testing.contracts.office_noise import OfficeNoise
from officellm.testing.contracts.office_runs import Played, ping, watched
from officellm.testing.replies import call, reply
from officellm.testing.wires.speaker import Answer, Heard, Speaker

_THOUGHT = "First the tide,  then the boots."
_PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
_TOOLS = tuple(
    ToolSpec(name, f"The {name}", {"type": "object", "properties": {"place": {"type": "string"}}})
    for name in ("look", "wait")
)
_CROWD = 12


class Tide(BaseModel):
    """What is asked for in a form."""

    hour: int
    place: str


class ProviderOfficeContract(OfficeCalls, OfficeFaults, OfficeNoise):
    """For a driver of `officellm.providers` that speaks HTTP, beside `ProviderContract`: give it `name` and `base_url`.

    `class TestMine(ProviderOfficeContract): name = "mine"`, with a method `base_url(self, llm)` that returns where the
    fake server speaks the driver's wire, such as `llm.openai_url`. `speakers` takes a `Speaker` of your own.
    """

    def replayed(self, thought: str) -> str:
        """What of a thought the vendor wants back with the call that it led to."""
        return thought

    def test_a_tool_is_called_and_its_result_answered(self, streamed: bool) -> None:
        """The loop that everything rests on; what a watcher reads is what the model said."""
        played = self.play(call("add", a=1), "I have added: it is {last_tool}.", streamed=streamed)
        assert (played.result.stop_reason, played.result.content) == (StopReason.SUCCESS, "I have added: it is 3.")
        assert [record.stream for record in played.requests] == [streamed] * 2
        if streamed:
            assert played.shown == "I have added: it is 3."

    def test_words_beside_calls_are_kept_and_are_not_the_answer(self, streamed: bool) -> None:
        """They go back with the calls, as text or as thoughts."""
        played = self.play(reply("Let me add.", calls=[call("add", a=1)]), "end", streamed=streamed)
        assert (played.result.content, played.answers()) == ("end", ["3"])
        assert "Let me add." in dump_text(played.requests[1].body)
        if streamed:
            texts = [message.text for message in played.result.messages if isinstance(message, Assistant)]
            assert played.shown == "".join(texts)

    def test_streamed_and_plain_runs_are_equal(self) -> None:
        """The same texts, thoughts, calls, results and counts."""
        script = (
            reply("Let me see.", reasoning=_THOUGHT, calls=[call("add", a=40), call("ping")]),
            reply("Once more.", calls=[call("add", a=1, b=1)]),
            "All is done.",
        )
        plain, streamed = (self.play(*script, streamed=way) for way in (False, True))
        assert _essence(plain.result.messages) == _essence(streamed.result.messages)
        assert replace(plain.result.usage, cost_usd=None) == replace(streamed.result.usage, cost_usd=None)
        assert plain.result.content == streamed.result.content == "All is done."

    def test_one_office_runs_many_tasks_at_once(self, streamed: bool) -> None:
        """Each run gets its own replies."""

        async def crowd() -> list[str]:
            script = (call("add", a=1), "{task}: {last_tool}")
            async with self.serving(*script, by="turn") as llm, self.office(llm) as office:
                tasks = (watched(office, streamed, f"task-{number}") for number in range(_CROWD))
                return [result.content for result, _ in await asyncio.gather(*tasks)]

        assert run(crowd()) == [f"task-{number}: 3" for number in range(_CROWD)]

    def test_counts_are_the_sum_of_what_the_server_counted(self, streamed: bool) -> None:
        """Tokens of every request, no more; the parts that the vendor tells apart are within their wholes."""
        first = reply(calls=[call("ping")], usage=Usage(input=100, output=20, cached=60, reasoning=15))
        usage = self.play(first, reply("end", usage=Usage(input=7, output=3)), streamed=streamed).result.usage
        assert (usage.input, usage.output, usage.total, usage.requests, usage.complete) == (107, 23, 130, 2, True)
        assert usage.cached in (0, 60)
        assert usage.reasoning in (0, 15)

    def test_counts_that_were_not_sent_are_said_to_be_missing(self, streamed: bool) -> None:
        """One request without counts makes the sum incomplete."""
        usage = self.play(call("ping"), reply("end", usage=None), streamed=streamed).result.usage
        assert (usage.input, usage.output, usage.requests, usage.complete) == (10, 5, 2, False)

    def test_thoughts_go_back_unchanged_with_their_calls(self, streamed: bool) -> None:
        """A model that thought before it called goes on from there."""
        said = reply("Looking.", reasoning=_THOUGHT, calls=[call("ping")])
        played = self.play(said, "end", streamed=streamed)
        assert played.result.content == "end"
        assert self.replayed(_THOUGHT) in dump_text(played.requests[1].body)

    def test_a_picture_arrives(self) -> None:
        """Its bytes, in base64."""
        picture = User((Text("Look: "), Media("image/png", data=_PNG)))
        played = self.play("A dot.", options={"history": [picture]})
        assert played.result.content == "A dot."
        sent = dump_text(played.requests[0].body)
        assert base64.b64encode(_PNG).decode() in sent
        assert "Look: " in sent

    @pytest.mark.parametrize("tools", [(), (ping,)], ids=["without-tools", "with-tools"])
    def test_a_typed_output_is_asked_for_and_read(self, tools: Any, streamed: bool) -> None:
        """The model is told of every property; what does not fit is asked for again."""
        before = [call("ping")] if tools else []
        written = dump_text({"hour": 6, "place": "Sylt"})
        office = {"tools": tools, "streamed": streamed, "options": {"output_type": Tide}}
        played = self.play(*before, written, **office)
        assert played.result.output == Tide(hour=6, place="Sylt")
        assert all(name in dump_text(played.requests[0].body) for name in Tide.model_fields)
        played = self.play(*before, "About six.", written, **office)
        assert played.result.output == Tide(hour=6, place="Sylt")

    def test_the_vendors_models_are_listed(self) -> None:
        """Where the provider can list any."""

        async def listed() -> list[str] | None:
            async with self.serving("unasked") as llm, self.office(llm) as office:
                llm.models = ("one-model", "another-model")
                models = getattr(office.providers.provider("vendor"), "models", None)
                return None if models is None else list(await models())

        found = run(listed())
        if found is None:
            pytest.skip("the provider lists no models")
        assert [name.removeprefix("models/") for name in found] == ["one-model", "another-model"]

    def closed(self) -> Played:
        """A run that meets a limit and ends with one more request."""
        again = [call("add", a=number) for number in range(3)]
        return self.play(*again, "What there is.", limits=Limits(max_turns=3), on_limit="summarize")

    def test_a_closing_request_holds_what_was_called_before(self) -> None:
        """The vendor takes it, and its words are the content."""
        played = self.closed()
        assert (played.result.stop_reason, played.result.content) == (StopReason.MAX_TURNS, "What there is.")
        assert len(played.requests) == 4
        assert played.answers() == ["2", "3", "4"]

    def test_a_closing_request_wants_no_call(self) -> None:
        """Said, or no tool is offered."""
        played = self.closed()
        assert _says_none(played.requests[2].body, played.requests[3].body) or not played.requests[3].tools

    def test_no_call_is_wanted(self) -> None:
        """`none`: said, or no tool is offered."""
        free, wanted = self.asked_with("auto"), self.asked_with("none")
        assert _says_none(free.body, wanted.body) or not wanted.tools

    def test_some_call_is_wanted(self) -> None:
        """`required` reaches the vendor in its own word, with all tools."""
        free, wanted = self.asked_with("auto"), self.asked_with("required")
        assert set(wanted.tools) == {"look", "wait"}
        assert any(f'"{word}"' in _difference(free.body, wanted.body) for word in ("required", "any"))

    def test_one_call_is_wanted(self) -> None:
        """The name of a tool: said, or no other tool is offered."""
        free, wanted = self.asked_with("auto"), self.asked_with("wait")
        assert "wait" in wanted.tools
        assert wanted.tools == ("wait",) or '"wait"' in _difference(free.body, wanted.body)

    def asked_with(self, tool_choice: str) -> Heard:
        """What the vendor hears of a request with this tool choice, which it does not refuse."""
        seen: list[Heard] = []

        def respond(speaker: Speaker, heard: Heard) -> Answer:
            seen.append(heard)
            assert speaker.complain(heard) is None
            return speaker.say(heard, reply("fine"))

        messages = (User("go"),)
        request = Request(model=self.model_name, messages=messages, tools=_TOOLS, tool_choice=tool_choice, retries=0)
        run(self.deltas(self.provider(self.spoken(respond)), request))
        return seen[0]


def _changed(before: Any, after: Any) -> Any:
    """What of a body is new or another, but for the conversation and the offer."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return after
    apart = ("messages", "contents", "input", "tools")
    changed = {key: _changed(before.get(key), value) for key, value in after.items() if before.get(key) != value}
    return {key: value for key, value in changed.items() if key not in apart}


def _difference(before: Any, after: Any) -> str:
    return dump_text(_changed(before, after)).casefold()


def _says_none(before: Any, after: Any) -> bool:
    return '"none"' in _difference(before, after)


def _essence(messages: Any) -> list[Any]:
    """What must not differ between two runs; ids may."""
    return [
        (one.text, one.reasoning, [(made.name, made.arguments) for made in one.calls])
        if isinstance(one, Assistant)
        else (type(one).__name__, getattr(one, "text", None) or getattr(one, "content", None))
        for one in messages
    ]
