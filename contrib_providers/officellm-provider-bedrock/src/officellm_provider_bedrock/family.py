"""What a model's id says of what the model accepts. An id that names no family gets the benefit of the doubt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_OPAQUE = re.compile(r"^arn:.*(?:application-inference-profile|provisioned-model|imported-model|custom-model)")
_FORCED = re.compile(r"anthropic|amazon\.nova|mistral")


def takes_forced_choice(model: str) -> bool:
    """Whether a call can be demanded; other models refuse the parameter."""
    return bool(_FORCED.search(model) or _OPAQUE.search(model))


def takes_status(model: str) -> bool:
    """Whether a tool result may be marked as an error."""
    return "writer." not in model


def is_claude(model: str) -> bool:
    """Whether the model is one of Anthropic's."""
    return "anthropic" in model


def effort(model: str, value: str) -> dict[str, Any]:
    """The part of a body that asks for this reasoning effort, in the words of the model's family."""
    if is_claude(model):
        if value == "none":
            return _additional({"thinking": {"type": "disabled"}})
        return {"outputConfig": {"effort": "low" if value == "minimal" else value}}
    if "amazon.nova" in model:
        if value == "none":
            return _additional({"reasoningConfig": {"type": "disabled"}})
        level = "low" if value == "minimal" else value
        return _additional({"reasoningConfig": {"type": "enabled", "maxReasoningEffort": level}})
    if "qwen." in model:
        return _additional({"reasoning_config": value})
    return _additional({"reasoning_effort": value})


def one_call_at_a_time(choice: Mapping[str, Any] | None) -> dict[str, Any]:
    """The part of a body that forbids parallel calls: in Anthropic's own words, Converse has none."""
    kind = next(iter(choice), "auto") if choice else "auto"
    named = {"name": choice["tool"]["name"]} if choice and kind == "tool" else {}
    return _additional({"tool_choice": {"type": kind, **named, "disable_parallel_tool_use": True}})


def _additional(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"additionalModelRequestFields": dict(fields)}
