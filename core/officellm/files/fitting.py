"""Fits a part of a file to a pydantic model and says, at its line, whatever does not fit."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from officellm.files.places import Document, KeyPath, Problem
from officellm.misfits import misfit

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
    return document.problem((*at, *loc), misfit(item, model, loc))


def _at(value: Any, path: KeyPath) -> Any:
    """What stands at a path of a document; None where nothing does."""
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


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
