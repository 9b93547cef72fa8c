"""How rules choose: order, default, reasons, and what is wrong with a team file."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from officellm import Candidate, Choice, ConfigError, Host, Kind, NoRouteError, Task, UnknownAgentError

AGENTS = (Candidate("support", "Helps customers"), Candidate("clerk", "Does the rest"))
REFUND = {"when": 'title =~~ "(?i)refund"', "agent": "support"}
URGENT = {"when": 'priority == "high"', "agent": "clerk", "reason": "it is urgent"}


async def _never(request: object) -> Any:
    raise AssertionError("a rule asks no model")


def route(task: Task, rules: Sequence[Mapping[str, Any]], default: str | None = None) -> Choice:
    host = Host(discover=False)
    settings = host.settings(Kind.ROUTER, "rules", {"rules": rules, "default": default})
    return asyncio.run(host.router("rules", settings, _never).route(task, AGENTS))


@pytest.mark.parametrize(
    ("rules", "agent"),
    [([REFUND, URGENT], "support"), ([URGENT, REFUND], "clerk")],
    ids=["refund-first", "urgent-first"],
)
def test_the_first_rule_that_holds_wins(rules: list[Mapping[str, Any]], agent: str) -> None:
    assert route(Task(title="A refund", priority="high"), rules).agent == agent


def test_the_reason_is_the_rules_own_or_names_it() -> None:
    assert route(Task(title="x", priority="high"), [REFUND, URGENT]) == Choice("clerk", "it is urgent", 1.0)
    assert route(Task(title="refund"), [REFUND]) == Choice("support", 'rule 1 (title =~~ "(?i)refund")', 1.0)


def test_the_default_starts_where_no_rule_holds() -> None:
    assert route(Task(title="hello"), [REFUND], default="clerk") == Choice("clerk", "no rule matched")


def test_no_rule_and_no_default_is_an_error_that_lists_the_rules() -> None:
    with pytest.raises(NoRouteError, match=r"'hello'.*refund"):
        route(Task(title="hello"), [REFUND])


def test_plain_words_are_a_task_too() -> None:
    assert (
        route(Task.of("Hello,\nI want a refund."), [{"when": 'query =~~ "refund"', "agent": "support"}]).agent
        == "support"
    )


@pytest.mark.parametrize(
    ("rules", "default", "says"),
    [
        ([REFUND, {**URGENT, "agent": "clark"}], None, r"rule 2 \(.*unknown agent 'clark'. Did you mean 'clerk'"),
        ([REFUND], "suport", "default: unknown agent 'suport'. Did you mean 'support'"),
    ],
    ids=["of-a-rule", "default"],
)
def test_an_unknown_agent_is_an_error_even_where_another_rule_holds(rules: Any, default: str | None, says: str) -> None:
    with pytest.raises(UnknownAgentError, match=says):
        route(Task(title="refund"), rules, default)


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        ([REFUND, {"when": 'titel == "x"', "agent": "clerk"}], "rule 2 .*'titel'. Did you mean 'title'"),
        ([], "no rules and no default"),
        ([{"when": "true"}], "agent: required"),
        ([{"when": True, "agent": "clerk"}], "rules.0.when"),
        ([{**REFUND, "then": "x"}], "rules.0.then: unknown"),
    ],
    ids=["expression", "nothing", "no-agent", "no-text", "unknown-key"],
)
def test_settings_that_cannot_work_are_refused(rules: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        route(Task(title="refund"), rules)


def test_naming_the_driver_does_not_import_the_expression_library() -> None:
    code = "import sys, officellm_router_rules; sys.exit('rule_engine' in sys.modules or 'regex' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0
