"""The suite of recorded exchanges: what a vendor really sent means what its own SDK says, and was asked as we would."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar

import pytest

from officellm.host import Host
from officellm.kinds import Kind
from officellm.messages import Reply
from officellm.testing.contracts.base import Suite
from officellm.testing.exchanges import RecordedExchange, load_exchange, play
from officellm.testing.recorded.expected import misread
from officellm.testing.recorded.rebuilding import Find, finder, holds_request, rebuilt

_VARIABLE = "OFFICELLM_RECORDINGS"


class RecordingsContract(Suite):
    """For a driver whose wire was recorded: give it `name`, the `formats` that recordings are called by, the `folder`.

    `OFFICELLM_RECORDINGS` names another folder. Without recordings its tests are skipped, with that reason.
    """

    kind: ClassVar[Kind] = Kind.PROVIDER
    formats: ClassVar[Sequence[str]]
    folder: ClassVar[Path]
    #: Whether the vendor's SDK reads what was cached, so that the recordings say it.
    says_cached: ClassVar[bool] = True

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One test a recording; the names say which kind of them."""
        folder = Path(os.environ.get(_VARIABLE) or self.folder)
        wanted = {"recorded": _any, "streamed": _is_streamed, "asked": holds_request}
        for name in wanted.keys() & set(metafunc.fixturenames):
            found = [one for one in _recordings(folder, tuple(self.formats)) if wanted[name](one[1])]
            absent = pytest.mark.skip(reason=f"no recordings in {folder} (set {_VARIABLE})")
            cases = [pytest.param(exchange, id=path.stem) for path, exchange in found]
            metafunc.parametrize(name, cases or [pytest.param(None, marks=absent, id="none")])

    @pytest.fixture
    def find(self) -> Find:
        """Finds the wire format of a driver."""
        return finder(Host())

    def test_an_exchange_means_what_the_vendors_sdk_says(self, recorded: RecordedExchange, find: Find) -> None:
        """Text, calls, why it stopped, refusals, errors."""
        wire = find(self.name, {})
        assert misread(wire, recorded, play(wire, recorded)) == []

    @pytest.mark.parametrize("chunk", [1, 7, 1000])
    def test_a_stream_means_the_same_however_it_is_cut(
        self, streamed: RecordedExchange, chunk: int, find: Find
    ) -> None:
        """Bytes arrive in any pieces."""
        wire = find(self.name, {})
        assert play(wire, streamed, chunk=chunk) == play(wire, streamed)

    def test_the_counters_are_normalised(self, recorded: RecordedExchange, find: Find) -> None:
        """Input with what was cached, output, and whether the vendor said both."""
        result, said = play(find(self.name, {}), recorded), recorded.file["expect"].get("usage")
        if isinstance(result, Reply):
            assert (result.usage.input, result.usage.output) == (said["input"] or 0, said["output"] or 0)
            assert result.usage.complete == (None not in (said["input"], said["output"]))
            assert not self.says_cached or result.usage.cached == (said.get("cached_input") or 0)

    def test_a_request_is_built_again(self, asked: RecordedExchange, find: Find) -> None:
        """An equivalent of what was sent, but for differences that are known and have a reason."""
        assert rebuilt(asked, find).differences == ()


@cache
def _recordings(folder: Path, formats: tuple[str, ...]) -> list[tuple[Path, RecordedExchange]]:
    paths = sorted(path for name in formats for path in folder.glob(f"*/{name}.*.json"))
    return [(path, load_exchange(path)) for path in paths]


def _any(exchange: RecordedExchange) -> bool:
    return True


def _is_streamed(exchange: RecordedExchange) -> bool:
    return exchange.streamed
