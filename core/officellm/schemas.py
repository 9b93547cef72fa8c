"""Checks values against JSON Schemas that come from outside: catalog tools, inline parameters, outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from officellm.errors import ConfigError
from officellm.signatures import ArgumentsError


def checker(schema: Mapping[str, Any]) -> Callable[[Any], Any]:
    """A function that returns the value with top-level defaults applied, or raises `ArgumentsError`.

    Raises `ConfigError` for a schema that is itself wrong.
    """
    # Imported where a schema comes from outside only; tools made of functions never need it.
    import jsonschema

    kind = jsonschema.validators.validator_for(dict(schema), default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(dict(schema))
    except jsonschema.SchemaError as error:
        raise ConfigError(f"not a valid JSON Schema: {error.message}") from None
    validator = kind(dict(schema))
    defaults = {
        name: part["default"]
        for name, part in (schema.get("properties") or {}).items()
        if isinstance(part, Mapping) and "default" in part
    }

    def check(value: Any) -> Any:
        if isinstance(value, Mapping):
            value = {**deepcopy({key: item for key, item in defaults.items() if key not in value}), **value}
        problems = sorted(validator.iter_errors(value), key=lambda error: list(map(str, error.absolute_path)))
        if problems:
            raise ArgumentsError("; ".join(_describe(problem) for problem in problems[:5]))
        return value

    return check


def _describe(problem: Any) -> str:
    where = ".".join(str(part) for part in problem.absolute_path)
    return f"{where}: {problem.message}" if where else str(problem.message)
