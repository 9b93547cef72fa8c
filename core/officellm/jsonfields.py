"""Reads the fields of a JSON object, checked: what does not fit is a `ConfigError` that says where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from officellm.errors import ConfigError, nearest

T = TypeVar("T")

_NAMES = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}


class Fields:
    """One JSON object at `place`, such as `messages[2]`. Only the keys in `known` may stand in it."""

    def __init__(self, value: object, place: str, known: Sequence[str]) -> None:
        self.place = place
        if not isinstance(value, Mapping):
            raise ConfigError(f"must be an object, not {shown(value)}", place=place)
        self._value = value
        for key in value:
            if key not in known:
                raise ConfigError(f"unknown key {key!r}.{nearest(str(key), known)}", place=place)

    def raw(self, key: str) -> Any:
        """The value as it is; None where there is none."""
        return self._value.get(key)

    def need(self, key: str, kind: type[T]) -> T:
        """A value that must be there. Raises `ConfigError`."""
        if self._value.get(key) is None:
            raise ConfigError("required and missing", place=f"{self.place}.{key}")
        return self._checked(key, kind)

    def get(self, key: str, kind: type[T], default: T) -> T:
        """A value that may be missing or null. Raises `ConfigError`."""
        return default if self._value.get(key) is None else self._checked(key, kind)

    def maybe(self, key: str, kind: type[T]) -> T | None:
        """Like `get`, None without a value."""
        return None if self._value.get(key) is None else self._checked(key, kind)

    def mapping(self, key: str) -> Mapping[str, Any]:
        """An object, empty where there is none. Raises `ConfigError`."""
        value = self._value.get(key)
        if value is not None and not isinstance(value, Mapping):
            raise ConfigError(f"must be an object, not {shown(value)}", place=f"{self.place}.{key}")
        return value or {}

    def items(self, key: str) -> list[tuple[Any, str]]:
        """The items of a list with their places; none where there is no list. Raises `ConfigError`."""
        value = self._value.get(key)
        if value is not None and not isinstance(value, list):
            raise ConfigError(f"must be a list, not {shown(value)}", place=f"{self.place}.{key}")
        return [(item, f"{self.place}.{key}[{number}]") for number, item in enumerate(value or ())]

    def _checked(self, key: str, kind: type[T]) -> T:
        value = self._value[key]
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise ConfigError(f"must be {_NAMES[kind]}, not {shown(value)}", place=f"{self.place}.{key}")
        return value


def shown(value: object) -> str:
    """The value for an error message, short."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
