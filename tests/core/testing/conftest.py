"""What the tests of the fake server share: each wire's client, and how to ask."""

import httpx
import pytest

from officellm.testing.server import SPEAKERS

from .amazon_clients import BedrockClient, BedrockInvokeClient
from .clients import AnthropicClient, GeminiClient, OpenAIClient
from .more_clients import CohereClient, MistralClient, OllamaClient
from .responses_client import ResponsesClient

CLIENTS = {
    one.name: one
    for one in (
        OpenAIClient(),
        AnthropicClient(),
        GeminiClient(),
        CohereClient(),
        MistralClient(),
        OllamaClient(),
        ResponsesClient(),
        BedrockClient(),
        BedrockInvokeClient(),
    )
}


@pytest.fixture(params=sorted(CLIENTS))
def wire(request):
    """Each of the wires."""
    return CLIENTS[request.param]


@pytest.fixture(scope="session")
def wires():
    """All wires by name."""
    return CLIENTS


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request):
    """Whether the reply is streamed."""
    return request.param


@pytest.fixture
async def http():
    """An HTTP client that knows nothing of models."""
    async with httpx.AsyncClient(timeout=5) as client:
        yield client


@pytest.fixture
def ask(http):
    """Post one model request: `await ask(llm, wire, text, stream=...)`."""

    async def post(llm, wire, text="hello", *, stream=False, key="k", **options):
        body = wire.request(text, stream=stream, **options)
        return await http.post(wire.address(llm, stream), json=body, headers=wire.headers(key))

    return post


PATHS = {
    "openai": "/v1/chat/completions",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/gemini-2.5-flash:generateContent",
    "cohere": "/cohere/v2/chat",
    "mistral": "/mistral/v1/chat/completions",
    "ollama": "/api/chat",
    "responses": "/v1/responses",
    "bedrock": "/model/m/converse",
    "bedrock_invoke": "/model/m/invoke",
}


@pytest.fixture(scope="session")
def hear():
    """What the server makes of a body: `hear(wire, body)`."""
    speakers = {one.name: one for one in SPEAKERS}

    def make(wire, body, path=None, headers=None):
        headers = {"anthropic-version": "2023-06-01"} if headers is None else headers
        return speakers[wire].hear(path or PATHS[wire], {}, headers, body)

    return make


@pytest.fixture(scope="session")
def complaint(hear):
    """What the server has against a body; an empty text where it has nothing."""
    speakers = {one.name: one for one in SPEAKERS}

    def make(wire, body, path=None, headers=None):
        trouble = speakers[wire].complain(hear(wire, body, path, headers))
        return trouble.message if trouble else ""

    return make


@pytest.fixture(scope="session")
def long_bodies(wires):
    """For each wire a request that has of everything: tools, calls, results."""
    call = {"id": "c1", "name": "search", "raw": '{"query": "x"}', "extra": {}}
    read = {"text": "Looking.", "calls": [call, {**call, "id": "c2"}]}
    return {name: wire.request(history=wire.turn(read, ["one", "two"])) for name, wire in wires.items()}
