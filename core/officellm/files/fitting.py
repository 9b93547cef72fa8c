"""Fits a part of a file to a pydantic model and says, at its line, whatever does not fit."""

from __future__ import annotations

import copy
import typing
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from officellm.errors import nearest
from officellm.files.places import Document, KeyPath, Problem

M = TypeVar("M", bound=BaseModel)
_ROUNDS = 30


def fit(model: type[M], value: Any, document: Document, at: KeyPath = ()) -> tuple[M | None, list[Problem]]:
    """The model made of `value`, which stands at `at` in the document, and every problem.

    What does not fit is left out, so that the rest can still be looked at; None where nothing is left.
    """
    try:
        return model.model_validate(value), []
    except ValidationError as error:
        failed = error
    problems = [_problem(item, model, document, at) for item in failed.errors(include_url=False)]
    rest = copy.deepcopy(value)
    for _ in range(_ROUNDS):
        for item in failed.errors(include_url=False):
            _leave_out(rest, item["loc"])
        try:
            return model.model_validate(rest), problems
        except ValidationError as error:
            failed = error
    return None, problems


def _problem(item: Any, model: type[BaseModel], document: Document, at: KeyPath) -> Problem:
    loc: KeyPath = tuple(part for part in item["loc"] if part != "[key]")
    written = _at(document.value, (*at, *loc))
    if isinstance(written, str) and "${" in written:
        item = {**item, "input": written}  # what the variable holds may be a secret
    return document.problem((*at, *loc), _words(item, model, loc))


def _at(value: Any, path: KeyPath) -> Any:
    """What stands at a path of a document; None where nothing does."""
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _words(item: Any, model: type[BaseModel], loc: KeyPath) -> str:
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


def _keys(model: type[BaseModel], loc: KeyPath) -> list[str]:
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


def _leave_out(value: Any, loc: KeyPath) -> None:
    """Take away what stands at `loc`. A list keeps its length, so that the indexes of the rest stay true."""
    trail: list[tuple[Any, Any]] = []
    for part in loc:
        inside = isinstance(value, dict) and part in value
        if inside or (isinstance(value, list) and isinstance(part, int) and part < len(value)):
            trail.append((value, part))
            value = value[part]
    while trail:
        holder, part = trail.pop()
        if isinstance(holder, dict):
            del holder[part]
            return
        # A text is tried first, then a mapping; where neither fits, what is around it goes.
        if holder[part] != {}:
            holder[part] = {} if holder[part] == "" else ""
            return
