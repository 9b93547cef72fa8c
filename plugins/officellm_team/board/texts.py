"""What a text, a list of ids and a time must be before they reach the database. Nothing is read or written here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from officellm_team.board.errors import BoardError
from officellm_team.board.store import dumped

T = TypeVar("T")

MAX_CONTENT = 50_000
MAX_TITLE = 2_000
#: Databases limit how many variables one statement may have.
_CHUNK = 500
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def checked(what: str, text: str, limit: int = MAX_CONTENT) -> str:
    """The same text. Raises `BoardError` where it is too long, or holds what no database text can."""
    if len(text) > limit:
        raise BoardError(
            "content_too_large", f"{what} has {len(text)} characters.", hint=f"At most {limit}: split it in parts."
        )
    found = _UNSTORABLE.search(text)
    if found:
        raise BoardError(
            "invalid_arguments", f"{what} holds the character {found[0]!a} at {found.start()}, which cannot be stored."
        )
    return text


def refuse_unstorable(what: str, value: Any) -> None:
    """Raises `BoardError` for a text anywhere in a value that no database can hold."""
    if isinstance(value, str):
        checked(what, value, len(value))
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            refuse_unstorable(f"{what}.{key!a}" if _UNSTORABLE.search(str(key)) else f"{what}.{key}", inner)
            refuse_unstorable(f"a key of {what}", key)
    elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        for index, inner in enumerate(value):
            refuse_unstorable(f"{what}.{index}", inner)


def searchable(text: str) -> str:
    """A query without the characters that no stored text can hold."""
    return _UNSTORABLE.sub(" ", text)


def json_object(what: str, text: str) -> str:
    """JSON text of an object, in our spelling; `{}` for an empty text. Raises `BoardError`."""
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise BoardError(
            "invalid_arguments", f"{what} is not JSON: {error}.", hint='Such as {"key": "value"}.'
        ) from None
    if not isinstance(value, dict):
        raise BoardError("invalid_arguments", f"{what} is not a JSON object.", hint='Such as {"key": "value"}.')
    return checked(what, dumped(value))


def moment(what: str, text: str) -> float | None:
    """Seconds since the epoch for an ISO 8601 date or time (UTC where it names no zone); None for an empty text."""
    if not text.strip():
        return None
    try:
        read = datetime.fromisoformat(text.strip())
        seconds = (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
        datetime.fromtimestamp(seconds, UTC)  # a first or last day may not be one in UTC
    except (ValueError, OverflowError):
        raise BoardError(
            "invalid_arguments", f"{what} {text!r} is not a time.", hint="ISO 8601, such as 2026-01-31T12:00:00Z."
        ) from None
    return seconds


def clamped(value: float) -> float:
    """An importance: between 0 and 1; 0.5 for what is no number."""
    return min(1.0, max(0.0, value)) if value == value else 0.5


def chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Parts that are small enough for the variables of one statement."""
    for start in range(0, len(items), _CHUNK):
        yield items[start : start + _CHUNK]
