"""What every vendor's SDK is asked in these tests, in one shape. Which SDK says it how stands in `clients/`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pytest
from pydantic import BaseModel

KEY = "right-key"
#: The module in `clients/` of each judge, and the package that it stands or falls with.
PACKAGES: Mapping[str, str] = {
    "openai_chat": "openai",
    "openai_responses": "openai",
    "anthropic_messages": "anthropic",
    "google_gemini": "google.genai",
    "mistral_chat": "mistralai",
    "cohere_chat": "cohere",
    "ollama_chat": "ollama",
    "bedrock_converse": "boto3",
    "bedrock_invoke": "boto3",
}
EVERY = tuple(PACKAGES)

#: The one tool on offer: strict, as some helpers of SDKs want it.
PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "required": ["query"],
    "additionalProperties": False,
}


class Tide(BaseModel):
    """What structured output is read into."""

    place: str
    metres: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """What an SDK made of a reply. `turn` is what it takes back as history, of its own types."""

    text: str
    finish: str
    usage: Mapping[str, int | None]
    turn: Sequence[Any]
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    ids: Sequence[str | None] = ()
    reasoning: str = ""
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """How an SDK reports an error: the class, the status that it knows of, whether the vendor's words are in it."""

    kind: type[Exception]
    status: int | None = None
    quotes: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The SDK's words: a finish reason for each neutral one, an error for each kind."""

    finish: Mapping[str, str]
    errors: Mapping[str, Failure] = field(default_factory=dict)


class Judge(Protocol):
    """One SDK at work: `SDK(llm, key)` asks that server, without retries. Some can do more, such as `parsed`."""

    words: Words

    def user(self, text: str) -> list[Any]:
        """What the user says, as history."""

    def results(self, got: Got, texts: Sequence[str]) -> list[Any]:
        """The results of the calls in a turn, in their order, as history."""

    async def ask(self, history: Sequence[Any], *, stream: bool = False, tools: bool = False) -> Got:
        """One request."""

    async def ask_for_nonsense(self) -> object:
        """A request that the SDK sends and the vendor refuses."""

    async def models(self) -> list[str]:
        """The names of the models."""

    def status(self, error: Exception) -> int | None:
        """The HTTP status in an error of the SDK."""

    async def close(self) -> None:
        """Let go of connections."""


def judge_named(name: str) -> type[Any]:
    """The judge's class; skips the test where its SDK is not installed."""
    package = PACKAGES[name]
    pytest.importorskip(package, reason=f"the SDK {package} is not installed (dependency group sdks)")
    return importlib.import_module(f".clients.{name}", __package__).SDK
