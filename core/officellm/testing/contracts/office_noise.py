"""What a provider makes of a vendor's words in other bytes, and of words that no vendor would say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings as hypothesis_settings, strategies as st

from officellm.codec import dump_text, dumps, loads
from officellm.errors import ProviderError
from officellm.messages import Delta, Finished, Reply, Request, ToolSpec, Usage, User
from officellm.testing.contracts.base import run
from officellm.testing.contracts.exchanges import essence, reply_of, text_of
from officellm.testing.contracts.office_runs import WithOffice
from officellm.testing.contracts.strategies import histories
from officellm.testing.replies import call, fault, reply
from officellm.testing.wires.speaker import Answer, Heard, Speaker

_TEXT = "péché 🐚 in the\r\ntide pools"
_SAID = reply(
    _TEXT,
    reasoning="Où? 🐚",
    calls=[call("add", a=1, b="übung"), call("ping")],
    usage=Usage(input=100, output=20, cached=60, reasoning=15),
)
_TOOLS = (
    ToolSpec("add", "Adds", {"type": "object", "properties": {"a": {"type": ["integer", "null"]}}, "required": ["a"]}),
    ToolSpec("ping", "Pings", {"type": "object", "properties": {}}),
)
_ODD: tuple[Any, ...] = (None, "", "odd", -1, [], [None], {})
_SSE = re.compile(r"^text/event-stream")
_LINES = re.compile(r"ndjson|jsonl")
_SIZES = (1, 2, 3, 7, 64)


class OfficeNoise(WithOffice):
    """The part of the office suite that is about bytes."""

    def heard(self, streamed: bool = True, **fields: Any) -> Request:
        """A request with tools."""
        asked: dict[str, Any] = {"model": self.model_name, "messages": (User("go"),), "tools": _TOOLS, "retries": 0}
        return Request(**{**asked, "stream": streamed, **fields})

    def said(self, streamed: bool) -> Answer:
        """What the vendor says when it says a bit of everything."""
        kept: list[Answer] = []

        def respond(speaker: Speaker, heard: Heard) -> Answer:
            kept.append(speaker.say(heard, _SAID))
            return kept[-1]

        run(self.deltas(self.provider(self.spoken(respond)), self.heard(streamed)))
        return kept[0]

    async def read(self, answers: Iterator[Answer], streamed: bool) -> list[list[Delta] | ProviderError]:
        """What each of these answers comes to; any other exception is raised."""
        given: list[Answer] = []
        provider = self.provider(self.spoken(lambda speaker, heard: given[-1]))
        read: list[list[Delta] | ProviderError] = []
        for answer in answers:
            given.append(answer)
            try:
                read.append(await self.deltas(provider, self.heard(streamed)))
            except ProviderError as error:
                read.append(error)
        return read

    def test_other_bytes_for_the_same_words_make_the_same_reply(self) -> None:
        """However a stream is cut; with other line ends, comments, blank lines or a mark at its beginning."""
        whole = self.said(True)
        if not whole.streamed:
            pytest.skip("the vendor does not stream")
        (plain,) = run(self.read(iter([whole]), True))
        assert isinstance(plain, list)
        for name, answer in _respelled(whole):
            (read,) = run(self.read(iter([answer]), True))
            assert isinstance(read, list), f"{name}: {read}"
            assert essence(reply_of(read)) == essence(reply_of(plain)), name
            assert text_of(read) == text_of(plain) == reply_of(plain).message.text, name

    def test_one_odd_value_anywhere_is_a_reply_or_a_fault(self, streamed: bool) -> None:
        """Null, nothing, another type or a missing key, in the place of each value that the vendor sends."""
        pieces = list(_mutable(self.said(streamed)))
        if not pieces:
            pytest.skip("the vendor's frames hold no JSON that could be changed")
        for read in run(self.read((answer for one in pieces for answer in one), streamed), seconds=120):
            _check(read)

    def test_any_json_is_a_reply_or_a_fault(self, streamed: bool) -> None:
        """Made of the keys and words that the vendor uses, in any shape."""
        answer = self.said(streamed)
        framed = [found for piece in answer.pieces if (found := _framed(piece))]
        if not framed:
            pytest.skip("the vendor's frames hold no JSON that could be changed")
        values = _like([value for _, value, _ in framed])
        frames = st.sampled_from([(before, after) for before, _, after in framed])

        @_quiet()
        @given(st.lists(st.tuples(frames, values), min_size=1, max_size=6 if answer.streamed else 1))
        def made_up(parts: list[tuple[tuple[bytes, bytes], Any]]) -> None:
            pieces = tuple(before + dumps(value) + after for (before, after), value in parts)
            (read,) = run(self.read(iter([replace(answer, pieces=pieces)]), streamed))
            _check(read)

        made_up()

    @pytest.mark.parametrize("status", [400, 429, 503])
    def test_any_bytes_with_an_error_are_a_fault(self, status: int) -> None:
        """Its words are those of the status, if there are no others."""

        @_quiet()
        @given(st.binary(max_size=60))
        def made_up(body: bytes) -> None:
            (read,) = run(self.read(iter([Answer((body,), "application/json", status)]), False))
            assert isinstance(read, ProviderError)
            assert (read.fault.status, read.fault.retryable) == (status, status != 400)
            assert read.fault.message.strip()

        made_up()

    def test_any_history_becomes_a_request_that_the_vendor_takes(self, streamed: bool) -> None:
        """As transfers, interrupted runs and other vendors leave it; what is another vendor's own is not sent."""
        wanted = ("auto", "none", "required", "add")
        (read,) = run(self.read(iter([self.said(False)]), False))
        assert isinstance(read, list)
        format, model = reply_of(read).message.origin or (self.name, self.model_name)

        @_quiet()
        @given(histories(format, model), st.sampled_from(wanted))
        def made_up(messages: Any, tool_choice: str) -> None:
            def respond(speaker: Speaker, heard: Heard) -> Answer:
                trouble = speaker.complain(heard)
                assert trouble is None, trouble and trouble.message
                assert "FOREIGN" not in dump_text(heard.body)
                return speaker.say(heard, reply("fine"))

            request = self.heard(streamed, messages=messages, tool_choice=tool_choice)
            http = self.spoken(respond)
            provider = self.provider(http)

            async def twice() -> None:
                await self.deltas(provider, request)
                await self.deltas(self.provider(http), request)

            run(twice())
            assert len({sent.content for sent in http.sent}) == 1, "the same history made other bytes"

        made_up()

    def test_a_reply_that_trickles_is_read_exactly(self, streamed: bool) -> None:
        """Over a real connection, a few bytes at a time."""
        slow = fault("slow_bytes", size=7, delay=0.0002)  # without a delay the pieces arrive in one
        played = self.play(reply(calls=[call("add", a=1)], fault=slow), reply(_TEXT, fault=slow), streamed=streamed)
        assert (played.result.content, played.answers()) == (_TEXT, ["3"])
        if streamed:
            assert played.shown == _TEXT


