"""The `openai_responses` provider: OpenAI's Responses API. Hooks and settings; the translation stands in `wire`."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from pydantic import model_validator

from officellm import HttpFactory, HttpProvider, ProviderSettings, hookimpl
from officellm_provider_openai_responses.wire import OpenAIResponses

__all__ = ["OpenAIResponses", "OpenAIResponsesSettings", "make_provider", "settings_model"]


class OpenAIResponsesSettings(ProviderSettings):
    """A provider block of this format; without a `base_url` it is OpenAI's own, with the key in `OPENAI_API_KEY`.

    `encrypted_reasoning` says whether to ask for reasoning that can be sent back; by default, unless the model is known
    to have none. `forced_tool_choice` is switched off for servers that refuse or ignore a tool choice.
    """

    encrypted_reasoning: bool | None = None
    forced_tool_choice: bool = True

    @model_validator(mode="before")
    @classmethod
    def _at_openai(cls, values: Any) -> Any:
        if not isinstance(values, dict) or values.get("base_url"):
            # OpenAI's key must not be sent to another server.
            return values
        return {"api_key_env": "OPENAI_API_KEY", **values, "base_url": "https://api.openai.com/v1"}


@hookimpl
def settings_model(kind: str, name: str) -> type[OpenAIResponsesSettings]:
    """The settings of a provider block with `format: openai_responses`."""
    return OpenAIResponsesSettings


@hookimpl
def make_provider(name: str, settings: OpenAIResponsesSettings, http: HttpFactory) -> HttpProvider:
    """A provider that speaks this format."""
    wire = OpenAIResponses(
        azure_key=(urlsplit(settings.base_url).hostname or "").endswith(".azure.com"),
        encrypted_reasoning=settings.encrypted_reasoning,
        forced_tool_choice=settings.forced_tool_choice,
    )
    return HttpProvider(name, wire, settings, http)
