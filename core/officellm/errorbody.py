"""Takes the message and the codes out of an error body of any shape. What they mean is said in `faults`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from officellm.codec import dump_text

MAX_MESSAGE = 500

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
_SPACES = re.compile(r"\s{2,}")
# Vendors quote the key that they refuse.
_KEY = re.compile(r"\b(?:sk|gsk|xai|pplx|hf|nvapi|csk|r8)[-_][\w-]{8,}|\bAIza[\w-]{20,}|\bBearer\s+\S{8,}")
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.I | re.S)
_HIDDEN = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->", re.I | re.S)
_TAG = re.compile(r"<[^>]*>")
_TEXT_KEYS = ("message", "detail", "msg", "error", "error_message", "error_description", "Message", "errors", "title")
_CODE_KEYS = ("code", "type", "status", "error_type", "reason", "__type")


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """What an error body holds: a cleaned text, the vendor's codes (most telling first), and a number among them."""

    text: str
    codes: tuple[str, ...] = ()
    status: int | None = None
    per_day: bool = False

    @property
    def code(self) -> str | None:
        """The vendor's own code, a word rather than a number, or None."""
        return next((code for code in self.codes if not code.isdecimal()), self.codes[0] if self.codes else None)


def clean(text: str) -> str:
    """One line without control characters and keys, cut at a length fit for a log."""
    text = _KEY.sub("[key]", text[: MAX_MESSAGE * 8])
    text = _SPACES.sub(" ", _CONTROL.sub(" ", text)).strip()
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"


def read_error(payload: object) -> ErrorBody:
    """Reads decoded JSON of any shape, or plain or HTML text. Never fails."""
    if isinstance(payload, list) and payload and isinstance(payload[0], Mapping):
        payload = payload[0]
    if isinstance(payload, str):
        return ErrorBody(clean(_from_html(payload)))
    if not isinstance(payload, Mapping):
        return ErrorBody(clean(_whole(payload)))
    inner = payload.get("error")
    holders: list[Mapping[str, Any]] = [inner, payload] if isinstance(inner, Mapping) else [payload]
    found = list(_codes(holders))
    return ErrorBody(
        clean(_message(holders) or _whole(payload)),
        tuple(code for code in found if code not in ("error", "None")),
        next((int(code) for code in found if code.isdecimal() and len(code) == 3 and code > "399"), None),
        _per_day(holders[0]),
    )


def details(error: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Google's `details`, those that are objects."""
    found = error.get("details")
    if isinstance(found, list):
        yield from (detail for detail in found if isinstance(detail, Mapping))


def _whole(payload: object) -> str:
    """The body itself, where it has no words; nothing where it is no JSON either (NaN, endless nesting)."""
    try:
        return dump_text(payload)
    except (ValueError, RecursionError):
        return ""


def _message(holders: list[Mapping[str, Any]]) -> str:
    for holder in holders:
        for key in _TEXT_KEYS:
            text = _text(holder.get(key))
            if text:
                return text + _upstream(holder)
    return ""


def _text(value: object, depth: int = 0) -> str:
    """Text of a value that may be a string, an object with a message, or a list of either."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Mapping) and depth < 4:
        text = next((text for key in _TEXT_KEYS if (text := _text(value.get(key), depth + 1))), "")
        where = value.get("loc")
        return f"{'.'.join(map(str, where))}: {text}" if isinstance(where, list) and text else text
    if isinstance(value, list) and depth < 4:
        return "; ".join(text for item in value[:5] if (text := _text(item, depth + 1)))
    return ""


def _upstream(error: Mapping[str, Any]) -> str:
    """What the vendor behind a gateway said: the gateway's own message is often empty of content."""
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    return f": {raw}" if isinstance(raw, str) and raw else ""


def _codes(holders: list[Mapping[str, Any]]) -> Iterator[str]:
    for holder in holders:
        for key in ("status_code", "raw_status_code", *_CODE_KEYS):
            value = holder.get(key)
            # Azure repeats an HTTP status under `status`; the numbers that count stand under the other keys.
            if isinstance(value, str) and value:
                yield value.rpartition("#")[2]
            elif isinstance(value, int) and not isinstance(value, bool) and key != "status":
                yield str(value)
        inner = holder.get("innererror")
        if isinstance(inner, Mapping) and isinstance(inner.get("code"), str):
            yield inner["code"]
        for detail in details(holder):
            if isinstance(detail.get("reason"), str):
                yield detail["reason"]


def _per_day(error: Mapping[str, Any]) -> bool:
    """Whether Google says that a daily quota is used up."""
    for detail in details(error):
        violations = detail.get("violations")
        for violation in violations if isinstance(violations, list) else ():
            if isinstance(violation, Mapping) and "PerDay" in str(violation.get("quotaId", "")):
                return True
    return False


def _from_html(text: str) -> str:
    if "<" not in text[:200]:
        return text
    title = _TITLE.search(text[:20_000])
    return title.group(1) if title and title.group(1).strip() else _TAG.sub(" ", _HIDDEN.sub(" ", text[:20_000]))
