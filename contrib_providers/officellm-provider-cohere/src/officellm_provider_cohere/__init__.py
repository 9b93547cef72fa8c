"""The `cohere` provider: Cohere's chat API, version 2."""

from __future__ import annotations

from officellm import HttpFactory, HttpProvider, ProviderSettings, hookimpl


class CohereSettings(ProviderSettings):
    """A provider block with `format: cohere`."""

    base_url: str = "https://api.cohere.com"
    api_key_env: str | None = "COHERE_API_KEY"


@hookimpl
def settings_model(kind: str, name: str) -> type[CohereSettings]:
    """The settings of a provider block with `format: cohere`."""
    return CohereSettings


@hookimpl
def make_provider(name: str, settings: CohereSettings, http: HttpFactory) -> HttpProvider:
    """A provider that speaks this format."""
    from officellm_provider_cohere.wire import Cohere

    return HttpProvider(name, Cohere(), settings, http)
