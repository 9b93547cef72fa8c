"""The built-in orchestrator `plan` keeps the orchestrator contract."""

from __future__ import annotations

import json

from officellm.testing.contracts import OrchestratorContract

PLAN = json.dumps(
    {
        "steps": [
            {"agent_id": "boss", "input": "lead", "description": "", "depends_on": []},
            {"agent_id": "writer", "input": "write", "description": "", "depends_on": ["step_0"]},
        ],
        "final_agent_id": "writer",
    }
)


class TestPlan(OrchestratorContract):
    name = "plan"

    def answer(self, request):
        return PLAN if request.output is not None else super().answer(request)

    def never_done(self, request):
        return PLAN if request.output is not None else super().never_done(request)
