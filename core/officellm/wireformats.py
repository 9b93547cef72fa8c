"""Finds the wire format of an installed driver, for code that translates and sends nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from officellm.errors import ConfigError, PluginNotFoundError
from officellm.kinds import Kind
from officellm.presets import PRESETS
from officellm.transport import HttpPool
from officellm.wire import WireFormat

if TYPE_CHECKING:
    from officellm.host import Host

#: The drivers that other distributions ship, by name: what to install where one is missing.
PACKAGES = {
    "openai_responses": "officellm-provider-openai-responses",
    "bedrock_converse": "officellm-provider-bedrock",
    "anthropic_bedrock_invoke": "officellm-provider-bedrock",
    "cohere": "officellm-provider-cohere",
    "mistral": "officellm-provider-mistral",
    "ollama": "officellm-provider-ollama",
}
#: Where recordings call a format by another name than its driver.
_DRIVER_OF_RECORDED = {
    "openai_chat": "openai_compat",
    "cohere_v2": "cohere",
    "ollama_chat": "ollama",
    "ollama_generate": "ollama",
}
_NOWHERE = "https://service.invalid"


def driver_of(recorded: str) -> str:
    """The driver for a format as recordings name it."""
    return _DRIVER_OF_RECORDED.get(recorded, recorded)


def usual_url(driver: str) -> str:
    """The base URL of the first preset that uses the driver; a host that does not exist where none does."""
    return next((one.base_url for one in PRESETS.values() if one.format == driver and one.base_url), _NOWHERE)


def wire_format(host: Host, driver: str, options: Mapping[str, Any] | None = None) -> WireFormat:
    """The driver's wire format, as a provider block with these options makes it.

    Raises `ConfigError`; its text names the package where the driver is not installed.
    """
    try:
        settings = host.settings(Kind.PROVIDER, driver, {"base_url": usual_url(driver), **(options or {})})
        provider = host.provider(driver, driver, settings, HttpPool())
    except PluginNotFoundError as error:
        package = PACKAGES.get(driver)
        if package is None:
            raise
        raise PluginNotFoundError(f"the format {driver!r} is not installed: pip install {package}") from error
    wire = getattr(provider, "wire", None)
    if not isinstance(wire, WireFormat):
        raise ConfigError(f"the provider {driver!r} has no wire format: it does not speak HTTP")
    return wire
