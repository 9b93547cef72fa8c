"""A provider's key and its other secrets: where they come from, whether they can be sent, and texts without them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl, quote, urlsplit

from officellm.errors import ConfigError
from officellm.providersettings import shown_url
from officellm.wire import Fault, FaultError

HIDDEN = "[key]"
#: A text that is cut keeps no beginning of a secret of this length.
_TELLING = 6
_SECRET_NAME = re.compile(r"key|token|secret|auth|passw|cookie|sig", re.I)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Credentials:
    """The secrets of one provider block. The key is read from its variable each time: it may change."""

    __slots__ = ("_fixed", "_is_local", "_variable", "shown_url")

    def __init__(self, provider: str, base_url: str, variable: str | None, headers: Mapping[str, str]) -> None:
        """Raises `ConfigError` for a header that cannot be sent."""
        #: The base url as it may be shown.
        self.shown_url = shown_url(base_url)
        self._variable = variable
        parts = urlsplit(base_url)
        for name, value in headers.items():
            if not _HEADER_NAME.fullmatch(name) or not _can_be_sent(value):
                raise ConfigError(f"provider {provider!r}: header {name!r} has characters that HTTP does not allow")
        host = parts.hostname or ""
        self._is_local = host in ("localhost", "::1") or host.startswith("127.")
        named = [*headers.items(), *parse_qsl(parts.query), ("password", parts.password or "")]
        self._fixed = [value for name, value in named if _SECRET_NAME.search(name)]

    def missing(self) -> str | None:
        """The variable that should hold the key and does not; None where all is well, and for this machine."""
        return self._variable if self._variable and not self._key() and not self._is_local else None

    def key(self) -> str:
        """The key, empty where there is none. Raises `FaultError` for one that no header can hold."""
        key = self._key()
        if not _can_be_sent(key):
            raise FaultError(Fault("auth", f"the key in {self._variable} has characters that HTTP does not allow"))
        return key

    def _key(self) -> str:
        # Files that keys are read from end with a line break.
        return os.environ.get(self._variable, "").strip() if self._variable else ""

    def hide(self, text: str) -> str:
        """The text without any of the secrets: servers echo them in their errors, whole, encoded or cut."""
        for secret in self._secrets():
            for form in (secret, quote(secret, safe="")):
                text = re.sub(re.escape(form), HIDDEN, text, flags=re.I)
            if text.endswith("…"):
                text = _without_end(text[:-1], secret) + "…"
        return text

    def _secrets(self) -> Iterator[str]:
        for secret in {self._key(), *self._fixed}:
            # `Bearer x` is echoed as `x`.
            for form in (secret, secret.rpartition(" ")[2]):
                if len(form) >= 4:
                    yield form


def _can_be_sent(value: str) -> bool:
    return value.isascii() and value.replace("\t", " ").isprintable()


def _without_end(text: str, secret: str) -> str:
    """The text without a beginning of the secret at its end."""
    for size in range(min(len(secret), len(text)), _TELLING - 1, -1):
        if text[-size:].lower() == secret[:size].lower():
            return text[:-size] + HIDDEN
    return text
