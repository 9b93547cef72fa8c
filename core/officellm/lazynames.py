"""Public names that are imported on first use, so that importing a package costs nothing."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(
    namespace: dict[str, Any], home: Mapping[str, str]
) -> tuple[dict[str, str], Callable[[str], Any], Callable[[], list[str]]]:
    """Where each name lives, and the `__getattr__` and `__dir__` of the package whose `globals()` these are.

    `home` says for each of the package's modules which names live there.
    """
    package = namespace["__name__"]
    where = {name: module for module, names in home.items() for name in names.split()}

    def get(name: str) -> Any:
        module = where.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = namespace[name] = getattr(importlib.import_module(f"{package}.{module}"), name)
        return value

    def listed() -> list[str]:
        return [*where, *(name for name in namespace if name.startswith("__"))]

    return where, get, listed
