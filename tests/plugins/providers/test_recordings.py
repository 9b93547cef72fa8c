"""Every recorded exchange means to us what it means to the vendors' own SDKs, and its request can be built again."""

from __future__ import annotations

import importlib

import pytest

from officellm import Host, WireFormat
from officellm.testing import finder, misread, rebuilt
from officellm.testing.recorded.rebuilding import READERS, rules_of

from .recordings import FOLDER, Exchange, exchanges, read

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


@pytest.fixture(scope="module")
def find():
    return finder(Host())


@pytest.mark.parametrize("exchange", RECORDED)
def test_a_recorded_exchange_means_what_the_vendors_sdk_says(exchange):
    wire = wire_for(exchange)

    assert misread(wire, exchange.recorded, read(wire, exchange)) == []


@pytest.mark.parametrize("exchange", RECORDED)
def test_a_recorded_request_is_built_again(exchange, find):
    assert rebuilt(exchange.recorded, find).differences == ()


@pytest.mark.parametrize("format", FORMATS)
def test_every_rule_of_a_format_is_needed(format, find):
    found = [rebuilt(exchange.recorded, find) for exchange in exchanges(format)]
    used = {reason for one in found for reason in one.known | one.equal_because}
    elsewhere = {rule.reason for other in READERS if other != format for rule in rules_of(other)}

    assert {rule.reason for rule in rules_of(format)} - elsewhere - used == set()


@pytest.mark.parametrize("chunk", [1, 7, 1000])
@pytest.mark.parametrize("exchange", STREAMED)
def test_a_stream_means_the_same_however_it_is_cut(exchange, chunk):
    wire = wire_for(exchange)

    assert read(wire, exchange, chunk=chunk) == read(wire, exchange)
