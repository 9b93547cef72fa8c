"""Core's HTTP provider with Bedrock's two ways to prove who asks: an API key, or a signature over each request."""

from __future__ import annotations

import os
import re

from officellm import ConfigError, Fault, FaultError, HttpFactory, HttpProvider, HttpRequest, SystemClock, WireFormat
from officellm_provider_bedrock.endpoint import region_of, runtime_url
from officellm_provider_bedrock.settings import ACCESS_KEY, API_KEY, REGION, REGIONS, SECRET_KEY, BedrockSettings
from officellm_provider_bedrock.signing import Credentials, signature


class BedrockProvider(HttpProvider):
    """`Provider` for either wire format. An API key in the environment goes before an access key."""

    def __init__(self, name: str, wire: WireFormat, settings: BedrockSettings, http: HttpFactory) -> None:
        self._region = settings.region or region_of(settings.base_url) or _region_of_environment(name)
        if not settings.base_url:
            if self._region is None:
                raise ConfigError(f"provider {name!r} has no region: set `region`, or AWS_REGION in the environment")
            settings = settings.model_copy(update={"base_url": runtime_url(self._region)})
        self._key_variable = settings.api_key_env
        # A variable of the team file's own choice is the only way; Amazon's is the first of two.
        self._may_sign = settings.api_key_env in (None, API_KEY)
        self._wall = (getattr(http, "clock", None) or SystemClock()).wall
        super().__init__(name, wire, settings, http)

    def missing_key(self) -> str | None:
        """The environment variable that should be set and is not; None where there is a key or a pair to sign with."""
        missing = super().missing_key()
        if not self._may_sign:
            return missing
        if self._key_variable is not None and missing is None:
            return None
        return next((name for name in (ACCESS_KEY, SECRET_KEY) if not os.environ.get(name, "").strip()), None)

    def headers(self, http_request: HttpRequest) -> dict[str, str]:
        """All headers of this request, signed where no key is sent."""
        headers = super().headers(http_request)
        credentials = Credentials.from_environment() if self._may_sign else None
        if credentials is None or any(name.lower() == "authorization" for name in headers):
            return headers
        if self._region is None:
            raise FaultError(Fault("auth", "there is no region to sign for: set `region`, or AWS_REGION"))
        return {**headers, **signature(http_request, headers, credentials, self._region, self._wall())}


def _region_of_environment(name: str) -> str | None:
    for variable in REGIONS:
        region = os.environ.get(variable)
        if region:
            if not re.fullmatch(REGION, region):
                raise ConfigError(f"provider {name!r}: {variable} is no region: {region!r}")
            return region
    return None
