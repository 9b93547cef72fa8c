"""Every recorded exchange means to us what it means to Amazon's and Anthropic's own SDKs, however the bytes are cut."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from officellm_provider_bedrock.converse import BedrockConverse
from officellm_provider_bedrock.invoke import AnthropicInvoke

from officellm import Fault
from officellm.testing import load_exchange, play

WIRES = {"bedrock_converse": BedrockConverse(), "anthropic_bedrock_invoke": AnthropicInvoke()}
FOLDER = Path(os.environ.get("OFFICELLM_RECORDINGS") or Path(__file__).parents[4] / "shared" / "recordings")
FILES = sorted(path for name in WIRES for path in FOLDER.glob(f"*/{name}.*.json"))
if not FILES:
    pytest.skip(f"no recordings in {FOLDER} (set OFFICELLM_RECORDINGS)", allow_module_level=True)
STREAMS = [path for path in FILES if load_exchange(path).streamed]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recorded_exchange_means_what_the_vendors_sdk_says(path):
    exchange = load_exchange(path)
    expect = exchange.file["expect"]

    result = play(WIRES[exchange.format], exchange)

    if "error" in expect:
        wanted = expect["error"]
        assert isinstance(result, Fault)
        assert (result.status, result.retryable) == (wanted["status"], wanted["retryable"])
        assert result.message == wanted["message"]
        assert wanted["code"] in (result.code, str(result.status))
        return
    found = [
        {"id": call.id, "name": call.name, "arguments": call.raw if call.problem else call.arguments}
        for call in result.message.calls
    ]
    said, kept = expect["usage"], result.raw_usage
    cache = (said.get("cached_input") or 0) + (said.get("cache_write_input") or 0)
    assert result.message.text == expect["text"]
    assert found == [{key: call[key] for key in ("id", "name", "arguments")} for call in expect["tool_calls"]]
    assert result.raw_stop == expect["finish_reason"]
    assert result.message.reasoning == (expect.get("reasoning") or "")
    assert (result.usage.input, result.usage.output) == (said["input"] + cache, said["output"])
    assert result.usage.cached == (said.get("cached_input") or 0)
    if said["total"] is not None:
        assert result.usage.total == said["total"] == kept["totalTokens"]


@pytest.mark.parametrize("chunk", [1, 7, 1000])
@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_a_stream_means_the_same_however_it_is_cut(path, chunk):
    exchange = load_exchange(path)
    wire = WIRES[exchange.format]

    assert play(wire, exchange, chunk=chunk) == play(wire, exchange)