def _quiet() -> hypothesis_settings:
    """The settings of whoever runs the suite, without a clock and without files."""
    return hypothesis_settings(deadline=None, database=None)


def _respelled(answer: Answer) -> Iterator[tuple[str, Answer]]:
    """The same answer in other bytes."""
    whole = b"".join(answer.pieces)
    for size in _SIZES:
        yield f"{size} bytes each", replace(answer, pieces=_cut(whole, size))
    if _SSE.match(answer.content_type) and b"\r" not in whole:
        yield "crlf", replace(answer, pieces=_cut(whole.replace(b"\n", b"\r\n"), 5))
        yield "cr", replace(answer, pieces=_cut(whole.replace(b"\n", b"\r"), 5))
        comments = [part for piece in answer.pieces for part in (b": still here\n\n", b":\n", piece)]
        yield "comments", replace(answer, pieces=tuple(comments))
        fields = [b"id: 7\nretry: 10\n" + piece for piece in answer.pieces]
        yield "ids", replace(answer, pieces=tuple(fields))
        yield "no blanks", replace(answer, pieces=_cut(whole.replace(b"data: ", b"data:"), 5))
        yield "a mark", replace(answer, pieces=(b"\xef\xbb\xbf", *answer.pieces))
    if _LINES.search(answer.content_type):
        yield "crlf", replace(answer, pieces=_cut(whole.replace(b"\n", b"\r\n"), 5))
        yield "blank lines", replace(answer, pieces=tuple(b"\n" + piece + b"\r\n" for piece in answer.pieces))
        yield "no last line end", replace(answer, pieces=(whole.rstrip(),))


