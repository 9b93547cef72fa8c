"""One suite a kind of driver, for whoever writes one: subclass it in a test file, name the driver, get every test."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

_HOME = {
    "base": ["Contract"],
    "clock": ["FakeClock"],
    "catalog": ["CatalogContract", "ToolUse"],
    "limit": ["Bound", "LimitPolicyContract"],
    "orchestrator": ["OrchestratorContract"],
    "playback": ["Exchange"],
    "provider": ["ProviderContract"],
    "router": ["RouterContract"],
}
_WHERE = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_WHERE)  # noqa: PLE0605 - the same table that __getattr__ reads

# Before any suite is imported, or its failures would print no values.
for _module in (*_HOME, "exchanges", "grammar", "provider_faults"):
    pytest.register_assert_rewrite(f"{__name__}.{_module}")


def __getattr__(name: str) -> Any:
    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    return value


def __dir__() -> list[str]:
    return list(__all__)
