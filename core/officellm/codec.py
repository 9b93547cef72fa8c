"""JSON text in and out, in one place. Everything that reaches a wire, a log or a file is encoded here."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

#: Counters beyond it are no counters; sums of them still fit anything that they are put in.
_MOST = 2**53
TOO_DEEP = "the arguments are nested too deeply"
_MOST_DEEP = 100

# The C encoder is cached by the instance: building one per call costs more than a small message.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_encode_sorted = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=True).encode
_scan: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def dumps(value: object) -> bytes:
    """Compact UTF-8 JSON. A lone surrogate, which no vendor accepts, becomes U+FFFD."""
    text = _encode(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def dump_text(value: object) -> str:
    """Like `dumps`, as text."""
    return dumps(value).decode()


def loads(data: bytes | str) -> Any:
    """Decode JSON; raises `ValueError`."""
    if isinstance(data, str):
        # Looking for blanks around the value takes `json.loads` longer than to read an event of a stream.
        try:
            value, end = _scan(data, 0)
        except StopIteration:
            return json.loads(data)
        if end == len(data):
            return value
    return json.loads(data)


def canonical(value: object) -> str:
    """One text for equal values, whatever the key order: what calls are compared and keyed by."""
    return _encode_sorted(value)


def whole_number(value: object) -> int | None:
    """A counter in a reply, 0 where it is negative; None for what counts nothing: text, NaN, numbers beyond reason."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -_MOST < value < _MOST:
        return None
    return max(0, int(value))


class DuplicateKeyError(ValueError):
    """An object that names one key twice with different values."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in pairs:
        if key in out and out[key] != value:
            raise DuplicateKeyError(f"the key {key!r} appears twice with different values")
        out[key] = value
    return out


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text} is too large")
    return value


_strict = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)


def parse_arguments(raw: str | None) -> tuple[Mapping[str, Any] | None, str | None]:
    """Arguments of a call from a model's text: `(mapping, None)`, or `(None, why not)`.

    Empty, blank and null text is an empty mapping. A fragment, glued objects, contradictory keys and anything that is
    not an object are problems, never a guess.
    """
    text = (raw or "").strip()
    if not text or text == "null":
        return {}, None
    try:
        value, end = _strict.raw_decode(text)
    except DuplicateKeyError as error:
        return None, f"the arguments are ambiguous: {error}"
    except RecursionError:
        return None, TOO_DEEP
    except ValueError as error:
        return None, f"the arguments are not valid JSON ({error})"
    if end != len(text):
        return None, f"the arguments hold more than one JSON value (text after position {end})"
    if not isinstance(value, dict):
        return None, f"the arguments must be a JSON object, not {_json_type(value)}"
    return (None, TOO_DEEP) if is_too_deep(value, text) else (value, None)


def is_too_deep(value: object, text: str) -> bool:
    """Whether a value, whose JSON is `text`, is nested so deeply that not everything that handles it can be sure to."""
    if text.count("{") + text.count("[") < _MOST_DEEP:
        return False
    level = [value]
    for _ in range(_MOST_DEEP):
        level = [part for one in level if isinstance(one, (dict, list)) for part in _parts(one)]
        if not level:
            return False
    return True


def _parts(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _json_type(value: object) -> str:
    names = {list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null")
