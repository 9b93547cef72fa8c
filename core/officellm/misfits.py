"""What pydantic says of a value that does not fit, in words for people: what it must be, and the nearest known key."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from officellm.errors import nearest


def misfits(error: ValidationError, model: type[BaseModel]) -> str:
    """Every problem of a value, each with its key."""
    found = []
    for item in error.errors(include_url=False):
        loc = [part for part in item["loc"] if part != "[key]"]
        where = ".".join(str(part) for part in loc)
        words = misfit(item, model, loc)
        found.append(f"{where}: {words}" if where else words)
    return "; ".join(found)


def misfit(item: Any, model: type[BaseModel], loc: Sequence[str | int]) -> str:
    """What one item of `ValidationError.errors()` says, for a person; `loc` is its place in the model's value."""
    kind, got, context = item["type"], item.get("input"), item.get("ctx") or {}
    if kind == "missing":
        return "required and missing"
    if kind == "extra_forbidden":
        return f"unknown key.{nearest(str(loc[-1]), _keys(model, loc[:-1]))}"
    if kind == "string_type" and isinstance(got, (bool, int, float)):
        return f"must be text, not {_shown(got)}: put it in quotes"
    if kind == "literal_error":
        known = [str(part).strip("'") for part in str(context.get("expected", "")).replace(" or ", ", ").split(", ")]
        return f"must be one of {', '.join(known)}, not {_shown(got)}"
    for start, words in _WORDS:
        if kind.startswith(start):
            return f"must be {words}, not {_shown(got)}"
    for bound, words in _BOUNDS:
        if bound in context:
            return f"must be {words} {context[bound]:g}, not {_shown(got)}"
    message = str(item["msg"])
    return message.removeprefix("Value error, ")


_WORDS = (
    ("string", "text"),
    ("int", "a whole number"),
    ("float", "a number"),
    ("finite", "a finite number"),
    ("bool", "true or false"),
    ("list", "a list"),
    ("tuple", "a list"),
    ("sequence", "a list"),
    ("dict", "a mapping"),
    ("mapping", "a mapping"),
    ("model_type", "a mapping"),
    ("model_attributes", "a mapping"),
)
_BOUNDS = (("ge", "at least"), ("gt", "more than"), ("le", "at most"), ("lt", "less than"))


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _keys(model: type[BaseModel], loc: Sequence[str | int]) -> list[str]:
    """The keys that are known where an unknown one stood."""
    inner: type[BaseModel] | None = model
    for part in loc:
        if inner is None or not isinstance(part, str):
            continue
        field = inner.model_fields.get(part)
        extra = None if field is not None else _model_in(typing.get_type_hints(inner).get("__pydantic_extra__"))
        if field is not None or extra is not None:
            inner = extra if field is None else _model_in(field.annotation)
    return list(inner.model_fields) if inner is not None else []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, typing.get_args(annotation))), None)
