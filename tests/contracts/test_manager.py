"""The built-in orchestrators `manager` and `none` keep the orchestrator contract."""

from __future__ import annotations

from officellm.testing.contracts import OrchestratorContract


class TestManager(OrchestratorContract):
    name = "manager"


class TestNone(OrchestratorContract):
    name = "none"
