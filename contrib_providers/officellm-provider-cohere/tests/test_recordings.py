"""Every recorded exchange means to us what it means to the vendor's own SDK, and its request can be built again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from officellm import Host, Reply
from officellm.testing import finder, load_exchange, misread, play, rebuilt

FOLDER = Path(os.environ.get("OFFICELLM_RECORDINGS") or Path(__file__).parents[4] / "shared" / "recordings")
FILES = sorted(path for name in ("cohere_v2",) for path in FOLDER.glob(f"*/{name}.*.json"))
if not FILES:
    pytest.skip(f"no recordings in {FOLDER} (set OFFICELLM_RECORDINGS)", allow_module_level=True)
FIND = finder(Host())
WIRE = FIND("cohere", {})


@pytest.mark.parametrize("chunk", [0, 1, 7, 1000])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recorded_exchange_means_what_the_vendors_sdk_says(path, chunk):
    exchange = load_exchange(path)
    if chunk and not exchange.streamed:
        pytest.skip("read whole")

    assert misread(WIRE, exchange, play(WIRE, exchange, chunk=chunk)) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_counters_are_normalised(path):
    exchange = load_exchange(path)
    result, said = play(WIRE, exchange), exchange.file["expect"].get("usage")

    if isinstance(result, Reply):
        assert (result.usage.input, result.usage.output) == (said["input"] or 0, said["output"] or 0)
        assert result.usage.complete == (None not in (said["input"], said["output"]))
        assert result.usage.cached == (said.get("cached_input") or 0)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recorded_request_is_built_again(path):
    assert rebuilt(load_exchange(path), FIND).differences == ()
