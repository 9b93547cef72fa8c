"""Every recorded exchange means to us what it means to the vendors' own SDKs, however the bytes are cut."""

from __future__ import annotations

import importlib

import pytest

from officellm import WireFormat

from .recordings import FOLDER, Exchange, differences, exchanges, read, usage_differences

#: For each kind of recording: the module and class of the wire format.
FORMATS = {
    "openai_chat": ("openai_compat", "OpenAICompat"),
    "anthropic": ("anthropic", "Anthropic"),
    "gemini": ("gemini", "Gemini"),
}


def wire_for(exchange: Exchange) -> WireFormat:
    module, cls = FORMATS[exchange.format]
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
    wire = wire_for(exchange)

    assert usage_differences(wire, exchange, read(wire, exchange)) == []


@pytest.mark.parametrize("chunk", [1, 7, 1000])
@pytest.mark.parametrize("exchange", STREAMED)
def test_a_stream_means_the_same_however_it_is_cut(exchange, chunk):
    wire = wire_for(exchange)

    assert read(wire, exchange, chunk=chunk) == read(wire, exchange)
