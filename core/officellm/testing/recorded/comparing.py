"""Compares two JSON values, one recorded and one built, by a table of what means the same to a vendor."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from officellm.codec import dump_text


class _Nothing:
    """Stands for what is not there."""

    def __repr__(self) -> str:
        return "nothing"


NOTHING: Any = _Nothing()


def _always(recorded: Any, built: Any) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Equality:
    """Two ways to say one thing: values of one `form` are equal, wherever the path fits one of `at` and none of `but`.

    Paths look like `body/messages/0/content`; in a pattern `*` stands for one name or place and `**` for any number.
    `form` gets a value, or `NOTHING`; it is asked only where the pair passes `when`.
    """

    reason: str
    at: tuple[str, ...]
    form: Callable[[Any], Any]
    but: tuple[str, ...] = ()
    when: Callable[[Any, Any], bool] = _always

    def formed(self, path: str, recorded: Any, built: Any) -> tuple[Any, Any]:
        """Both values in the form in which they may be equal."""
        if fits(path, self.at) and not fits(path, self.but) and self.when(recorded, built):
            return self.form(recorded), self.form(built)
        return recorded, built


@dataclass(frozen=True, slots=True)
class Known(Equality):
    """What we do not say, or say in another way, with the reason. `form` takes it out, so that all else is compared."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where the two are not the same."""

    path: str
    recorded: Any
    built: Any

    def __str__(self) -> str:
        return f"{self.path}: {_shown(self.recorded)} was sent, {_shown(self.built)} is built"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs and nobody knows why, the reasons of what is known, and those of the equalities that counted."""

    differences: tuple[Difference, ...]
    known: frozenset[str] = frozenset()
    equal_because: frozenset[str] = frozenset()

    @property
    def is_same(self) -> bool:
        """Whether the two mean the same in every respect."""
        return not self.differences and not self.known


def fits(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether the path fits one of the patterns."""
    return _pattern(patterns).fullmatch(path) is not None


@cache
def _pattern(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern that fits nothing where there are none."""
    made = (re.escape(one).replace(r"\*\*", ".*").replace(r"\*", "[^/]*") for one in patterns)
    return re.compile("|".join(made) or "(?!)")


def compare(recorded: Any, built: Any, table: Sequence[Equality]) -> Comparison:
    """Everything in which the two differ. The order of keys means nothing."""
    used: dict[str, Equality] = {}
    found = tuple(_differences("", recorded, built, table, used))
    known = frozenset(reason for reason, one in used.items() if isinstance(one, Known))
    return Comparison(found, known, frozenset(used) - known)


def _differences(
    path: str, recorded: Any, built: Any, table: Sequence[Equality], used: dict[str, Equality]
) -> Iterator[Difference]:
    for one in table:
        if _same(recorded, built):
            return
        left, right = one.formed(path, recorded, built)
        if not (_same(left, recorded) and _same(right, built)):
            recorded, built = left, right
            used[one.reason] = one
    if _same(recorded, built):
        return
    if isinstance(recorded, Mapping) and isinstance(built, Mapping):
        for name in {**recorded, **built}:
            inner = f"{path}/{name}" if path else name
            left, right = recorded.get(name, NOTHING), built.get(name, NOTHING)
            yield from _differences(inner, left, right, table, used)
    elif isinstance(recorded, list) and isinstance(built, list) and len(recorded) == len(built):
        for place, (left, right) in enumerate(zip(recorded, built, strict=True)):
            yield from _differences(f"{path}/{place}", left, right, table, used)
    else:
        yield Difference(path, recorded, built)


def _same(left: Any, right: Any) -> bool:
    """Equal in JSON, where true is not 1 but 1.0 is."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_same(left[name], right[name]) for name in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)


def _shown(value: Any) -> str:
    text = repr(value) if value is NOTHING else dump_text(value)
    return text if len(text) <= 100 else f"{text[:97]}..."
