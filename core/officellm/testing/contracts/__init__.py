"""One suite a kind of driver, for whoever writes one: subclass it in a test file, name the driver, get every test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from officellm.lazynames import lazy_names

if TYPE_CHECKING:
    from officellm.testing.contracts.base import Contract as Contract, Suite as Suite
    from officellm.testing.contracts.catalog import CatalogContract as CatalogContract, ToolUse as ToolUse
    from officellm.testing.contracts.clock import FakeClock as FakeClock
    from officellm.testing.contracts.limit import Bound as Bound, LimitPolicyContract as LimitPolicyContract
    from officellm.testing.contracts.orchestrator import OrchestratorContract as OrchestratorContract
    from officellm.testing.contracts.playback import Exchange as Exchange
    from officellm.testing.contracts.provider import ProviderContract as ProviderContract
    from officellm.testing.contracts.provider_in_process import InProcessProviderContract as InProcessProviderContract
    from officellm.testing.contracts.provider_office import ProviderOfficeContract as ProviderOfficeContract
    from officellm.testing.contracts.recordings import RecordingsContract as RecordingsContract
    from officellm.testing.contracts.router import RouterContract as RouterContract
    from officellm.testing.contracts.strategies import histories as histories

# A test holds this table and the imports above to the same names.
_HOME = {
    "base": "Contract Suite",
    "catalog": "CatalogContract ToolUse",
    "clock": "FakeClock",
    "limit": "Bound LimitPolicyContract",
    "orchestrator": "OrchestratorContract",
    "playback": "Exchange",
    "provider": "ProviderContract",
    "provider_in_process": "InProcessProviderContract",
    "provider_office": "ProviderOfficeContract",
    "recordings": "RecordingsContract",
    "router": "RouterContract",
    "strategies": "histories",
}
_WHERE, __getattr__, __dir__ = lazy_names(globals(), _HOME)

__all__ = sorted(_WHERE)  # noqa: PLE0605 - the same table that `__getattr__` reads

# Before any suite is imported, or its failures would print no values.
for _module in (
    *_HOME,
    "exchanges",
    "grammar",
    "office_calls",
    "office_faults",
    "office_noise",
    "office_runs",
    "provider_faults",
):
    pytest.register_assert_rewrite(f"{__name__}.{_module}")
