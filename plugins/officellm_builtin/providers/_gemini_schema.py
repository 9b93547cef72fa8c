"""Reduces JSON Schema to the subset that Gemini accepts. A user's property is never dropped: what the subset cannot
say goes into the description, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from officellm import dump_text
from officellm_builtin.providers._gemini_unions import all_of, object_root, pointed_at, split_union

#: Keywords that mean the same on both sides, by type.
_KEPT = {
    "object": ("title", "minProperties", "maxProperties"),
    "array": ("title", "minItems", "maxItems"),
    "string": ("title", "minLength", "maxLength", "pattern"),
    "integer": ("title", "minimum", "maximum"),
    "number": ("title", "minimum", "maximum"),
    "boolean": ("title",),
}
_FORMATS = {
    "string": ("date-time", "enum"),
    "integer": ("int32", "int64"),
    "number": ("float", "double"),
}
#: Keywords with no counterpart, and the words that stand for them.
_IN_WORDS = {
    "default": "Default",
    "examples": "Examples",
    "example": "Example",
    "multipleOf": "Multiple of",
    "not": "Must not match",
    "if": "If it matches",
    "then": "then it matches",
    "else": "else it matches",
    "contains": "Contains an item like",
    "patternProperties": "Keys by pattern",
    "propertyNames": "Keys must match",
    "dependentRequired": "Keys that need others",
    "dependentSchemas": "Keys that need",
    "contentEncoding": "Encoding",
    "contentMediaType": "Media type",
}
#: Expansions of one definition inside itself, levels, and nodes of one schema: a recursive one must end somewhere.
_MAX_NESTED = 2
_MAX_DEPTH = 24
_MAX_NODES = 3000
_MAX_WORDS = 300


def reduced(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema for `parameters`, an object; None where it has no properties, which older models refuse to read."""
    node = object_root(_Reducer(schema).node(schema, ()))
    return node if node.get("properties") else None


