"""The providers of one office: blocks, presets and objects, each made once, on first use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from officellm.errors import ConfigError, nearest
from officellm.httpclient import HttpOptions
from officellm.kinds import Kind
from officellm.presets import PRESETS, preset_url
from officellm.protocols import Provider
from officellm.providersettings import ProviderSettings
from officellm.toolmode import adapted

if TYPE_CHECKING:
    from officellm.host import Host
    from officellm.transport import HttpPool

#: A provider block: the mapping of a team file, or an object that is one already.
ProviderBlock = Mapping[str, Any] | Provider


class Providers:
    """Finds the provider and the model that an agent's `model` names."""

    def __init__(self, host: Host, http: HttpPool, blocks: Mapping[str, ProviderBlock]) -> None:
        self._host = host
        self._http = http
        self._blocks = dict(blocks)
        self._made: dict[str, Provider] = {}

    def names(self) -> list[str]:
        """Providers that can be named: blocks first, then presets."""
        return [*self._blocks, *(name for name in PRESETS if name not in self._blocks)]

    def resolve(self, model: str | Provider | None, *, owner: str) -> tuple[Provider, str]:
        """The provider and the model's name. Raises `ConfigError` that names `owner`."""
        if model is None:
            raise ConfigError(f"{owner} has no model: say model='provider:name', such as 'openai:gpt-4.1-mini'")
        if not isinstance(model, str):
            if not isinstance(model, Provider):
                raise ConfigError(f"{owner}: the model must be 'provider:name' or a provider, not {model!r}")
            return adapted(model), str(getattr(model, "model", "") or "")
        provider_name, colon, model_name = model.partition(":")
        if not colon and provider_name not in self._blocks:
            raise ConfigError(f"{owner}: model {model!r} names no provider: say 'provider:name'")
        provider = self._provider(provider_name, owner)
        name = model_name or self._default_model(provider_name)
        if not name:
            raise ConfigError(f"{owner}: provider {provider_name!r} has no default model: say '{provider_name}:name'")
        return provider, name

    def _default_model(self, name: str) -> str:
        block = self._blocks.get(name)
        value = block.get("model") if isinstance(block, Mapping) else getattr(block, "model", None)
        return str(value or "")

    def provider(self, name: str) -> Provider:
        """The provider of this name. Raises `ConfigError`."""
        return self._provider(name, "the office")

    def _provider(self, name: str, owner: str) -> Provider:
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = adapted(self._make(name, owner))
        return made

    def _make(self, name: str, owner: str) -> Provider:
        block = self._blocks.get(name)
        if isinstance(block, Provider):
            return block
        if block is not None and not isinstance(block, Mapping):
            raise ConfigError(f"provider {name!r} must be a mapping or a provider, not {block!r}")
        values = dict(block or {})
        preset = PRESETS.get(name)
        driver = values.pop("format", None) or (preset.format if preset is not None else None)
        if driver is not None and not isinstance(driver, str):
            raise ConfigError(f"provider {name!r}: format must be the name of a wire format, not {driver!r}")
        if driver is None:
            from officellm import shelf

            if name not in shelf.names(Kind.PROVIDER.group):
                raise ConfigError(f"{owner}: unknown provider {name!r}.{nearest(name, self.names())}")
            driver = name
        if preset is not None and preset.format == driver:
            if preset.base_url:
                values.setdefault("base_url", preset_url(name))
            if preset.api_key_env is not None:
                values.setdefault("api_key_env", preset.api_key_env)
        settings = self._host.settings(Kind.PROVIDER, driver, values)
        http = self._http
        if isinstance(settings, ProviderSettings):
            options = HttpOptions(settings.proxy, settings.ca_file, settings.http2)
            options.check(f"provider {name!r}")
            http = http.having(options)
        return self._host.provider(driver, name, settings, http)
