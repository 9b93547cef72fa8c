"""The `ollama` provider: Ollama's own API, with what the `openai_compat` preset of that name cannot say."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from officellm import HttpFactory, HttpProvider, ProviderSettings, hookimpl


class OllamaSettings(ProviderSettings):
    """A provider block with `format: ollama`.

    `num_ctx` is the context's size in tokens: without it the server takes its own and cuts longer prompts silently.
    `keep_alive` is how long the model stays loaded, `think` whether or how hard it thinks. All of them can also be said
    for one agent, in its `settings`.
    """

    base_url: str = "http://localhost:11434"
    num_ctx: Annotated[int, Field(gt=0)] | None = None
    keep_alive: int | str | None = None
    think: bool | Literal["low", "medium", "high"] | None = None


@hookimpl
def settings_model(kind: str, name: str) -> type[OllamaSettings]:
    """The settings of a provider block with `format: ollama`."""
    return OllamaSettings


@hookimpl
def make_provider(name: str, settings: OllamaSettings, http: HttpFactory) -> HttpProvider:
    """A provider that speaks this format."""
    from officellm_provider_ollama.wire import Ollama

    defaults = {"num_ctx": settings.num_ctx, "keep_alive": settings.keep_alive, "think": settings.think}
    return HttpProvider(name, Ollama(defaults), settings, http)
