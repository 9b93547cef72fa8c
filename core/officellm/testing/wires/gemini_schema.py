"""The part of JSON Schema that Gemini's `parameters` and `responseSchema` take, and what it says of the rest. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from officellm.testing.wires.speaker import listed, mapped, words

_KEYS = words(
    "type format title description nullable enum items properties required minItems maxItems minProperties "
    "maxProperties minimum maximum minLength maxLength pattern example anyOf propertyOrdering default any_of min_items "
    "max_items property_ordering min_properties max_properties min_length max_length"
)
_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null", "type_unspecified")


def schema_troubles(schema: Any, place: str) -> Iterator[str]:
    """What Gemini would refuse in this schema, outermost first."""
    if not isinstance(schema, Mapping):
        yield f"Invalid value at '{place}' (type.googleapis.com/google.ai.generativelanguage.v1beta.Schema)"
        return
    for key in schema:
        if key not in _KEYS:
            yield f"Invalid JSON payload received. Unknown name \"{key}\" at '{place}': Cannot find field."
    kind = schema.get("type")
    if isinstance(kind, list):
        start = "Invalid JSON payload received. Unknown name"
        yield f"{start} \"type\" at '{place}': Proto field is not repeating, cannot start list."
    elif kind is not None and (not isinstance(kind, str) or kind.lower() not in _TYPES):
        yield f"Invalid value at '{place}.type' (google.ai.generativelanguage.v1beta.Type), {kind!r}"
    for index, value in enumerate(listed(schema.get("enum"))):
        if not isinstance(value, str):
            yield f"Invalid value at '{place}.enum[{index}]' (TYPE_STRING), {value!r}"
    properties = mapped(schema.get("properties"))
    for index, name in enumerate(listed(schema.get("required"))):
        if not isinstance(name, str) or name not in properties:
            yield f"* GenerateContentRequest.{place}.required[{index}]: property is not defined\n"
    if str(kind).lower() == "array" and "items" not in schema:
        yield f"* GenerateContentRequest.{place}.items: missing field.\n"
    for name, inner in properties.items():
        yield from schema_troubles(inner, f"{place}.properties[{name}]")
    if "items" in schema:
        yield from schema_troubles(schema["items"], f"{place}.items")
    for index, inner in enumerate(listed(schema.get("anyOf", schema.get("any_of")))):
        yield from schema_troubles(inner, f"{place}.any_of[{index}]")