def reduced_output(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema for `responseSchema`, of any type."""
    return _Reducer(schema).node(schema, ())


class _Reducer:
    """One walk over one schema. `path` holds the references that led to a node."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._nodes = 0

    def node(self, schema: Any, path: tuple[str, ...], depth: int = 0) -> dict[str, Any]:
        """The reduced form of whatever stands at a schema's position."""
        self._nodes += 1
        if not isinstance(schema, Mapping):
            return _anything("" if schema is not False else "Leave this out.")
        if depth > _MAX_DEPTH or self._nodes > _MAX_NODES:
            return _cut(schema)
        if "$ref" in schema:
            return self._referred(schema, path, depth)
        if isinstance(schema.get("allOf"), (list, tuple)):
            return self._intersection(schema, path, depth)
        split = split_union(schema)
        return self._plain(schema, path, depth) if split is None else self._union(schema, *split, path, depth)

    def _referred(self, schema: Mapping[str, Any], path: tuple[str, ...], depth: int) -> dict[str, Any]:
        target = str(schema["$ref"])
        siblings = {key: value for key, value in schema.items() if key != "$ref"}
        found = pointed_at(self._root, target)
        if found is None:
            return _anything(_description(siblings, [f"Of the kind {target}."]))
        if path.count(target) >= _MAX_NESTED:
            return _cut(all_of(found, [siblings]))
        return self.node(all_of(found, [siblings]), (*path, target), depth + 1)

    def _intersection(self, schema: Mapping[str, Any], path: tuple[str, ...], depth: int) -> dict[str, Any]:
        parts: list[Any] = []
        for part in schema["allOf"]:
            while isinstance(part, Mapping) and "$ref" in part:
                target = str(part["$ref"])
                found = pointed_at(self._root, target)
                if found is None or path.count(target) >= _MAX_NESTED:
                    part = _cut(found) if found is not None else {"description": f"Of the kind {target}."}
                    break
                path = (*path, target)
                part = all_of(found, [{key: value for key, value in part.items() if key != "$ref"}])
            parts.append(part)
        own = {key: value for key, value in schema.items() if key != "allOf"}
        return self.node(all_of(own, parts), path, depth + 1)

    def _union(
        self, schema: Mapping[str, Any], variants: Sequence[Any], nullable: bool, path: tuple[str, ...], depth: int
    ) -> dict[str, Any]:
        """Several shapes in one place. `anyOf` must stand alone, so what stood beside it goes into each shape."""
        nodes: list[dict[str, Any]] = []
        for variant in variants:
            node = self.node(variant, path, depth + 1)
            for flat in node.get("anyOf", [node]):
                if nullable:
                    flat = {**flat, "nullable": True}
                if flat not in nodes:
                    nodes.append(flat)
        if not nodes:
            return {"type": "string", "nullable": True, "description": _description(schema, ["Always null."])}
        return nodes[0] if len(nodes) == 1 else {"anyOf": nodes}

    def _plain(self, schema: Mapping[str, Any], path: tuple[str, ...], depth: int) -> dict[str, Any]:
        kind = _type(schema)
        if kind is None:
            return _anything(_description(schema, list(_lost(schema, ""))))
        out: dict[str, Any] = {"type": kind}
        words = list(_lost(schema, kind))
        out.update({key: schema[key] for key in _KEPT[kind] if _fits(key, schema.get(key))})
        if schema.get("format") in _FORMATS.get(kind, ()):
            out["format"] = schema["format"]
        if schema.get("nullable") is True or None in _values(schema):
            out["nullable"] = True
        _narrow(schema, kind, out)
        if (choices := _choices(schema)) is not None and kind == "string":
            out |= {"enum": choices}
        if kind == "object":
            self._properties(schema, out, words, path, depth)
        elif kind == "array":
            out["items"] = self._items(schema, path, depth)
        if description := _description(schema, words):
            out["description"] = description
        return out

    def _properties(
        self, schema: Mapping[str, Any], out: dict[str, Any], words: list[str], path: tuple[str, ...], depth: int
    ) -> None:
        properties = schema.get("properties")
        if isinstance(properties, Mapping) and properties:
            out["properties"] = {name: self.node(value, path, depth + 1) for name, value in properties.items()}
        required = schema.get("required")
        texts = [name for name in required if isinstance(name, str)] if _is_list(required) else []
        if names := [name for name in dict.fromkeys(texts) if name in out.get("properties", {})]:
            out["required"] = names
        free = schema.get("additionalProperties")
        if isinstance(free, Mapping) and free:
            words.append(f"Any further keys; each value is like {_short(self.node(free, path, depth + 1))}.")

    def _items(self, schema: Mapping[str, Any], path: tuple[str, ...], depth: int) -> dict[str, Any]:
        """One shape for all items: Gemini knows no tuples and takes no array without `items`."""
        places = schema.get("prefixItems", schema.get("items"))
        if _is_list(places):
            return self.node({"anyOf": list(places)}, path, depth + 1) if places else {"type": "string"}
        return self.node(schema["items"], path, depth + 1) if "items" in schema else {"type": "string"}


def _type(schema: Mapping[str, Any]) -> str | None:
    """The one type of a schema, said or to be guessed from its keywords; None where anything goes."""
    said = schema.get("type")
    if isinstance(said, str) and said.lower() in _KEPT:
        return said.lower()
    if isinstance(schema.get("properties"), Mapping) or "additionalProperties" in schema:
        return "object"
    if "items" in schema or "prefixItems" in schema:
        return "array"
    values = [value for value in _values(schema) if value is not None]
    kinds = {type(value) for value in values}
    for allowed, name in (({bool}, "boolean"), ({int}, "integer"), ({int, float}, "number")):
        if kinds and kinds <= allowed:
            return name
    if values or any(key in schema for key in ("pattern", "minLength", "maxLength", "format")):
        return "string"
    return "number" if any(key in schema for key in ("minimum", "maximum", "multipleOf")) else None


def _values(schema: Mapping[str, Any]) -> Sequence[Any]:
    if "const" in schema:
        return (schema["const"],)
    values = schema.get("enum")
    return values if _is_list(values) else ()


def _choices(schema: Mapping[str, Any]) -> list[str] | None:
    """The allowed values where they are an enum that Gemini takes: strings, none of them empty."""
    values = [value for value in _values(schema) if value is not None]
    return list(dict.fromkeys(values)) if values and all(isinstance(value, str) and value for value in values) else None


def _lost(schema: Mapping[str, Any], kind: str) -> list[str]:
    """Sentences for what the reduced node does not say."""
    words = [f"{label}: {_short(schema[key])}." for key, label in _IN_WORDS.items() if key in schema]
    if _values(schema) and (kind != "string" or _choices(schema) is None):
        words.append(f"One of: {', '.join(_short(value) for value in _values(schema))}.")
    form = schema.get("format")
    if isinstance(form, str) and form not in _FORMATS.get(kind, ()):
        words.append(f"Format: {form}.")
    for key, label in (("exclusiveMinimum", "Greater than"), ("exclusiveMaximum", "Less than")):
        limit = schema.get(key)
        if limit is True:  # draft 4
            limit = schema.get(key.replace("exclusiveM", "m"))
        if limit is not None and limit is not False and not (kind == "integer" and _is_whole(limit)):
            words.append(f"{label} {_short(limit)}.")
    if schema.get("uniqueItems") is True:
        words.append("No item twice.")
    if _is_list(schema.get("prefixItems")) or _is_list(schema.get("items")):
        words.append(f"Items by position: {_short(schema.get('prefixItems', schema.get('items')))}.")
    return words


def _narrow(schema: Mapping[str, Any], kind: str, out: dict[str, Any]) -> None:
    """Exclusive bounds of integers as inclusive ones; for other numbers the bound itself, and words beside it."""
    for exclusive, inclusive, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
        limit = schema.get(exclusive)
        if kind in ("integer", "number") and isinstance(limit, (int, float)) and not isinstance(limit, bool):
            out.setdefault(inclusive, limit + step if kind == "integer" and _is_whole(limit) else limit)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def _fits(key: str, value: object) -> bool:
    if key in ("title", "pattern"):
        return isinstance(value, str)
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _description(schema: Mapping[str, Any], words: Sequence[str]) -> str:
    own = schema.get("description")
    return " ".join([*([own] if isinstance(own, str) and own else []), *words])


def _anything(description: str) -> dict[str, Any]:
    """Any value. A node needs a type, so the ones that a model can choose from are spelled out."""
    said = {"description": description} if description else {}
    kinds = ("string", "number", "boolean", "object")
    return {"anyOf": [{"type": kind, "nullable": True, **said} for kind in kinds]}


def _cut(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What stands where a recursion ends."""
    kind = _type(schema) or "object"
    node: dict[str, Any] = {"type": kind, "description": _description(schema, ["Same shape as the level above."])}
    return {**node, "items": {"type": "string"}} if kind == "array" else node


def _short(value: object) -> str:
    text = dump_text(value)
    return text if len(text) <= _MAX_WORDS else text[: _MAX_WORDS - 1] + "…"


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, (list, tuple))
