"""Reads what a reply's headers say of a service's rate limits, in the spellings that are in use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")
#: For requests and for tokens: the names of limit, rest and reset.
_NAMES = {
    "requests": (
        ("x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
        (
            "anthropic-ratelimit-requests-limit",
            "anthropic-ratelimit-requests-remaining",
            "anthropic-ratelimit-requests-reset",
        ),
    ),
    "tokens": (
        ("x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
        (
            "anthropic-ratelimit-tokens-limit",
            "anthropic-ratelimit-tokens-remaining",
            "anthropic-ratelimit-tokens-reset",
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class Budget:
    """What is left of a limit, and how fast it fills up again."""

    left: float
    limit: float
    per_second: float


def read_budgets(headers: Iterable[tuple[bytes, bytes]], now: float) -> tuple[Budget | None, Budget | None] | None:
    """What is left of requests and of tokens; None where the headers say nothing. `now` is wall-clock time."""
    found = {
        name.lower().decode("latin-1"): value.decode("latin-1").strip()
        for name, value in headers
        if b"ratelimit-" in name.lower()
    }
    if not found:
        return None
    requests, tokens = _budget(found, "requests", now), _budget(found, "tokens", now)
    return (requests, tokens) if requests or tokens else None


def _budget(headers: Mapping[str, str], kind: str, now: float) -> Budget | None:
    for limit_name, left_name, reset_name in _NAMES[kind]:
        limit, left = _count(headers.get(limit_name)), _count(headers.get(left_name))
        if limit and left is not None:
            used, reset = limit - left, _seconds(headers.get(reset_name, ""), now)
            # A reset is when all of it is there again; services say 0 where little is used.
            rate = used / reset if used > 0 and reset and reset > 0 else limit / 60
            return Budget(min(left, limit), limit, rate)
    return None


def _count(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 16 else None


def _seconds(text: str, now: float) -> float | None:
    """A wait such as `12ms`, `1m30.5s` or `2`, or the moment of a date."""
    if re.fullmatch(r"\d{1,9}(?:\.\d+)?", text):
        return float(text)
    found = _DURATION.fullmatch(text)
    if found is not None and text:
        hours, minutes, seconds, milliseconds = (float(part or 0) for part in found.groups())
        return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() - now