def _cut(body: bytes, size: int) -> tuple[bytes, ...]:
    return tuple(body[at : at + size] for at in range(0, len(body), size))


def _framed(piece: bytes) -> tuple[bytes, Any, bytes] | None:
    """The JSON object in a piece, with what stands before and after it; None where there is none."""
    start, end = piece.find(b"{"), piece.rfind(b"}") + 1
    try:
        return piece[:start], loads(piece[start:end]), piece[end:]
    except ValueError:
        return None


def _mutable(answer: Answer) -> Iterator[Iterator[Answer]]:
    """For each piece of another shape, the answer with each change of that piece."""
    shapes: set[str] = set()
    for index, piece in enumerate(answer.pieces):
        found = _framed(piece)
        shape = repr(_shape(found[1])) if found else ""
        if found is None or shape in shapes:
            continue
        shapes.add(shape)
        yield _changed(answer, index, *found)


def _changed(answer: Answer, index: int, before: bytes, value: Any, after: bytes) -> Iterator[Answer]:
    for changed in _odd(value):
        pieces = (*answer.pieces[:index], before + dumps(changed) + after, *answer.pieces[index + 1 :])
        yield replace(answer, pieces=pieces)


def _shape(value: Any) -> Any:
    """The keys and types of a value, without its words."""
    if isinstance(value, Mapping):
        return {key: _shape(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_shape(one) for one in value]
    return type(value).__name__


def _odd(value: Any) -> Iterator[Any]:
    """The value with one thing in it replaced by something odd, or missing."""
    yield from _ODD
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield {name: kept for name, kept in value.items() if name != key}
            for changed in _odd(one):
                yield {**value, key: changed}
    elif isinstance(value, list):
        for index, one in enumerate(value):
            for changed in _odd(one):
                yield [*value[:index], changed, *value[index + 1 :]]


def _like(values: Sequence[Any]) -> st.SearchStrategy[Any]:
    """Any JSON of the keys and short texts that stand in these values."""
    keys: dict[str, None] = {}
    texts: dict[str, None] = {"{}": None, "[DONE]": None}
    for value in values:
        _harvest(value, keys, texts)
    leaves = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**53), 2**53),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
        st.sampled_from(list(texts)),
    )
    named = st.sampled_from(list(keys))
    nested: Callable[[st.SearchStrategy[Any]], st.SearchStrategy[Any]] = lambda inner: st.one_of(  # noqa: E731
        st.lists(inner, max_size=3), st.dictionaries(named, inner, max_size=5)
    )
    return st.recursive(leaves, nested, max_leaves=25)


def _harvest(value: Any, keys: dict[str, None], texts: dict[str, None]) -> None:
    if isinstance(value, Mapping):
        keys.update(dict.fromkeys(value))
    elif isinstance(value, str) and len(value) < 40:
        texts[value] = None
    for one in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        _harvest(one, keys, texts)


def _check(read: Sequence[Delta] | ProviderError) -> None:
    """A fault with words, or a reply that is sound and did not lose what was shown."""
    if isinstance(read, ProviderError):
        assert read.fault.message.strip()
        return
    reply = reply_of(read)
    # A vendor that says everything again at the end may contradict itself; what was shown is never simply lost.
    assert reply.message.text or not text_of(read), f"shown and lost: {text_of(read)!r}"
    assert not any(isinstance(delta, Finished) for delta in read[:-1])
    _check_reply(reply)


def _check_reply(reply: Reply) -> None:
    usage = reply.usage
    assert 0 <= usage.cached <= usage.input
    assert 0 <= usage.reasoning <= usage.output
    for one in reply.message.calls:
        assert isinstance(one.id, str)
        assert isinstance(one.name, str)
        assert isinstance(one.raw, str)
        assert (one.arguments is None) == (one.problem is not None)
        assert one.arguments is None or isinstance(one.arguments, Mapping)
