"""The suite that every router passes, over rules that hold, that do not, and over none but a default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from officellm.testing.contracts import RouterContract


class TestRules(RouterContract):
    name = "rules"
    settings: Mapping[str, Any] = {
        "rules": [
            {"when": 'priority == "high"', "agent": "editor"},
            {"when": 'title =~~ "(?i)tide" and context["length"] == "short"', "agent": "writer", "reason": "a note"},
        ],
        "default": "researcher",
    }


class TestWhereNoRuleHolds(RouterContract):
    name = "rules"
    settings: Mapping[str, Any] = {
        "rules": [{"when": 'context["length"] == "long"', "agent": "writer"}],
        "default": "editor",
    }


class TestDefaultAlone(RouterContract):
    name = "rules"
    settings: Mapping[str, Any] = {"default": "researcher"}
