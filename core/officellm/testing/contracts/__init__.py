"""One suite a kind of driver, for whoever writes one: subclass it in a test file, name the driver, get every test."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from officellm.testing.contracts.base import Contract as Contract
    from officellm.testing.contracts.catalog import CatalogContract as CatalogContract, ToolUse as ToolUse
    from officellm.testing.contracts.clock import FakeClock as FakeClock
    from officellm.testing.contracts.limit import Bound as Bound, LimitPolicyContract as LimitPolicyContract
    from officellm.testing.contracts.orchestrator import OrchestratorContract as OrchestratorContract
    from officellm.testing.contracts.playback import Exchange as Exchange
    from officellm.testing.contracts.provider import ProviderContract as ProviderContract
    from officellm.testing.contracts.router import RouterContract as RouterContract

# A test holds this table and the imports above to the same names.
_HOME = {
    "base": "Contract",
    "catalog": "CatalogContract ToolUse",
    "clock": "FakeClock",
    "limit": "Bound LimitPolicyContract",
    "orchestrator": "OrchestratorContract",
    "playback": "Exchange",
    "provider": "ProviderContract",
    "router": "RouterContract",
}
_WHERE = {name: module for module, names in _HOME.items() for name in names.split()}

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
