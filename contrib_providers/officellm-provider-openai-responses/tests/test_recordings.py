"""Every recorded exchange means to us what it means to the vendor's own SDK, and its request can be built again."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from officellm import Fault, Host, Reply, Request, ToolResult, User, loads
from officellm.testing import RecordedExchange, finder, load_exchange, misread, play, rebuilt

from .samples import BASE, WIRE, check_legal

FIND = finder(Host())
FOLDER = Path(os.environ.get("OFFICELLM_RECORDINGS") or Path(__file__).parents[4] / "shared" / "recordings")
RECORDED = [
    pytest.param(load_exchange(path), id=path.stem.removeprefix("openai_responses."))
    for path in sorted(FOLDER.glob("*/openai_responses.*.json"))
]
STREAMED = [param for param in RECORDED if param.values[0].streamed]
REPLIES = [param for param in RECORDED if param.values[0].file["expect"].get("output_types")]
if not RECORDED:
    pytest.skip(f"no recordings in {FOLDER} (set OFFICELLM_RECORDINGS)", allow_module_level=True)


@pytest.mark.parametrize("recording", RECORDED)
def test_a_recorded_exchange_means_what_the_vendors_sdk_says(recording: RecordedExchange) -> None:
    result, expect = play(WIRE, recording), recording.file["expect"]

    assert misread(WIRE, recording, result) == []
    if isinstance(result, Fault):
        assert result.message
        return
    assert result.refusal == expect.get("refusal")
    assert (result.id, result.model) == (expect["response_id"], expect["model"])
    assert [item["type"] for item in result.message.native or ()] == expect["output_types"]


@pytest.mark.parametrize("recording", RECORDED)
def test_a_recorded_request_is_built_again(recording: RecordedExchange) -> None:
    assert rebuilt(recording, FIND).differences == ()


@pytest.mark.parametrize("recording", RECORDED)
def test_the_counters_are_kept_and_normalised(recording: RecordedExchange) -> None:
    result, wanted = play(WIRE, recording), recording.file["expect"].get("usage")

    if isinstance(result, Reply):
        usage, wanted = result.usage, wanted or {}
        assert usage.complete == bool(wanted)
        assert (usage.input, usage.output, usage.total) == tuple(wanted.get(key, 0) for key in COUNTERS)
        assert (usage.cached, usage.reasoning) == (wanted.get("cached_input") or 0, wanted.get("reasoning") or 0)
        assert (result.raw_usage or {}).get("total_tokens") == wanted.get("total")


COUNTERS = ("input", "output", "total")


@pytest.mark.parametrize("chunk", [1, 7, 1000])
@pytest.mark.parametrize("recording", STREAMED)
def test_a_stream_means_the_same_however_it_is_cut(recording: RecordedExchange, chunk: int) -> None:
    assert play(WIRE, recording, chunk=chunk) == play(WIRE, recording)


@pytest.mark.parametrize("recording", STREAMED)
def test_a_stream_cut_before_its_last_event_is_a_fault(recording: RecordedExchange) -> None:
    events = recording.body.replace(b"\r\n", b"\n").split(b"\n\n")
    last = next(place for place, event in enumerate(events) if LAST.search(event))

    for place in range(0, last, max(1, last // 20)):
        cut = play(WIRE, replace(recording, body=b"\n\n".join(events[:place]) + b"\n\n"))
        assert isinstance(cut, Fault)
        assert (cut.kind, cut.retryable) == ("network", True)


LAST = re.compile(rb'"type": ?"response\.(?:completed|incomplete)"')


@pytest.mark.parametrize("recording", REPLIES)
def test_a_recorded_reply_goes_back_as_it_came_and_only_to_its_own_model(recording: RecordedExchange) -> None:
    reply = play(WIRE, recording)
    assert isinstance(reply, Reply)
    history = [User("go"), reply.message, *(ToolResult(call.id, call.name, "ok") for call in reply.message.calls)]
    model = recording.request.model

    own, other = (loads(WIRE.build(Request(model=name, messages=history), BASE).body) for name in (model, "another"))

    back = [item for item in own["input"] if item.get("type") not in ("function_call_output", None)]
    if all(can_go_back(item) for item in reply.message.native):
        assert back == reply.message.native
    else:
        assert back == [without_id(item) for item in reply.message.native if item["type"] in OWN]
    check_legal(other)
    assert not any(item.get("type") == "reasoning" or "id" in item for item in other["input"])


OWN = ("message", "function_call")


def can_go_back(item: dict[str, Any]) -> bool:
    """Reasoning that a server does not keep needs its content."""
    return item["type"] != "reasoning" or bool(item.get("encrypted_content") or item.get("content"))


def without_id(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in ("id", "status")}
