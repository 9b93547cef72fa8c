"""How long a server asks to wait, from its headers or from the body of its error."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

from officellm.codec import loads
from officellm.errorbody import details, read_error

_DELAY = re.compile(
    r"(?:retry|try again) (?:in|after) (?:(\d{1,5})h)?(?:(\d{1,7})m(?!s))?\s*(\d{1,9}(?:\.\d+)?)?\s*(ms\b|mil)?", re.I
)
_SECONDS = re.compile(r"\d{1,12}(?:\.\d+)?s?")


def retry_after(headers: Mapping[str, str], body: object = b"") -> float | None:
    """Seconds to wait, or None. `body` is the error's bytes or its decoded JSON. A wait of 0 or less counts as none."""
    waits = (_milliseconds(headers.get("retry-after-ms")), _header(headers), _body(body))
    return next((wait for wait in waits if wait is not None and wait > 0), None)


def _milliseconds(value: str | None) -> float | None:
    seconds = _number(value)
    return None if seconds is None else seconds / 1000


def _header(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    at = _time(value)
    if at is None:
        return None
    # The server's own clock is the one its date was made by; ours serves where it does not say.
    now = _time(headers.get("date", ""))
    return at - (time.time() if now is None else now)


def _number(value: str | None) -> float | None:
    value = (value or "").strip()
    return float(value.removesuffix("s")) if _SECONDS.fullmatch(value) else None


def _time(value: str) -> float | None:
    try:
        at = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError):
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _body(body: object) -> float | None:
    payload = body
    if isinstance(body, bytes):
        try:
            payload = loads(body)
        except (ValueError, RecursionError):
            payload = body.decode("utf-8", "replace")
    holder = payload[0] if isinstance(payload, list) and payload else payload
    if isinstance(holder, Mapping):
        error = holder.get("error")
        for detail in details(error if isinstance(error, Mapping) else holder):
            if str(detail.get("@type", "")).endswith("google.rpc.RetryInfo"):
                return _number(str(detail.get("retryDelay", "")))
    found = _DELAY.search(read_error(payload).text)
    if found is None or not any(found.group(1, 2, 3)):
        return None
    hours, minutes, seconds, milli = found.groups()
    last = float(seconds or 0) / (1000 if milli else 1)
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + last
