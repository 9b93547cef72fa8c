"""Puts a request body together from values and from JSON that is encoded already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from officellm import dumps


def join_body(fields: Mapping[str, Any], encoded: Mapping[str, bytes]) -> bytes:
    """One JSON object of small `fields` and of large `encoded` values; a name in both is taken from `fields`."""
    parts = [dumps({name: value})[1:-1] for name, value in fields.items()]
    parts += [b'"%b":%b' % (name.encode(), value) for name, value in encoded.items() if name not in fields]
    return b"{%b}" % b",".join(parts)


def merged(base: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `extra` laid over it; mappings in both are merged in turn."""
    out = dict(base)
    for name, value in extra.items():
        below = out.get(name)
        out[name] = merged(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return out


def taken_out(extra: object, *names: str) -> tuple[dict[str, Any], list[Sequence[Any]]]:
    """The user's `extra` mapping without the lists of these names, and those lists: what is added to ones of ours."""
    rest = dict(extra) if isinstance(extra, Mapping) else {}
    lists: list[Sequence[Any]] = []
    for name in names:
        found = rest.get(name)
        is_list = isinstance(found, (list, tuple))
        lists.append(rest.pop(name) if is_list else ())
    return rest, lists
