"""What every provider block of a team file may say. Wire formats add their own options to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from officellm.protocols import ToolMode
from officellm.wire import OutputMode

_Seconds = Annotated[float, Field(gt=0)]
_Count = Annotated[int, Field(ge=1)]


def shown_url(url: str) -> str:
    """The address as it may be shown: without a password or a query, which may hold a key."""
    return re.sub(r"//[^/@]*@", "//", url).partition("?")[0]


class ProviderSettings(BaseModel):
    """A provider block.

    `requests_per_minute` and `tokens_per_minute` make requests wait before they are sent; what a server says of its own
    limits does so without them. `proxy` is a URL, `ca_file` a PEM file of certificates to trust, and `http2` needs the
    extra `officellm[http2]`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    base_url: str = ""
    api_key_env: str | None = None
    model: str | None = None
    settings: Mapping[str, Any] = Field(default_factory=dict)
    headers: Mapping[str, str] = Field(default_factory=dict)
    timeout: _Seconds = 600.0
    connect_timeout: _Seconds = 10.0
    max_concurrency: _Count | None = None
    requests_per_minute: _Count | None = None
    tokens_per_minute: _Count | None = None
    #: It may hold a password.
    proxy: Annotated[str | None, Field(repr=False)] = None
    ca_file: str | None = None
    http2: bool = False
    tool_mode: ToolMode | None = None
    output_mode: OutputMode | None = None

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        """It may be empty: formats that know their server's own fill it in."""
        try:
            parts = urlsplit(url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            usable = False
        if url and not (usable and url.isprintable() and " " not in url):
            raise ValueError(f"{shown_url(url)!r} is no http:// or https:// address")
        return url
