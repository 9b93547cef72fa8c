"""Reads the server's JSON without trusting its shape, and lays the user's own fields over ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from officellm import loads, malformed


def decoded(text: bytes | str) -> Mapping[str, Any]:
    """A JSON object that the server sent. Raises `FaultError` for anything else."""
    try:
        value = loads(text)
    except (ValueError, RecursionError) as error:
        raise malformed(f"the reply is not JSON ({error})") from None
    if not isinstance(value, dict):
        raise malformed("the reply is not a JSON object")
    return value


def mapping(value: object) -> Mapping[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> Sequence[Any]:
    """The value where it is an array, else an empty one."""
    return value if isinstance(value, list) else ()


def string(value: object) -> str:
    """The value where it is text, else nothing."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int | None:
    """A counter; None where there is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return max(0, int(value))
    except (ValueError, OverflowError):
        return None


def merged(base: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `extra` laid over it; mappings in both are merged in turn."""
    out = dict(base)
    for name, value in extra.items():
        below = out.get(name)
        out[name] = merged(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return out
