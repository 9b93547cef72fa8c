"""The `local` provider: a small model inside this process. `local:smollm2`, or `local:/path/to/any.gguf`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from officellm import HttpFactory, hookimpl
from officellm_provider_local.settings import LocalSettings

if TYPE_CHECKING:
    from pydantic import BaseModel

    from officellm_provider_local.provider import LocalProvider


@hookimpl
def settings_model(kind: str, name: str) -> type[BaseModel]:
    return LocalSettings


@hookimpl
def make_provider(name: str, settings: LocalSettings, http: HttpFactory) -> LocalProvider:
    from officellm_provider_local.provider import LocalProvider

    return LocalProvider(name, settings, getattr(http, "clock", None))
