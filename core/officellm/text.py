"""What a tool returned or raised, as the text that a model reads."""

from __future__ import annotations

import base64
import dataclasses
from typing import Any

NO_OUTPUT = "(no output)"


def to_text(value: Any, max_chars: int) -> str:
    """Text as it stands, anything else as JSON, an empty result as `(no output)`; cut with a visible mark.

    Raises `TypeError` for a value that has no JSON form: never a Python repr.
    """
    text = _text(value)
    if len(text) > max_chars:
        return f"{text[:max_chars]}\n[cut: {len(text) - max_chars} of {len(text)} characters left out]"
    return text or NO_OUTPUT


def said_by(error: BaseException) -> str:
    """The text of an exception; empty where it cannot even say that."""
    try:
        return str(error)
    except BaseException:  # noqa: BLE001 - the text of what others raise is their code too
        return ""


def _text(value: Any) -> str:
    if isinstance(value, str):
        return str.__str__(value)  # not str(): the text of an enum's member, not its name
    if value is None:
        return NO_OUTPUT
    if isinstance(value, (bytes, bytearray)):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            return base64.b64encode(bytes(value)).decode()
    from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

    from officellm.codec import dump_text

    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=str)
    try:
        return to_json(value, by_alias=True, inf_nan_mode="strings", bytes_mode="base64").decode()
    except PydanticSerializationError:
        pass
    try:
        # A lone surrogate in a text, which pydantic refuses, must not cost the whole result.
        return dump_text(to_jsonable_python(value, by_alias=True, inf_nan_mode="strings", bytes_mode="base64"))
    except (PydanticSerializationError, UnicodeError) as error:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return _text(dataclasses.asdict(value))
        raise TypeError(f"its result, a {type(value).__name__}, has no JSON form ({error})") from None
