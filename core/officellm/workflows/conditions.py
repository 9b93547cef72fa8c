"""Conditions that a file can hold: what a node's result says, without code. `when` and `until` are made of them."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from officellm.filekeys import FileKeys
from officellm.text import to_text
from officellm.workflows.inputs import value_at
from officellm.workflows.nodes import NodeContext, NodeState

_TESTS = ("equals", "contains", "matches", "state", "all", "any", "not_")


def _pattern(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from None
    return value


class ConditionSpec(FileKeys):
    """One test of a result, or several under `all`, `any` or `not`.

    A text alone is `contains`. `step` is whose result (the only one that there is, without it); `key` leads into its
    typed value, with dots.
    `contains` looks at the text, whatever its case; `matches` searches it for a regular expression; `equals` compares
    the value; `state` is how the step ended.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    step: str | None = None
    key: str | None = None
    equals: Any = None
    contains: str | None = None
    matches: Annotated[str, AfterValidator(_pattern)] | None = None
    state: NodeState | None = None
    all: list[ConditionSpec] | None = None
    any: list[ConditionSpec] | None = None
    not_: ConditionSpec | None = Field(default=None, alias="not")

    @model_validator(mode="before")
    @classmethod
    def _text(cls, value: Any) -> Any:
        return {"contains": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_test(self) -> ConditionSpec:
        given = [name.rstrip("_") for name in _TESTS if name in self.model_fields_set]
        if len(given) != 1:
            one_of = ", ".join(name.rstrip("_") for name in _TESTS)
            raise ValueError(f"give exactly one of {one_of}" + (f", not {' and '.join(given)}" if given else ""))
        return self

    def steps(self) -> list[str]:
        """The steps that it names."""
        inner = [*(self.all or ()), *(self.any or ()), *([self.not_] if self.not_ is not None else ())]
        return [*([self.step] if self.step is not None else []), *(name for one in inner for name in one.steps())]

    def holds(self, context: NodeContext, default: str) -> bool:
        """Whether it holds; `default` is the step that is meant where none is named."""
        if self.all is not None:
            return all(one.holds(context, default) for one in self.all)
        if self.any is not None:
            return any(one.holds(context, default) for one in self.any)
        if self.not_ is not None:
            return not self.not_.holds(context, default)
        result = context.outcomes[self.step or default]
        if self.state is not None:
            return result.state is self.state
        if result.state is not NodeState.COMPLETED and not (default == context.id and result.text):
            return False
        value = value_at(result.value, self.key) if self.key is not None else result.value
        if "equals" in self.model_fields_set:
            return bool(value == self.equals or (isinstance(value, str) and value.strip() == self.equals))
        text = value if isinstance(value, str) else to_text(value, 200_000)
        if self.contains is not None:
            return self.contains.casefold() in text.casefold()
        assert self.matches is not None
        return re.search(self.matches, text) is not None
