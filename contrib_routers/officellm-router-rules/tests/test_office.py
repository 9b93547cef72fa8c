"""Whole runs: the office finds the router by its name, and the agent that a rule names does the work."""

from __future__ import annotations

import pytest

from officellm import Agent, ConfigError, Office, Task
from officellm.testing import ScriptedModel

ROUTER = {
    "name": "rules",
    "rules": [{"when": 'priority == "high" and title =~ "(?i).*refund.*"', "agent": "support", "reason": "a refund"}],
    "default": "clerk",
}


def office(router: object = ROUTER) -> Office:
    agents = [
        Agent(name, f"The {name}", model=ScriptedModel({"": [f"{name} was here"]})) for name in ("support", "clerk")
    ]
    return Office(agents=agents, router=router)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("task", "agent", "reason"),
    [
        (Task(title="My refund", priority="high"), "support", "a refund"),
        (Task(title="My refund"), "clerk", "no rule matched"),
        ("My refund", "clerk", "no rule matched"),
    ],
    ids=["rule", "default", "plain-words"],
)
def test_the_agent_of_the_rule_does_the_work(task: Task | str, agent: str, reason: str) -> None:
    result = office().run_sync(task)
    assert result.content == f"{agent} was here"
    assert (result.chain[0].agent, result.chain[0].by, result.chain[0].reason) == (agent, "rules", reason)
    assert result.usage.requests == 1


def test_a_broken_rule_ends_the_run_before_anything_is_sent() -> None:
    with pytest.raises(ConfigError, match=r"rule 1 .*unknown field 'titel'"):
        office({"name": "rules", "rules": [{"when": 'titel == "x"', "agent": "clerk"}]}).run_sync("hello")
