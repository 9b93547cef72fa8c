"""Words in pictures: texts made safe and short, conditions, times, tokens and money."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from officellm.workflows.conditions import ConditionSpec
    from officellm.workflows.nodes import Condition

LONGEST = 80


def short(text: str, longest: int = LONGEST) -> str:
    """On one line, without what cannot be printed, cut with a mark."""
    flat = "".join(char for char in " ".join(text.split()) if char.isprintable())
    return flat if len(flat) <= longest else f"{flat[: longest - 1]}…"


def called(function: object) -> str:
    """`name()`; empty for a function that has no name of its own."""
    name = getattr(function, "__name__", None)
    return f"{name}()" if isinstance(name, str) and name.isidentifier() else ""


def condition_words(condition: Condition) -> str:
    """What a condition says: in words where a file holds it, by its name where it is a function; else empty."""
    if not isinstance(condition, partial):
        return called(condition)
    from officellm.workflows.conditions import ConditionSpec

    specs = [one for one in condition.args if isinstance(one, ConditionSpec)]
    return short(_said(specs[0]), 60) if specs else called(condition.func)


def _said(spec: ConditionSpec) -> str:
    for word, several in (("and", spec.all), ("or", spec.any)):
        if several is not None:
            return f" {word} ".join(map(_said, several))
    if spec.not_ is not None:
        return f"not {_said(spec.not_)}"
    subject = ".".join(filter(None, (spec.step, spec.key)))
    if spec.state is not None:
        what = str(spec.state)
    elif spec.contains is not None:
        what = f'"{spec.contains}"' if not subject else f'contains "{spec.contains}"'
    elif spec.matches is not None:
        what = f"matches {spec.matches}"
    else:
        what = f"is {json.dumps(spec.equals, ensure_ascii=False, default=str)}"
    return f"{subject} {what}".strip()


def number_of(value: object) -> float:
    """A number of a JSON that others may have written; 0 for anything else."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e15 else 0.0  # type: ignore[arg-type]


def spent(usage: Mapping[str, Any]) -> str:
    """`1,234 tokens, $0.0123`; empty where nothing is known of either."""
    tokens, dollars = number_of(usage.get("totalTokens")), number_of(usage.get("costUsd"))
    said = [f"{tokens:,.0f} tokens"] if tokens else []
    if dollars:
        said.append("<$0.0001" if 0 < dollars < 0.0001 else f"${dollars:.2f}" if dollars >= 1 else f"${dollars:.4f}")
    return ", ".join(said)


def seconds_of(value: object) -> str:
    """`1.2 s` or `3 min 20 s`; empty for no time at all."""
    seconds = number_of(value)
    if seconds >= 100:
        return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{seconds * 1000:.0f} ms" if seconds > 0 else ""
