"""The fake server's JSON has no key, at any depth, that the real services' recorded replies do not have."""

import base64
import json
import os
from pathlib import Path

import pytest

from officellm.messages import Usage
from officellm.testing import FakeLLM, call, reply

from .amazon_clients import frames

ROOT = Path(os.environ.get("OFFICELLM_RECORDINGS", Path(__file__).parents[4] / "shared" / "recordings")) / "dev"
PATTERNS = {
    "openai": "openai_chat.*",
    "anthropic": "anthropic.anthropic.*",
    "gemini": "gemini.*",
    "cohere": "cohere_v2.*",
    "mistral": "mistral.*",
    "ollama": "ollama_chat.*",
    "responses": "openai_responses.*",
    "bedrock": "bedrock_converse.*",
    "bedrock_invoke": "anthropic.anthropic.*",
}
#: Their events are whole replies.
WHOLE_EVENTS = ("gemini", "ollama")
SAID = [
    reply("A text.", reasoning="A thought.", usage=Usage(input=9, output=8, cached=3, reasoning=2)),
    reply("Looking.", calls=[call("search", query="x"), call("search", query="y")]),
    reply("", stop="length"),
]

#: In the vendor's documents, and not in any recording.
DOCUMENTED = {
    ".usageMetadata.cachedContentTokenCount",
    ".contentBlockDelta.delta.reasoningContent.text",
    ".contentBlockDelta.delta.reasoningContent.signature",
    ".metadata.usage.cacheReadInputTokens",
    ".metadata.usage.cacheWriteInputTokens",
}


def paths(value, at=""):
    """Where each key stands, such as `choices[].delta.content`; what a tool gets is not looked into."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{at}.{key}"
            if key not in ("args", "input", "arguments", "parameters"):
                yield from paths(inner, f"{at}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from paths(inner, f"{at}[]")


def data(text):
    return [json.loads(line[5:]) for line in text.split("\n") if line.startswith("data:") and "[DONE]" not in line]


def recorded(wire, stream):
    """All paths of the recorded successful replies."""
    found = set()
    for file in ROOT.glob(f"{PATTERNS[wire]}.json"):
        response = json.loads(file.read_text(encoding="utf-8"))["response"]
        framing = response["framing"]
        wanted = ("sse", "eventstream") if stream else ("json",)
        if response["status"] != 200 or (wire not in WHOLE_EVENTS and framing not in wanted):
            continue
        bodies = data("\n".join(response["sse"])) if framing == "sse" else [response.get("body")]
        if framing == "eventstream":
            framed = frames(base64.b64decode(response["eventstream_b64"]))
            bodies = [{headers[":event-type"]: json.loads(payload)} for headers, payload in framed]
        if framing == "ndjson":
            bodies = [json.loads(line) for line in response["ndjson"] if line]
        found |= {path for body in bodies for path in paths(body)}
    return found | DOCUMENTED


@pytest.mark.skipif(not ROOT.is_dir(), reason="no recordings here (OFFICELLM_RECORDINGS)")
@pytest.mark.parametrize("said", SAID, ids=["text", "calls", "cut"])
async def test_every_key_is_one_of_the_vendors(ask, wire, stream, said):
    async with FakeLLM([said]) as llm:
        response = await ask(llm, wire, stream=stream)
    bodies = wire.events(response) if stream else [response.json()]
    assert {path for body in bodies for path in paths(body)} - recorded(wire.name, stream) == set()
