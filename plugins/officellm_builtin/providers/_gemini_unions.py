"""Takes JSON Schema's unions, intersections and references apart, before the pieces are reduced for Gemini."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_UNIONS = ("anyOf", "oneOf")
#: Keywords that belong to one place of a schema, not to each shape that may stand there.
_NOT_INHERITED = (*_UNIONS, "type", "$defs", "definitions", "discriminator", "nullable")


def pointed_at(root: Mapping[str, Any], target: object) -> Mapping[str, Any] | None:
    """The schema that a local reference names; None for any other."""
    if not isinstance(target, str) or not target.startswith("#"):
        return None
    node: Any = root
    for step in target[1:].split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, (list, tuple)) and step.isdecimal() and int(step) < len(node):
            node = node[int(step)]
        elif isinstance(node, Mapping) and step in node:
            node = node[step]
        else:
            return None
    return node if isinstance(node, Mapping) else None


def all_of(base: Mapping[str, Any], parts: Iterable[Any]) -> dict[str, Any]:
    """One schema that demands what `base` and all `parts` demand, a later part winning where only one can be said."""
    out = dict(base)
    for part in parts:
        for key, value in part.items() if isinstance(part, Mapping) else ():
            out[key] = _both(key, out[key], value) if key in out else value
    return out


def split_union(schema: Mapping[str, Any]) -> tuple[list[Any], bool] | None:
    """The shapes that may stand here, each complete, and whether null may; None where there is only one shape."""
    kinds = schema.get("type")
    listed = kinds if isinstance(kinds, (list, tuple)) else None
    found = next((list(schema[key]) for key in _UNIONS if isinstance(schema.get(key), (list, tuple))), None)
    only_null = found is None and _is_null(schema)
    if found is None and listed is None and not only_null:
        return None
    nullable = schema.get("nullable") is True or only_null or (listed is not None and "null" in listed)
    base = {key: value for key, value in schema.items() if key not in _NOT_INHERITED}
    if found is None:
        return [{**base, "type": kind} for kind in listed or () if kind != "null"], nullable
    if isinstance(kinds, str):
        base["type"] = kinds
    shapes = [shape for shape in found if not _is_null(shape)]
    complete = [all_of(base, [shape]) if isinstance(shape, Mapping) else shape for shape in shapes]
    return complete, nullable or len(shapes) < len(found)


def object_root(node: Mapping[str, Any]) -> dict[str, Any]:
    """A reduced node as one object: where several may stand, one with the properties of all."""
    shapes = [shape for shape in node.get("anyOf", [node]) if shape.get("type") == "object"]
    if len(shapes) == 1:
        return {key: value for key, value in shapes[0].items() if key != "nullable"}
    properties: dict[str, Any] = {}
    for shape in shapes:
        for name, value in shape.get("properties", {}).items():
            properties[name] = _either(properties[name], value) if name in properties else value
    required = [name for name in properties if all(name in shape.get("required", ()) for shape in shapes)]
    said = list(dict.fromkeys(shape["description"] for shape in shapes if shape.get("description")))
    out: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        out["required"] = required
    return {**out, "description": " Or: ".join(said)} if said else out


def _both(key: str, first: Any, second: Any) -> Any:
    """The value of a keyword that two schemas say, where both must hold."""
    if key == "properties" and isinstance(first, Mapping) and isinstance(second, Mapping):
        shared = {name: {"allOf": [first[name], second[name]]} for name in first if name in second}
        return {**first, **second, **{name: value for name, value in shared.items() if first[name] != second[name]}}
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        if key in ("required", "allOf"):
            return [*first, *second]
        if key == "enum":
            return [value for value in first if value in second]
    if key == "description" and isinstance(first, str) and isinstance(second, str) and first != second:
        return " ".join(text for text in (first, second) if text)
    return second


def _either(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """A reduced property that may look as in either of two shapes."""
    if first == second:
        return dict(first)
    if "enum" in first and "enum" in second:
        return {**first, "enum": list(dict.fromkeys([*first["enum"], *second["enum"]]))}
    nodes = [*first.get("anyOf", [first]), *second.get("anyOf", [second])]
    return {"anyOf": [node for place, node in enumerate(nodes) if node not in nodes[:place]]}


def _is_null(schema: object) -> bool:
    if not isinstance(schema, Mapping):
        return False
    return schema.get("type") == "null" or ("type" not in schema and schema.get("const", 0) is None)
