"""Reads the JSON of a server's reply without trusting its shape. What a user wrote is read strictly: `jsonfields`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from officellm.codec import dump_text, loads
from officellm.faults import malformed
from officellm.wire import FaultError


def decode_json(data: bytes | str) -> Any:
    """JSON that a server sent. Raises `FaultError` (kind `malformed`) for anything else."""
    try:
        return loads(data)
    except (ValueError, RecursionError) as error:
        raise _no_json(error) from None


def decode_object(data: bytes | str) -> Mapping[str, Any]:
    """A JSON object that a server sent. Raises `FaultError` (kind `malformed`) for anything else."""
    try:
        value = loads(data)
    except (ValueError, RecursionError) as error:
        raise _no_json(error) from None
    if not isinstance(value, dict):
        raise malformed("the reply is not a JSON object")
    return value


def _no_json(error: Exception) -> FaultError:
    return malformed(f"the reply is not JSON ({error})")


def as_mapping(value: object) -> Mapping[str, Any]:
    """The decoded value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_sequence(value: object) -> Sequence[Any]:
    """The decoded value where it is an array, else an empty one."""
    return value if isinstance(value, list) else ()


def as_text(value: object) -> str:
    """The decoded value where it is text, else nothing."""
    return value if isinstance(value, str) else ""


def argument_text(value: object) -> str:
    """Arguments of a call as text, whatever a server made of them."""
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return dump_text(value)
    except (ValueError, RecursionError):
        return str(value)
