"""From a function's signature to a JSON Schema and a validator of arguments. Nothing is run here."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema

from officellm.errors import ToolDefinitionError

_INTEGER = re.compile(r"\s*[+-]?\d+(\.0*)?\s*")


class ArgumentsError(Exception):
    """Arguments that do not fit; the text names each field and its problem, for the model to read."""


class _Schema(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False  # "Query" for a field `query` tells a model nothing and costs tokens


@dataclass(frozen=True, slots=True)
class Signature:
    """What a tool's parameters promise. `context` is the name of the parameter that gets the run's context."""

    schema: Mapping[str, Any]
    description: str
    context: str | None
    _model: type[BaseModel]
    _names: Mapping[str, str]

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Keyword arguments, coerced without loss, defaults applied. Raises `ArgumentsError`."""
        try:
            checked = self._model.model_validate(arguments)
        except ValidationError as error:
            raise ArgumentsError(describe(error)) from None
        values = {name: getattr(checked, attribute) for attribute, name in self._names.items()}
        for name, given in arguments.items():
            _refuse_guesses(name, given, values[name])
        return values


def _refuse_guesses(where: str, given: Any, read: Any) -> None:
    """Pydantic reads "0-5" as -5 and "1_0" as 10; a model that wrote so meant something else."""
    if isinstance(given, str) and isinstance(read, int) and not isinstance(read, (bool, Enum)):
        if not _INTEGER.fullmatch(given):
            raise ArgumentsError(f"{where}: not an integer (got {given!r})")
    elif isinstance(given, Sequence) and isinstance(read, Sequence) and len(given) == len(read):
        if not isinstance(given, str):
            for index, (one, other) in enumerate(zip(given, read, strict=True)):
                _refuse_guesses(f"{where}.{index}", one, other)
    elif isinstance(given, Mapping) and isinstance(read, Mapping):
        for key in given.keys() & read.keys():
            _refuse_guesses(f"{where}.{key}", given[key], read[key])


def describe(error: ValidationError) -> str:
    """A validation error as one line a problem: `field: what is wrong (got ...)`."""
    lines = []
    for item in error.errors(include_url=False, include_context=False):
        where = ".".join(str(part) for part in item["loc"]) or "arguments"
        kind = item["type"]
        if kind == "missing":
            lines.append(f"{where}: required and missing")
        elif kind == "extra_forbidden":
            lines.append(f"{where}: unknown argument")
        else:
            got = repr(item.get("input"))
            lines.append(f"{where}: {item['msg']} (got {got if len(got) <= 80 else got[:77] + '...'})")
    return "; ".join(lines)


def read_signature(function: Callable[..., Any]) -> Signature:
    """Raises `ToolDefinitionError` with the file and line of a function that cannot be a tool."""
    name = getattr(function, "__name__", type(function).__name__)
    hints = _hints(function, name)
    description, documented = read_docstring(inspect.getdoc(function) or "")
    fields: dict[str, Any] = {}
    names: dict[str, str] = {}
    context = None
    for index, parameter in enumerate(inspect.signature(function).parameters.values()):
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise _refused(function, f"tool {name!r}: parameter {parameter} must be a plain named parameter")
        if parameter.name not in hints:
            raise _refused(function, f"tool {name!r}: parameter {parameter.name!r} has no type hint")
        hint = hints[parameter.name]
        if _is_context(hint):
            context = parameter.name
            continue
        # Attribute names of our own: a parameter may be called `schema`, `copy` or `_x`, which a model may not have.
        attribute = f"arg{index}"
        names[attribute] = parameter.name
        fields[attribute] = (hint, _field(parameter, hint, documented.get(parameter.name)))
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False, populate_by_name=False)
    try:
        model = create_model(f"{name}_arguments", __config__=config, **fields)
        schema = model.model_json_schema(by_alias=True, schema_generator=_Schema)
    except (PydanticUserError, TypeError, NameError) as error:
        first = str(error).splitlines()[0]
        raise _refused(function, f"tool {name!r}: its parameters have no JSON Schema: {first}") from None
    schema.pop("title", None)
    schema.setdefault("properties", {})
    return Signature(schema, description or name.replace("_", " "), context, model, names)


def schema_of_model(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a parameter model, without titles."""
    schema = model.model_json_schema(by_alias=True, schema_generator=_Schema)
    schema.pop("title", None)
    schema.setdefault("properties", {})
    return schema


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    target = function if inspect.isroutine(function) or inspect.isclass(function) else type(function).__call__
    try:
        return typing.get_type_hints(target, include_extras=True)
    except (NameError, TypeError) as error:
        raise _refused(function, f"tool {name!r}: its type hints cannot be resolved: {error}") from None


def _is_context(hint: Any) -> bool:
    from officellm.tools import Context

    return hint is Context or Context in typing.get_args(hint)


def _field(parameter: inspect.Parameter, hint: Any, documented: str | None) -> Any:
    description = documented
    if typing.get_origin(hint) is Annotated:
        description = next((extra for extra in hint.__metadata__ if isinstance(extra, str)), documented)
    default = ... if parameter.default is parameter.empty else parameter.default
    return Field(default, alias=parameter.name, description=description)


def _refused(function: Callable[..., Any], message: str) -> ToolDefinitionError:
    code = getattr(inspect.unwrap(function), "__code__", None)
    place = f"{code.co_filename}:{code.co_firstlineno}" if code is not None else None
    return ToolDefinitionError(message, place=place)


_SECTION = re.compile(r"^(Args|Arguments|Parameters|Returns?|Yields?|Raises|Examples?|Notes?):\s*$")
_ARGUMENT = re.compile(r"^(\*{0,2}\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """The description before the first section, and what the `Args:` section says of each parameter."""
    description: list[str] = []
    arguments: dict[str, str] = {}
    section = ""
    current = ""
    for line in text.splitlines():
        found = _SECTION.match(line)
        if found:
            section = found.group(1)
        elif not section:
            description.append(line)
        elif section in ("Args", "Arguments", "Parameters") and line.strip():
            named = _ARGUMENT.match(line.strip())
            if named and len(line) - len(line.lstrip()) <= 4:
                current = named.group(1)
                arguments[current] = named.group(2)
            elif current:
                arguments[current] = f"{arguments[current]} {line.strip()}".strip()
    return "\n".join(description).strip(), arguments
