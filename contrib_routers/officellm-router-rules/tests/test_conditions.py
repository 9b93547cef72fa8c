"""What expressions say of a task, which are refused, and what bounds them."""

from __future__ import annotations

import re
import time

import pytest
from officellm_router_rules.expressions import SECONDS_A_MATCH, Condition

from officellm import ConfigError, Task

TASK = Task(
    title="Re: Refund for order 7",
    description="I want my money back.",
    priority="high",
    context={"amount": 1200.5, "customer": {"tier": "gold"}, "tags": ["vip", "eu"], "paid": True, "note": None},
    metadata={"source": "mail"},
)

HOLDS = {
    "equal": 'priority == "high"',
    "both": 'priority == "high" and title =~ "Re:"',
    "pattern-anywhere": 'title =~~ r"(?i)\\brefund\\b"',
    "pattern-not": 'title !~~ "invoice"',
    "query": 'query =~~ "Refund" and query =~~ "money"',
    "description": 'description.as_lower.starts_with("i want")',
    "metadata": 'metadata["source"] == "mail"',
    "number": 'context["amount"] > 1000',
    "nested": 'context["customer"]["tier"] == "gold"',
    "in-list": '"vip" in context["tags"]',
    "has-key": '"amount" in context',
    "any": '$any([tag =~ "v.p" for tag in context["tags"]])',
    "boolean-value": 'context["paid"]',
    "missing-is-null": 'context["colour"] == null',
    "missing-or-else": '(context["colour"] ?? "red") == "red"',
    "missing-and-or": 'context["colour"] == "red" or priority == "high"',
    "missing-negated": 'not context["colour"]',
    "constant": "true",
}

FAILS = {
    "equal": 'priority == "low"',
    "pattern-starts": 'title =~ "Refund"',
    "pattern-case": 'title =~~ "refund"',
    "missing-equal": 'context["colour"] == "red"',
    "missing-ordered": 'context["colour"] > 1',
    "missing-pattern": 'context["colour"] =~ ".*"',
    "missing-container": '"red" in context["colours"]',
    "missing-nested": 'context["a"]["b"]["c"] == 1',
    "missing-attribute": 'context["colour"].length > 1',
    "null-ordered": 'context["note"] > 1',
    "other-type": 'context["amount"] == "1200.5"',
    "other-case": 'title == "re: refund for order 7"',
}

REFUSED = {
    "field": ('titel == "x"', "unknown field 'titel'. Did you mean 'title'?"),
    "other-field": ("colour", "Available: $abs"),
    "syntax": ("title ==", "syntax error at: EOF"),
    "empty": ("", "syntax error"),
    "character": ("@title", "illegal character '@'"),
    "types": ("title > 1", "data type mismatch"),
    "attribute": ('title.lower == "x"', "unknown attribute 'lower'. Did you mean 'as_lower'?"),
    "dotted-key": ('context.tier == "x"', "use mapping['tier'] instead"),
    "pattern": ('title =~ "("', "the pattern '(' is not valid"),
    "pattern-of-the-task": ('title =~ context["pattern"]', "a pattern must be written out in the rule"),
    "no-truth": ("title", "must be true or false, this is a string"),
    "null": ("null", "must be true or false, this is a null"),
    "clock": ('$now > d"2026-01-01"', "unknown field '$now'"),
    "chance": ("$random() > 1", "unknown field '$random'"),
    "endless-list": ("$range(1000000000000).length > 1", "unknown field '$range'"),
    "python": ("title.__class__ == 1", "unknown attribute '__class__'"),
    "import": ('__import__("os")', "unknown field '__import__'"),
    "huge-number": ("2 ** 99999999999 > 1", "arithmetic error"),
    "too-deep": ("not " * 3000 + "true", "nested too deeply"),
}

BROKEN = {
    "text-with-number": 'context["customer"]["tier"] > 1',
    "list-with-pattern": 'context["tags"] =~ "vip"',
    "no-such-attribute": 'context["tags"].as_lower == "vip"',
    "division": 'context["amount"] / (title.length - title.length) > 1',
}


@pytest.mark.parametrize("text", HOLDS.values(), ids=HOLDS)
def test_an_expression_holds(text: str) -> None:
    assert Condition(text, 1).holds(TASK) is True


@pytest.mark.parametrize("text", FAILS.values(), ids=FAILS)
def test_an_expression_does_not_hold(text: str) -> None:
    assert Condition(text, 1).holds(TASK) is False


@pytest.mark.parametrize(("text", "says"), REFUSED.values(), ids=REFUSED)
def test_an_expression_is_refused_before_a_task_comes(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(says)) as caught:
        Condition(text, 3)
    assert str(caught.value).startswith("rule 3 (")


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_an_expression_that_fails_over_a_value_names_its_rule(text: str) -> None:
    with pytest.raises(ConfigError, match=r"rule 4 \("):
        Condition(text, 4).holds(TASK)


def test_a_null_of_one_task_excuses_no_failure_over_the_next() -> None:
    condition = Condition('context["amount"] > 1', 1)
    assert not condition.holds(Task(title="no amount"))
    with pytest.raises(ConfigError, match="rule 1"):
        condition.holds(Task(title="a text", context={"amount": "12"}))


@pytest.mark.parametrize(
    "value", [object(), float("nan"), {1: 2}, {"a": [object()]}, [[]] * 3], ids=["object", "nan", "key", "deep", "list"]
)
def test_a_value_that_is_no_json_breaks_no_other_rule(value: object) -> None:
    task = Task(title="odd", context={"odd": value})
    assert Condition('title == "odd"', 1).holds(task)
    with pytest.raises(ConfigError, match="rule 2"):
        Condition('context["odd"] > 1', 2).holds(task)


@pytest.mark.parametrize(
    "text",
    [
        'title =~ "(a|aa)+$"',
        'title !~ "(a|aa)+$"',
        'true and (title =~~ "^(a|aa)+$")',
        '$any([not (title !~~ "^(a|aa)+$") for item in context["l"]])',
        '{"k": title =~ "(a|aa)+$"}["k"] ? true : false',
    ],
    ids=["match", "no-match", "search", "list", "mapping"],
)
def test_a_pattern_has_a_time_limit_wherever_it_stands(text: str) -> None:
    condition = Condition(text, 2)
    started = time.perf_counter()
    with pytest.raises(ConfigError, match=r"rule 2 .* a pattern took longer than 0.1 s"):
        condition.holds(Task(title="a" * 36 + "b", context={"l": [1]}))
    assert time.perf_counter() - started < 20 * SECONDS_A_MATCH


def test_a_pattern_that_takes_too_long_is_an_error_also_after_a_null() -> None:
    condition = Condition('context["x"] == 1 or title =~ "(a|aa)+$"', 1)
    with pytest.raises(ConfigError, match="took longer"):
        condition.holds(Task(title="a" * 36 + "b"))
