"""What vendors demand of a JSON Schema that they hold a model to: whether it is one, and the same schema closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs"}
    | {"definitions", "title", "description", "pattern", "format", "minItems", "maxItems", "multipleOf"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
)
_FORMATS = ("date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
#: Where a JSON Schema holds further schemas: under names of the user's, or directly.
_NAMED = ("properties", "$defs", "definitions")
_DIRECT = ("items", "anyOf", "oneOf", "allOf", "prefixItems")


def is_strict(schema: object) -> bool:
    """Whether OpenAI takes this schema with `strict`: an object at the root, all closed, no word that it refuses."""
    return (
        isinstance(schema, Mapping) and schema.get("type") == "object" and "anyOf" not in schema and _is_strict(schema)
    )


def closed_schema(schema: Any) -> Any:
    """The schema with every object closed, as Anthropic demands it."""
    if isinstance(schema, (list, tuple)):
        return [closed_schema(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    out = {key: closed_schema(value) if key in _DIRECT else value for key, value in schema.items()}
    for key in _NAMED:
        if isinstance(out.get(key), Mapping):
            out[key] = {name: closed_schema(value) for name, value in out[key].items()}
    if out.get("type") == "object" or "properties" in out:
        out["additionalProperties"] = False
    return out


def _is_strict(schema: object) -> bool:
    if not isinstance(schema, Mapping) or not _WORDS.issuperset(schema):
        return False
    if "$ref" in schema:
        return len(schema) == 1
    if schema.get("format") not in (None, *_FORMATS):
        return False
    if not ({"type", "enum", "const", "anyOf"} & schema.keys()):
        return False
    kind = schema.get("type")
    kinds = kind if isinstance(kind, (list, tuple)) else [kind]
    if ("object" in kinds or "properties" in schema) and not _is_closed(schema):
        return False
    if "array" in kinds and "items" not in schema:
        return False
    return all(map(_is_strict, _inner(schema)))


def _is_closed(schema: Mapping[str, Any]) -> bool:
    properties, required = schema.get("properties"), schema.get("required")
    return (
        schema.get("additionalProperties") is False
        and isinstance(properties, Mapping)
        and isinstance(required, (list, tuple))
        and sorted(map(str, required)) == sorted(map(str, properties)) != []
    )


def _inner(schema: Mapping[str, Any]) -> list[object]:
    """All schemas directly inside this one."""
    found: list[object] = [schema["items"]] if "items" in schema else []
    if "anyOf" in schema:
        options = schema["anyOf"]
        found += options if isinstance(options, (list, tuple)) else [None]
    for name in _NAMED:
        named = schema.get(name, {})
        found += named.values() if isinstance(named, Mapping) else [None]
    return found
