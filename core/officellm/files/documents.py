"""Reads YAML, TOML and JSON files into plain values with places. Whatever is wrong with a file is a `ConfigError`."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from officellm.errors import ConfigError, ConfigErrors
from officellm.files.places import Document, KeyPath, Lines, Problem, json_places, key_text, toml_lines

#: The largest file that a person writes by hand, in bytes.
MAX_BYTES = 1024 * 1024
MAX_DEPTH = 100
SUFFIXES = (".yaml", ".yml", ".toml", ".json")


def read_text(path: Path, *, limit: int = MAX_BYTES) -> str:
    """A file's text. Raises `ConfigError` for one that is missing, a folder, too large or not UTF-8."""
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise ConfigError("no such file", place=str(path)) from None
    except IsADirectoryError:
        raise ConfigError("this is a folder, not a file", place=str(path)) from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot be read: {getattr(error, 'strerror', None) or error}", place=str(path)) from None
    if len(data) > limit:
        raise ConfigError(f"larger than {limit // 1024} KiB", place=str(path))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        wrong = f"not UTF-8 text: byte 0x{data[error.start]:02x}"
        raise ConfigError(wrong, place=f"{path}:{line}") from None


def parse(text: str, *, file: str, suffix: str) -> Document:
    """The document in a text; `suffix` says its language. Raises `ConfigError` with the line."""
    if not text.strip():
        raise ConfigError("the file is empty", place=file)
    language = suffix.lower()
    if language not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise ConfigError(f"the suffix {suffix!r} names no language that is read here: {known}", place=file)
    try:
        if language == ".json":
            return json_document(text, file)
        document = _toml(text, file) if language == ".toml" else _yaml(text, file)
    except RecursionError:
        raise ConfigError(f"nested more than {MAX_DEPTH} deep", place=file) from None
    _refuse_odd_values(document)
    return document


def json_document(text: str, file: str, *, first_line: int = 1) -> Document:
    """The document in a JSON text that begins at `first_line` of its file."""
    twice = False

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal twice
        made = dict(items)
        twice = twice or len(made) < len(items)
        return made

    def find() -> Lines:
        return json_places(text, first_line=first_line).lines

    try:
        value = json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        place = f"{file}:{error.lineno + first_line - 1}:{error.colno}"
        raise ConfigError(f"not valid JSON: {error.msg}", place=place) from None
    except RecursionError:
        raise ConfigError(f"nested more than {MAX_DEPTH} deep", place=file) from None
    except ValueError:
        raise ConfigError("a number with too many digits", place=file) from None
    document = Document(file, value, find)
    _refuse_odd_values(document)
    if twice:
        raise_all(
            [
                Problem(file, line, key_text(path), "this key is given twice")
                for path, line in json_places(text, first_line=first_line).twice
            ]
        )
    return document


def raise_all(problems: list[Problem]) -> None:
    """Raise the problems, in the order of their lines; nothing where there are none."""
    if not problems:
        return
    errors = [problem.error() for problem in sorted(problems, key=lambda problem: problem.line or 0)]
    raise errors[0] if len(errors) == 1 else ConfigErrors(errors)


def _toml(text: str, file: str) -> Document:
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        found = re.search(r" \(at line (\d+), column (\d+)\)$", message)
        place = f"{file}:{found.group(1)}:{found.group(2)}" if found else f"{file}:{len(text.splitlines())}"
        raise ConfigError(f"not valid TOML: {message[: found.start()] if found else message}", place=place) from None
    except ValueError as error:
        raise ConfigError(f"not valid TOML: {error}", place=file) from None
    return Document(file, _with_dates_as_text(value), lambda: toml_lines(text.replace("\r\n", "\n")))


def _with_dates_as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_dates_as_text(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_dates_as_text(item) for item in value]
    return value.isoformat() if isinstance(value, (date, datetime, time)) else value


def _yaml(text: str, file: str) -> Document:
    # Imported when a YAML file is read only: a TOML or JSON user never loads it.
    from officellm.files.yamlfile import read_yaml

    value, lines = read_yaml(text, file)
    return Document(file, value, lambda: lines)


def _refuse_odd_values(document: Document) -> None:
    """What our files cannot mean: depth without end, numbers without size, text that is no text."""
    pending: list[tuple[KeyPath, Any]] = [((), document.value)]
    while pending:
        path, value = pending.pop()
        wrong = next((text for is_wrong, text in _ODD if is_wrong(value)), None)
        if len(path) > MAX_DEPTH:
            wrong = f"nested more than {MAX_DEPTH} deep"
        if wrong is not None:
            raise Problem(document.file, document.line(path), key_text(path[:8]), wrong).error()
        if isinstance(value, dict):
            if any(_half_character(key) for key in value):
                raise Problem(document.file, document.line(path), "", "a key holds half of a character").error()
            pending.extend(((*path, key), item) for key, item in value.items())
        elif isinstance(value, list):
            pending.extend(((*path, index), item) for index, item in enumerate(value))


def _half_character(value: Any) -> bool:
    return isinstance(value, str) and re.search("[\ud800-\udfff]", value) is not None


_ODD: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (lambda value: isinstance(value, float) and not math.isfinite(value), "not a finite number"),
    (lambda value: isinstance(value, int) and value.bit_length() > 256, "a number with too many digits"),
    (_half_character, "holds half of a character (a lone surrogate)"),
)
