"""The built-in orchestrator `handoff` keeps the orchestrator contract."""

from __future__ import annotations

from officellm.testing import call
from officellm.testing.contracts import OrchestratorContract


class TestHandoff(OrchestratorContract):
    name = "handoff"


class TestHandoffThatHandsOver(OrchestratorContract):
    """Each agent uses what it has, then hands the conversation over; the second one answers."""

    name = "handoff"

    def answer(self, request):
        said = super().answer(request)
        boss = "You lead." in request.messages[0].text
        if isinstance(said, str) and boss and request.tools:
            return call("transfer_to_agent", agent="writer", reason="it writes better", query="Write it.")
        return said
