"""The fake server as a judge: none of the requests that real services took is refused, and none makes it stumble."""

import copy
import json
import os
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from officellm.testing import FakeLLM


async def test_a_refusal_is_a_400_in_the_vendors_shape_and_leniency_answers(http, wires):
    bodies = {name: wire.request() for name, wire in wires.items()}
    bodies["openai"]["tools"] = []
    bodies["anthropic"]["messages"] *= 2
    bodies["gemini"]["contents"] = []
    bodies["cohere"]["messages"][1]["content"] = ""
    bodies["mistral"]["messages"].append({"role": "tool", "tool_call_id": "abcdefghi", "content": "hi"})
    bodies["ollama"]["messages"][1]["content"] = [{"type": "text", "text": "hi"}]
    bodies["responses"]["messages"] = []
    bodies["bedrock"]["messages"] *= 0
    bodies["bedrock_invoke"]["model"] = "m"
    for strict, status in ((True, 400), (False, 200)):
        got = {}
        async with FakeLLM(["x"], strict=strict) as llm:
            for name, wire in wires.items():
                got[name] = await http.post(wire.address(llm), json=bodies[name], headers=wire.headers())
            assert len(llm.refusals) == (len(wires) if strict else 0)
        assert {one.status_code for one in got.values()} == {status}
        if strict:
            assert got["openai"].json()["error"]["code"] == "empty_array"
            assert got["anthropic"].json()["error"]["type"] == "invalid_request_error"
            assert got["gemini"].json()["error"]["status"] == "INVALID_ARGUMENT"
            assert got["cohere"].json()["message"] == "message must not be empty in a turn"
            assert (got["mistral"].json()["code"], got["mistral"].json()["raw_status_code"]) == ("3230", 400)
            assert got["ollama"].json()["error"].startswith("json: cannot unmarshal array into Go struct field")
            assert got["responses"].json()["error"]["code"] == "unsupported_parameter"
            for name in ("bedrock", "bedrock_invoke"):
                assert got[name].headers["x-amzn-errortype"].startswith("ValidationException:")


def recordings():
    """Every recorded request that the real service answered with a 200."""
    root = Path(os.environ.get("OFFICELLM_RECORDINGS", Path(__file__).parents[4] / "shared" / "recordings"))
    patterns = {
        "openai": "openai_chat.openai.*",
        "anthropic": "anthropic.anthropic.*",
        "gemini": "gemini.*",
        "cohere": "cohere_v2.*",
        "mistral": "mistral.*",
        "ollama": "ollama_chat.*",
        "responses": "openai_responses.openai.*",
        "bedrock": "bedrock_converse.bedrock.*",
        "bedrock_invoke": "anthropic_bedrock_invoke.*",
    }
    for wire, pattern in patterns.items():
        for file in sorted((root / "dev").glob(f"{pattern}.json")):
            exchange = json.loads(file.read_text(encoding="utf-8"))
            if exchange["response"]["status"] == 200 and isinstance(exchange["request"].get("body"), dict):
                yield pytest.param(wire, exchange["request"], id=file.stem)


RECORDED = list(recordings())


@pytest.mark.skipif(not RECORDED, reason="no recordings here (OFFICELLM_RECORDINGS)")
@pytest.mark.parametrize(("wire", "request_"), RECORDED)
def test_no_request_that_a_real_service_took_is_refused(complaint, wire, request_):
    said = complaint(wire, request_["body"], urlsplit(request_["path"]).path)
    # A recorded signature is the real service's, as is an earlier response: this server knows only its own.
    known_there = ("signature", "encrypted content", "Previous response with id")
    assert said == "" or any(words in said for words in known_there)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def damaged(draw, bodies):
    """One of the bodies with one value, at any depth, replaced by anything."""
    wire = draw(st.sampled_from(sorted(bodies)))
    place = body = copy.deepcopy(bodies[wire])
    while True:
        key = draw(st.sampled_from(list(place) if isinstance(place, dict) else list(range(len(place)))))
        if not isinstance(place[key], (dict, list)) or not place[key] or draw(st.integers(0, 4)) == 0:
            place[key] = draw(anything)
            return wire, body
        place = place[key]


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_no_body_however_damaged_makes_the_server_stumble(complaint, hear, long_bodies, data):
    wire, body = data.draw(damaged(long_bodies))
    heard = hear(wire, body)
    assert isinstance(complaint(wire, body), str)
    assert isinstance(heard.task + heard.last_user + heard.all_tools + heard.mark(), str)


def test_the_bodies_that_get_damaged_are_good_ones(complaint, long_bodies):
    assert {complaint(wire, body) for wire, body in long_bodies.items()} == {""}
