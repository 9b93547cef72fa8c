"""Puts a request body together from values and from JSON that is encoded already. No vendor here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from officellm.codec import dumps


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


def taken_out(extra: object, name: str) -> tuple[dict[str, Any], Sequence[Any]]:
    """The user's `extra` mapping without the list `name` in it, and that list: what is added to one of ours."""
    rest = dict(extra) if isinstance(extra, Mapping) else {}
    found = rest.get(name)
    if not isinstance(found, (list, tuple)):
        return rest, ()
    del rest[name]
    return rest, found
