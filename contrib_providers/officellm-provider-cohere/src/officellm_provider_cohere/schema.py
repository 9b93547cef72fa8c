"""Rewrites what Cohere refuses in a JSON Schema, which is a list of types. A user's property is never dropped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Where a JSON Schema holds further schemas: under names of the user's, in a list, or directly.
_NAMED = frozenset({"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"})
_LISTED = frozenset({"anyOf", "oneOf", "allOf", "prefixItems", "items"})
_DIRECT = frozenset({"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"})
_NULL_TOO = "May be null."


def reduced(schema: Any) -> Any:
    """The schema with one type in each place: null is said in words, other types become `anyOf`."""
    if not isinstance(schema, Mapping):
        return schema
    out = {key: _value(key, value) for key, value in schema.items()}
    types = out.get("type")
    if not isinstance(types, (list, tuple)):
        return out
    kinds = [kind for kind in types if kind != "null"]
    if len(kinds) == 1 or not kinds:
        out["type"] = kinds[0] if kinds else "null"
    else:
        del out["type"]
        out.setdefault("anyOf", [{"type": kind} for kind in kinds])
    if kinds and len(kinds) < len(types):
        said = out.get("description")
        out["description"] = f"{said} {_NULL_TOO}" if isinstance(said, str) and said else _NULL_TOO
    return out


def _value(key: str, value: Any) -> Any:
    if key in _NAMED and isinstance(value, Mapping):
        return {name: reduced(inner) for name, inner in value.items()}
    if key in _LISTED and isinstance(value, (list, tuple)):
        return [reduced(inner) for inner in value]
    return reduced(value) if key in _DIRECT else value
