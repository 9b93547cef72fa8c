"""Typed outputs: the schema that a model is asked for, and the check of what it wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from officellm.codec import canonical, dumps, loads
from officellm.errors import ConfigError
from officellm.messages import OutputSchema
from officellm.schemas import checker
from officellm.signatures import ArgumentsError, describe

_FENCE = re.compile(r"^\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*$", re.DOTALL)


class OutputError(Exception):
    """The answer is not what was asked for; the text says why, for the model to read."""


class OutputType:
    """What a run's answer must be: a Python type, or a JSON Schema."""

    __slots__ = ("_check", "_wrapped", "schema")

    def __init__(self, wanted: Any) -> None:
        self._wrapped = False
        self._check: Callable[[Any], Any]
        if isinstance(wanted, Mapping):
            name, schema = "answer", dict(wanted)
            self._check = checker(schema)
        else:
            name, schema = self._from_type(wanted)
        if schema.get("type") != "object" and "$ref" not in schema:
            # Vendors want an object at the root, and no choice between several.
            self._wrapped = True
            definitions = {"$defs": schema.pop("$defs")} if "$defs" in schema else {}
            schema = {
                "type": "object",
                "properties": {"value": schema},
                "required": ["value"],
                "additionalProperties": False,
                **definitions,
            }
        self.schema = OutputSchema(re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "answer", schema)

    def _from_type(self, wanted: Any) -> tuple[str, dict[str, Any]]:
        from pydantic import TypeAdapter, ValidationError
        from pydantic.errors import PydanticUserError

        try:
            adapter: TypeAdapter[Any] = TypeAdapter(wanted)
            schema = adapter.json_schema()
        except (PydanticUserError, NameError) as error:
            reason = str(error).splitlines()[0]
            raise ConfigError(f"output_type {wanted!r} has no JSON Schema: {reason}") from None

        def check(value: Any) -> Any:
            try:
                return adapter.validate_json(dumps(value))  # JSON's rules: a strict model takes a date's text
            except ValidationError as error:
                raise ArgumentsError(describe(error)) from None

        self._check = check
        return getattr(wanted, "__name__", "answer"), schema

    def read(self, text: str) -> Any:
        """The value that the text holds. Raises `OutputError`."""
        fenced = _FENCE.match(text)
        try:
            value = loads(fenced.group(1) if fenced else text)
            canonical(value)  # refuses NaN and infinities, which are no JSON
        except (ValueError, RecursionError) as error:
            raise OutputError(f"the answer is not JSON: {error}") from None
        if self._wrapped:
            if not isinstance(value, dict) or set(value) != {"value"}:
                raise OutputError('the answer must be a JSON object with the one key "value"')
            value = value["value"]
        try:
            return self._check(value)
        except ArgumentsError as error:
            raise OutputError(f"the answer does not fit the schema: {error}") from None
