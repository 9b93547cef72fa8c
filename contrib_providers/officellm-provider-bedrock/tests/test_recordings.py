"""Every recorded exchange means to us what it means to the vendors' own SDKs, and its request can be built again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from officellm import Fault, Host
from officellm.testing import finder, load_exchange, misread, play, rebuilt

FIND = finder(Host())
WIRES = {name: FIND(name, {}) for name in ("bedrock_converse", "anthropic_bedrock_invoke")}
FOLDER = Path(os.environ.get("OFFICELLM_RECORDINGS") or Path(__file__).parents[4] / "shared" / "recordings")
FILES = sorted(path for name in WIRES for path in FOLDER.glob(f"*/{name}.*.json"))
if not FILES:
    pytest.skip(f"no recordings in {FOLDER} (set OFFICELLM_RECORDINGS)", allow_module_level=True)
STREAMS = [path for path in FILES if load_exchange(path).streamed]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recorded_exchange_means_what_the_vendors_sdk_says(path):
    exchange = load_exchange(path)
    wire = WIRES[exchange.format]

    assert misread(wire, exchange, play(wire, exchange)) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_counters_are_normalised_and_errors_keep_their_words(path):
    exchange = load_exchange(path)
    expect, result = exchange.file["expect"], play(WIRES[exchange.format], exchange)

    if isinstance(result, Fault):
        wanted = expect["error"]
        assert result.message == wanted["message"]
        assert wanted["code"] in (result.code, str(result.status))
        return
    said, kept = expect["usage"], result.raw_usage
    cache = (said.get("cached_input") or 0) + (said.get("cache_write_input") or 0)
    assert (result.usage.input, result.usage.output) == (said["input"] + cache, said["output"])
    assert result.usage.cached == (said.get("cached_input") or 0)
    if said["total"] is not None:
        assert result.usage.total == said["total"] == kept["totalTokens"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recorded_request_is_built_again(path):
    assert rebuilt(load_exchange(path), FIND).differences == ()


@pytest.mark.parametrize("chunk", [1, 7, 1000])
@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_a_stream_means_the_same_however_it_is_cut(path, chunk):
    exchange = load_exchange(path)
    wire = WIRES[exchange.format]

    assert play(wire, exchange, chunk=chunk) == play(wire, exchange)
