"""What an office makes of the calls in a vendor's replies: whatever they look like, each runs or is answered, once."""

from __future__ import annotations

import asyncio

import pytest

from officellm.results import StopReason
from officellm.testing.contracts.office_runs import Played, WithOffice, add, ping
from officellm.testing.faults import EVERY_WIRE, FAULTS
from officellm.testing.replies import call, calls, reply

#: Wires whose whole messages have arguments as objects: the vendor itself took the first of two.
_OBJECTS = ("anthropic", "bedrock", "bedrock_invoke")
_TWO = (call("add", a=1), call("add", a=40))


class OfficeCalls(WithOffice):
    """The part of the office suite that is about calls."""

    def test_parallel_calls_are_answered_in_call_order(self, streamed: bool) -> None:
        """Also where a later one is done first; each has an id of its own."""
        second = asyncio.Event()

        async def first() -> str:
            """Ends last."""
            await second.wait()
            return "one"

        async def last() -> str:
            """Ends first."""
            second.set()
            return "two"

        said = calls(call("first"), call("last"), call("ping"))
        played = self.play(said, "end", streamed=streamed, tools=[first, last, ping])
        assert played.result.content == "end"
        assert played.answers() == ["one", "two", "pong"]

    def test_calls_of_later_turns_are_told_apart(self, streamed: bool) -> None:
        """The same call again is another call, with another id."""
        said = [call("add", a=number) for number in (1, 2, 3)]
        played = self.play(*said, "end", streamed=streamed)
        assert played.answers() == ["3", "4", "5"]
        made = [one.id for message in played.result.messages for one in getattr(message, "calls", ())]
        assert len(set(made)) == len(made) == 3

    def test_the_model_reads_what_went_wrong(self, streamed: bool) -> None:
        """A tool that raises, one that is not there and arguments that do not fit are answered; the run goes on."""

        def broken() -> str:
            """Breaks."""
            raise ValueError("no such pool")

        said = calls(call("broken"), call("nowhere"), call("add", a="many"), call("ping"))
        played = self.play(said, "end", streamed=streamed, tools=[broken, add, ping])
        assert played.result.content == "end"
        raised, unknown, unfit, fine = played.answers()
        assert "no such pool" in raised
        assert "nowhere" in unknown
        assert "a: " in unfit
        assert fine == "pong"

    def test_arguments_that_were_cut_off_run_nothing(self, streamed: bool) -> None:
        """The model is told where the vendor shows the call; where it does not, the run says that it was cut."""
        ran = []

        def record(x: str = "") -> str:
            """Records."""
            ran.append(x)
            return x

        cut = reply(calls=[call("record", x="on the shore")], fault="cut_arguments")
        played = self.play(cut, "end", streamed=streamed, tools=[record])
        assert ran == []
        if len(played.requests) == 1:
            assert played.result.stop_reason == StopReason.TRUNCATED
        else:
            assert "cut off by the token limit" in played.answers()[0]
            assert played.result.content == "end"

    @pytest.mark.parametrize("name", ["index_collision", "index_gap", "repeated_name_deltas"])
    def test_pieces_of_calls_come_to_the_calls_that_were_meant(self, name: str) -> None:
        """Servers count calls from anywhere, give all of them one number, or repeat ids and names."""
        played = self.play(reply(calls=_TWO, fault=name), "end", streamed=True)
        _skip_where_it_means_nothing(name, played)
        assert (played.result.content, played.answers()) == ("end", ["3", "42"])

    @pytest.mark.parametrize("name", ["empty_ids", "duplicate_ids"])
    def test_calls_without_ids_of_their_own_each_run(self, name: str, streamed: bool) -> None:
        """Also where they are the same call twice; each is answered under an id that the vendor takes."""
        ran = []

        def count(n: int) -> str:
            """Counts."""
            ran.append(n)
            return str(n)

        said = reply(calls=[call("count", n=1), call("count", n=1), call("count", n=2)], fault=name)
        played = self.play(said, "end", streamed=streamed, tools=[count])
        assert (played.result.content, sorted(ran)) == ("end", [1, 1, 2])
        assert played.answers() == ["1", "1", "2"]

    def test_arguments_of_null_are_none(self, streamed: bool) -> None:
        """A tool without parameters runs; one that needs some says which."""
        played = self.play(reply(calls=[call("ping"), call("add")], fault="null_arguments"), "end", streamed=streamed)
        pong, unfit = played.answers()
        assert (played.result.content, pong) == ("end", "pong")
        assert "a: " in unfit

    def test_two_objects_glued_together_run_nothing(self, streamed: bool) -> None:
        """Neither is what the model meant; where the vendor shows the call, the model reads why."""
        ran = []

        def record(x: int) -> str:
            """Records."""
            ran.append(x)
            return "ran"

        glued = call("record", '{"x":1}{"x":2}')
        played = self.play(glued, "end", streamed=streamed, tools=[record])
        if ran:
            assert not streamed
            assert played.requests[0].wire in _OBJECTS, "the arguments came as a text"
        elif played.answers():
            assert "more than one JSON value" in played.answers()[0]

    def test_calls_count_whatever_the_vendor_says_of_the_end(self, streamed: bool) -> None:
        """Calls with the finish reason of a plain answer are calls."""
        played = self.play(reply(calls=_TWO, fault="stop_with_calls"), "end", streamed=streamed)
        _skip_where_it_means_nothing("stop_with_calls", played)
        assert (played.result.content, played.answers()) == ("end", ["3", "42"])


def _skip_where_it_means_nothing(name: str, played: Played) -> None:
    wire = played.requests[0].wire
    if wire in EVERY_WIRE and wire not in FAULTS[name].wires:
        pytest.skip(f"the wire {wire!r} has no {name}")
