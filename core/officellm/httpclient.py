"""Makes HTTP clients as a provider's settings want them: proxy, certificates, HTTP/2. Nothing is kept or sent here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from officellm.errors import ConfigError

if TYPE_CHECKING:
    import ssl

    import httpx

#: Seconds that an idle connection is kept.
KEEPALIVE = 60


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """How a provider is reached; the defaults suit all but a few networks."""

    proxy: str | None = None
    ca_file: str | None = None
    http2: bool = False

    def check(self, owner: str) -> None:
        """Raises `ConfigError`, which names `owner`, for what no client can be made of."""
        if self.proxy is not None and not _is_proxy(self.proxy):
            # It may hold a password, so it is not shown.
            raise ConfigError(f"{owner}: proxy must be an address such as http://127.0.0.1:3128")
        if self.ca_file is not None:
            try:
                _ssl_context(self.ca_file)
            except OSError as error:  # ssl.SSLError is one
                why = error.strerror or error
                raise ConfigError(f"{owner}: ca_file {self.ca_file!r} cannot be used: {why}") from None
        if self.http2 and find_spec("h2") is None:
            raise ConfigError(f"{owner}: http2 needs one more package: pip install 'officellm[http2]'")


def new_client(options: HttpOptions) -> httpx.AsyncClient:
    """A client with unlimited connections: providers cap their own concurrency."""
    import httpx

    from officellm.connection import Client, Connections

    context = _ssl_context(options.ca_file)
    proxy = httpx.Proxy(options.proxy) if options.proxy is not None else None
    if options.http2:
        limits = httpx.Limits(keepalive_expiry=KEEPALIVE)
        transport = httpx.AsyncHTTPTransport(verify=context, http2=True, limits=limits, proxy=proxy)
        return httpx.AsyncClient(transport=transport, timeout=60, headers={"user-agent": "officellm"})
    # Stock httpx pooling collapses above 20 connections (quadratic, and it reconnects); aiohttp's does not.
    return Client(Connections(context, proxy))


@cache
def _ssl_context(ca_file: str | None) -> ssl.SSLContext:
    """One context for the process: loading the certificate bundle costs 28 ms each time."""
    import httpx

    context = httpx.create_ssl_context()
    if ca_file is not None:
        context.load_verify_locations(ca_file)
    return context


def _is_proxy(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
