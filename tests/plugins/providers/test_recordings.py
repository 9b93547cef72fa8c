"""Every recorded exchange means to us what it means to the vendors' own SDKs, however the bytes are cut."""

from __future__ import annotations

import importlib

import pytest

from officellm import Reply, WireFormat

from .recordings import FOLDER, Exchange, differences, exchanges, read

#: For each kind of recording: the module and class of the wire format, and the vendor's names of its token counters.
FORMATS = {
    "openai_chat": (
        "openai_compat",
        "OpenAICompat",
        {"input": "prompt_tokens", "output": "completion_tokens", "total": "total_tokens"},
    ),
    "anthropic": ("anthropic", "Anthropic", {"input": "input_tokens", "output": "output_tokens"}),
    "gemini": (
        "gemini",
        "Gemini",
        {"input": "promptTokenCount", "output": "candidatesTokenCount", "total": "totalTokenCount"},
    ),
}


def wire_for(exchange: Exchange) -> WireFormat:
    module, cls, _ = FORMATS[exchange.format]
    return getattr(importlib.import_module(f"officellm_builtin.providers.{module}"), cls)()


RECORDED = [pytest.param(exchange, id=exchange.name) for exchange in exchanges(*FORMATS)]
STREAMED = [param for param in RECORDED if param.values[0].streamed]
if not RECORDED:
    pytest.skip(f"no recordings in {FOLDER} (set OFFICELLM_RECORDINGS)", allow_module_level=True)


@pytest.mark.parametrize("exchange", RECORDED)
def test_a_recorded_exchange_means_what_the_vendors_sdk_says(exchange):
    result = read(wire_for(exchange), exchange)

    assert differences(exchange, result) == []


@pytest.mark.parametrize("exchange", RECORDED)
def test_the_vendors_own_counters_are_kept_beside_the_normalised_ones(exchange):
    result = read(wire_for(exchange), exchange)
    # The SDKs do not see every counter that a vendor sends: where they have none, ours may have one.
    wanted = {key: value for key, value in (exchange.expect.get("usage") or {}).items() if value is not None}

    if isinstance(result, Reply):
        kept = {key: (result.raw_usage or {}).get(name) for key, name in FORMATS[exchange.format][2].items()}
        assert {key: value for key, value in kept.items() if key in wanted} == {
            key: value for key, value in wanted.items() if key in kept
        }


@pytest.mark.parametrize("chunk", [1, 7, 1000])
@pytest.mark.parametrize("exchange", STREAMED)
def test_a_stream_means_the_same_however_it_is_cut(exchange, chunk):
    wire = wire_for(exchange)

    assert read(wire, exchange, chunk=chunk) == read(wire, exchange)
