"""Expressions over a task: compiled, type-checked, and bounded whatever the task says. Only this module imports
`rule_engine`, and it is imported when a router is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import regex
import rule_engine
from rule_engine import DataType, ast, errors
from rule_engine.parser import Parser

from officellm import ConfigError, Task, nearest

#: How long one pattern may work on one text. A task is a stranger's text, and backtracking can take years on it.
SECONDS_A_MATCH = 0.1

_ANYTHING = DataType.MAPPING(DataType.STRING, DataType.UNDEFINED)
#: What an expression can name.
FIELDS: Mapping[str, Any] = {
    "title": DataType.STRING,
    "description": DataType.STRING,
    "query": DataType.STRING,
    "priority": DataType.STRING,
    "context": _ANYTHING,
    "metadata": _ANYTHING,
}
#: The functions that depend on the task alone: no clock, no chance, and nothing that makes a list of any length.
FUNCTIONS = ("abs", "all", "any", "max", "min", "split", "sum")

_FAULTS = (errors.EngineError, ArithmeticError, TypeError, ValueError, RecursionError, TimeoutError)
_F = TypeVar("_F", bound=Callable[..., Any])


class Condition:
    """One rule's `when`. A key that the task lacks is null; null is equal to nothing but null and matches no pattern.

    Raises `ConfigError`, placed at the rule, for what is not an expression of the right types.
    """

    def __init__(self, text: str, number: int) -> None:
        self.place = f"rule {number} ({_short(text)})"
        self._scope = _Scope()
        try:
            self._rule = _Rule(text, self._scope)
        except _FAULTS as error:
            raise ConfigError(_describe(error), place=self.place) from error
        made = self._rule.statement.expression.result_type
        if made not in (DataType.BOOLEAN, DataType.UNDEFINED):
            raise ConfigError(f"an expression must be true or false, this is a {made.name.lower()}", place=self.place)

    def holds(self, task: Task) -> bool:
        """Whether the expression is true of the task.

        One that fails over a null does not hold. Raises `ConfigError` for one that fails over anything else.
        """
        self._scope.met_null = False
        values = {name: getattr(task, name) for name in FIELDS}
        values |= {"context": dict(task.context), "metadata": dict(task.metadata)}
        try:
            return self._rule.matches(values)
        except _FAULTS as error:
            if self._scope.met_null and not isinstance(error, TimeoutError):
                return False
            raise ConfigError(_describe(error), place=self.place) from error


class _Scope(rule_engine.Context):
    """What names mean. `met_null` says that an item looked up since it was reset was null or missing."""

    def __init__(self) -> None:
        super().__init__(type_resolver=FIELDS, default_timezone="utc", mapping_attribute_lookup=False)
        self.met_null = False

    def resolve_type(self, name: str, scope: str | None = None) -> Any:
        if scope is not None and name not in FUNCTIONS:
            raise errors.SymbolResolutionError(f"${name}", symbol_scope=scope)
        return super().resolve_type(name, scope)


class _Item(ast.GetItemExpression):
    """`context["key"]`: null where there is no such key."""

    def evaluate(self, thing: Any) -> Any:
        value = super().evaluate(thing)
        if value is None:
            self.context.met_null = True  # type: ignore[attr-defined]
        return value


class _Match(ast.FuzzyComparisonExpression):
    """`=~` and its kin over patterns that stand in the rule, each within its time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not isinstance(self.right, ast.StringExpression):
            raise errors.EvaluationError("a pattern must be written out in the rule")

    def _compile_regex(self, pattern: str) -> Any:
        return _Pattern(pattern)


class _Pattern:
    """Stands in for `re.Pattern`, which has no time limit."""

    def __init__(self, pattern: str) -> None:
        try:
            self._pattern = regex.compile(pattern)
        except regex.error as error:
            raise errors.EvaluationError(f"the pattern {pattern!r} is not valid: {error}") from None

    def match(self, text: str) -> Any:
        return self._pattern.match(text, timeout=SECONDS_A_MATCH)

    def search(self, text: str) -> Any:
        return self._pattern.search(text, timeout=SECONDS_A_MATCH)


def _instead_of(replaced: Callable[..., Any]) -> Callable[[_F], _F]:
    """PLY reads a production from its function's docstring and orders productions by line: keep both."""

    def keep(function: _F) -> _F:
        function.__doc__ = replaced.__doc__
        function.co_firstlineno = replaced.__code__.co_firstlineno  # type: ignore[attr-defined]
        return function

    return keep


class _Parser(Parser):
    """The grammar of `rule_engine` with `_Item` and `_Match` for its own nodes."""

    @_instead_of(Parser.p_expression_getitem)
    def p_expression_getitem(self, p: Any) -> None:
        super().p_expression_getitem(p)
        p[0].cls = _Item
        p[0].kwargs["safe"] = True

    @_instead_of(Parser.p_expression_fuzzy_comparison)
    def p_expression_fuzzy_comparison(self, p: Any) -> None:
        super().p_expression_fuzzy_comparison(p)
        p[0].cls = _Match


class _Rule(rule_engine.Rule):
    parser = _Parser()


def _describe(error: Exception) -> str:
    if isinstance(error, errors.SymbolResolutionError):
        known = [*FIELDS, *(f"${function}" for function in FUNCTIONS)]
        return f"unknown field {error.symbol_name!r}.{nearest(error.symbol_name, known)}"
    if isinstance(error, errors.AttributeResolutionError):
        hint = f" Did you mean {error.suggestion!r}?" if error.suggestion else ""
        return f"unknown attribute {error.attribute_name!r}.{hint}"
    if isinstance(error, TimeoutError):
        return f"a pattern took longer than {SECONDS_A_MATCH} s on this task: write one that backtracks less"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    # The tail of one message is advice for whoever embeds the library.
    return error.message.partition(", or set ")[0] if isinstance(error, errors.EngineError) else str(error)


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."
