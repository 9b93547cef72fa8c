"""What tests of agents and plugins are made of: a scripted model, a fake LLM server, contract suites.

Every name is imported on first use: a test that needs a scripted model does not load an HTTP server.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "contracts": [
        "Bound",
        "CatalogContract",
        "Exchange",
        "FakeClock",
        "LimitPolicyContract",
        "OrchestratorContract",
        "ProviderContract",
        "RouterContract",
        "ToolUse",
    ],
    "faults": ["FAULTS", "NamedFault", "fault_table"],
    "replies": ["ScriptedCall", "ScriptedFault", "ScriptedReply", "call", "calls", "fault", "reply"],
    "record": ["Record"],
    "script": ["Rule", "Script", "ScriptExhausted", "rule"],
    "scripted_model": ["ScriptedModel", "scripted"],
    "scriptfile": ["load_script", "read_script"],
    "server": ["SPEAKERS", "FakeLLM"],
    "speaker": ["Answer", "Heard", "Said", "Speaker", "Trouble"],
}
_WHERE = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_WHERE)  # noqa: PLE0605 - the same table that __getattr__ reads


def __getattr__(name: str) -> Any:
    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module 'officellm.testing' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"officellm.testing.{module}"), name)
    return value


def __dir__() -> list[str]:
    return list(__all__)
