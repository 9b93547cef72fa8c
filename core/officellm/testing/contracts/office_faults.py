"""What an office makes of a vendor's trouble: every failure is one honest outcome, and nothing is left behind."""

from __future__ import annotations

import asyncio

import pytest

from officellm.codec import dump_text
from officellm.results import StopReason
from officellm.testing.contracts.base import KEY, run
from officellm.testing.contracts.clock import FakeClock
from officellm.testing.contracts.office_runs import WithOffice, ping, watched
from officellm.testing.replies import fault, reply
from officellm.testing.server import FakeLLM

_LONG = "The tide comes, and the tide goes. " * 20


class OfficeFaults(WithOffice):
    """The part of the office suite that is about failure."""

    def test_a_refusal_ends_the_run(self, streamed: bool) -> None:
        """It is asked about once, and it is no answer."""
        played = self.play(reply("I cannot help with that.", stop="refused"), "never", streamed=streamed)
        assert (played.result.stop_reason, len(played.requests)) == (StopReason.REFUSED, 1)
        assert played.result.usage.total == 15

    def test_a_text_that_was_cut_off_is_no_success(self, streamed: bool) -> None:
        """What there is of it is kept."""
        result = self.play(reply("Half an answ", stop="length"), streamed=streamed).result
        assert (result.stop_reason, result.content) == (StopReason.TRUNCATED, "Half an answ")

    def test_an_empty_reply_is_no_answer(self, streamed: bool) -> None:
        """It is asked about once more."""
        assert self.play(fault("empty_reply"), "end", streamed=streamed).result.content == "end"
        played = self.play(fault("empty_reply"), fault("empty_reply"), streamed=streamed)
        assert (played.result.stop_reason, len(played.requests)) == (StopReason.EMPTY_REPLY, 2)

    def test_the_wait_that_the_server_asks_for_is_kept(self, streamed: bool) -> None:
        """To the second, and then the request is sent again as it was."""
        clock = FakeClock()
        played = self.play(fault("429", retry_after=7.0), "end", streamed=streamed, clock=clock)
        assert (played.result.content, clock.slept) == ("end", [7.0])
        assert played.requests[0].body == played.requests[1].body

    def test_an_error_inside_a_success_is_sent_again(self, streamed: bool) -> None:
        """It is never the answer; where it stays, its words are the error."""
        played = self.play(fault("error_in_200"), "end", streamed=streamed)
        assert (played.result.content, len(played.requests)) == ("end", 2)
        played = self.play(*[fault("error_in_200", message="The pool is full.")] * 4, streamed=streamed)
        assert (played.result.stop_reason, played.result.content) == (StopReason.PROVIDER_ERROR_5XX_EXHAUSTED, "")
        assert "The pool is full." in (played.result.error or "")
        assert len(played.requests) == 4

    @pytest.mark.parametrize("name", ["dropped_connection", "html_body", "empty_body", "malformed_json"])
    def test_what_is_no_reply_is_sent_for_again(self, name: str, streamed: bool) -> None:
        """Unless some of it was shown: then the run ends, and says what there was."""
        played = self.play(reply(_LONG, fault=name), "end", streamed=streamed)
        if played.result.success:
            assert (played.result.content, len(played.requests)) == ("end", 2)
        else:
            assert played.shown
            assert (played.result.content, len(played.requests)) == (played.shown, 1)

    def test_a_dropped_stream_is_no_answer(self, streamed: bool) -> None:
        """Sent for again while nothing was shown; after that a failure that keeps what was read."""
        played = self.play(reply(_LONG, fault=fault("dropped_stream", after=0)), "end", streamed=streamed)
        assert (played.result.content, len(played.requests)) == ("end", 2)
        played = self.play(reply(_LONG, fault="dropped_stream"), "end", streamed=streamed)
        if streamed:
            result = played.result
            assert (result.stop_reason, len(played.requests)) == (StopReason.PROVIDER_ERROR_5XX_EXHAUSTED, 1)
            assert result.content == played.shown != ""
            assert _LONG.startswith(result.content)
        else:
            assert (played.result.content, len(played.requests)) == ("end", 2)

    @pytest.mark.parametrize("name", ["400", "401", "403", "quota", "context_overflow"])
    def test_what_no_retry_can_help_is_sent_once(self, name: str, streamed: bool) -> None:
        """The run ends at once, with the server's words."""
        clock = FakeClock()
        played = self.play(fault(name, message=f"Sorry: {name}."), streamed=streamed, clock=clock)
        wanted = StopReason.CONTEXT_OVERFLOW if name == "context_overflow" else StopReason.PROVIDER_ERROR_4XX
        assert (played.result.stop_reason, len(played.requests), clock.slept) == (wanted, 1, [])
        if name not in ("quota", "context_overflow"):  # vendors have words of their own for these
            assert f"Sorry: {name}." in (played.result.error or "")

    def test_a_consumer_that_leaves_closes_the_response(self) -> None:
        """The server notices at once, and the office goes on."""

        async def left() -> None:
            slow = reply(_LONG, fault=fault("slow_bytes", size=200, delay=0.01))
            async with self.serving(slow, "end") as llm, self.office(llm) as office:
                async with office.stream("go") as stream:
                    async for event in stream:
                        if event.type == "text.delta":
                            break
                assert stream.result.stop_reason == StopReason.CANCELLED
                assert _LONG.startswith(stream.result.content)
                assert await _outcome(llm) == "left"
                assert (await office.run("go")).content == "end"

        run(left())

    def test_a_run_that_is_cancelled_closes_the_response(self, streamed: bool) -> None:
        """Also while the server is silent."""

        async def cancelled() -> None:
            async with self.serving(fault("hang", seconds=20.0), "end") as llm, self.office(llm) as office:
                work = asyncio.create_task(watched(office, streamed))
                while not llm.requests:  # noqa: ASYNC110 - the server has nothing to wait on
                    await asyncio.sleep(0.005)
                work.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await work
                assert await _outcome(llm) == "left"
                assert (await office.run("go")).content == "end"

        run(cancelled())

    def test_no_error_shows_a_secret(self, streamed: bool) -> None:
        """Neither the result, nor an event, nor what the objects say of themselves, whatever the server echoes."""

        async def shown() -> list[str]:
            echo = fault("401", message=f"The key {KEY} is wrong.")
            async with self.serving(echo) as llm, self.office(llm) as office:
                result, events = await watched(office, streamed)
                assert result.stop_reason == StopReason.PROVIDER_ERROR_4XX
                assert "is wrong" in (result.error or "")
                said = [dump_text(event.to_dict()) for event in events]
                about = [repr(result), repr(office), repr(office.providers.provider("vendor")), repr(events)]
                return [*said, *about, dump_text(result.to_dict())]

        assert not [text for text in run(shown()) if KEY in text]

    def test_a_wrong_key_is_said_and_not_tried_again(self, streamed: bool) -> None:
        """The server asks for another one."""

        async def refused() -> tuple[StopReason, int]:
            async with self.serving("never") as llm:
                llm.key = "another-key"
                async with self.office(llm, tools=[ping]) as office:
                    result, _ = await watched(office, streamed)
                return result.stop_reason, len(llm.requests)

        assert run(refused()) == (StopReason.PROVIDER_ERROR_4XX, 1)


async def _outcome(llm: FakeLLM) -> str:
    """How the first exchange ended, once it has."""
    async with asyncio.timeout(5):
        while llm.requests[0].outcome == "open":  # noqa: ASYNC110 - the server has nothing to wait on
            await asyncio.sleep(0.005)
    return llm.requests[0].outcome
