"""The built-in orchestrator `dag` keeps the orchestrator contract, with steps and with a pattern."""

from __future__ import annotations

from typing import Any, ClassVar

from officellm.testing.contracts import OrchestratorContract


class TestDag(OrchestratorContract):
    name = "dag"
    settings: ClassVar[dict[str, Any]] = {
        "steps": [
            {"id": "lead", "agent": "boss"},
            {"id": "read", "agent": "writer"},
            {"id": "write", "agent": "writer", "after": ["lead", "read"]},
        ]
    }


class TestLoop(OrchestratorContract):
    name = "dag"
    settings: ClassVar[dict[str, Any]] = {"pattern": "loop", "agents": ["boss"], "times": 2}
