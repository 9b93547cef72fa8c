"""Every recorded exchange means to us what it means to the vendor's own SDK, however the bytes are cut."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from officellm_provider_cohere.wire import Cohere

from officellm import Fault
from officellm.testing import load_exchange, play

FOLDER = Path(os.environ.get("OFFICELLM_RECORDINGS") or Path(__file__).parents[4] / "shared" / "recordings")
FILES = sorted(path for name in ("cohere_v2",) for path in FOLDER.glob(f"*/{name}.*.json"))
if not FILES:
    pytest.skip(f"no recordings in {FOLDER} (set OFFICELLM_RECORDINGS)", allow_module_level=True)


def meant(call):
    return call.id, call.name, call.raw if call.problem else dict(call.arguments)


def expected(call, found):
    """A recording has no id where the service sent none."""
    return call.get("id") or found.id, call["name"], call["arguments"]


@pytest.mark.parametrize("chunk", [0, 1, 7, 1000])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recorded_exchange_means_what_the_vendors_sdk_says(path, chunk):
    exchange = load_exchange(path)
    if chunk and not exchange.streamed:
        pytest.skip("read whole")
    expect = exchange.file["expect"]

    result = play(Cohere(), exchange, chunk=chunk)

    if "error" in expect:
        assert isinstance(result, Fault)
        assert (result.status, result.retryable) == (expect["error"]["status"], expect["error"]["retryable"])
        return
    calls = result.message.calls
    assert result.message.text == expect["text"]
    assert list(map(meant, calls)) == [
        expected(call, found) for call, found in zip(expect["tool_calls"], calls, strict=True)
    ]
    assert result.raw_stop == expect["finish_reason"]
    said = expect["usage"]
    assert (result.usage.input, result.usage.output) == (said["input"] or 0, said["output"] or 0)
    assert result.usage.complete == (None not in (said["input"], said["output"]))
    assert result.usage.cached == (said.get("cached_input") or 0)
    assert result.message.reasoning == expect.get("reasoning", "") + expect.get("tool_plan", "")
