"""`${NAME}` and `${NAME:-default}` in the text values of a team file. Nothing else is expanded, and nothing twice."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from officellm.files.places import Document, KeyPath, Problem

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def expand(document: Document, environ: Mapping[str, str]) -> tuple[Any, list[Problem]]:
    """The document's value with variables filled in, and a problem for each that is not set.

    A default also stands in for a variable that is set and empty, as in a shell. Keys are left alone.
    """
    problems: list[Problem] = []

    def filled(text: str, path: KeyPath) -> str:
        def value(found: re.Match[str]) -> str:
            name, default = found.groups()
            given = environ.get(name)
            if given is None and default is None:
                problems.append(document.problem(path, f"the environment variable {name} is not set"))
                return found.group()
            return given or default or ""

        return _VARIABLE.sub(value, text)

    def walk(value: Any, path: KeyPath) -> Any:
        if isinstance(value, str):
            return filled(value, path) if "${" in value else value
        if isinstance(value, dict):
            return {key: walk(item, (*path, key)) for key, item in value.items()}
        if isinstance(value, list):
            return [walk(item, (*path, index)) for index, item in enumerate(value)]
        return value

    return walk(document.value, ()), problems
