"""The `mistral` provider: Mistral's chat API under its own rules, beside the `openai_compat` preset of that name."""

from __future__ import annotations

from officellm import HttpFactory, HttpProvider, ProviderSettings, hookimpl


class MistralSettings(ProviderSettings):
    """A provider block with `format: mistral`.

    `think_tags` is for models and servers that leave the model's `<think>` text in the answer.
    """

    base_url: str = "https://api.mistral.ai/v1"
    api_key_env: str | None = "MISTRAL_API_KEY"
    think_tags: bool = False


@hookimpl
def settings_model(kind: str, name: str) -> type[MistralSettings]:
    """The settings of a provider block with `format: mistral`."""
    return MistralSettings


@hookimpl
def make_provider(name: str, settings: MistralSettings, http: HttpFactory) -> HttpProvider:
    """A provider that speaks this format."""
    from officellm_provider_mistral.wire import Mistral

    return HttpProvider(name, Mistral(base_url=settings.base_url, think_tags=settings.think_tags), settings, http)
