"""The small values of a Converse body: settings under the service's names, the tools on offer, the wanted output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from officellm import (
    Message,
    OutputSchema,
    Request,
    ToolSpec,
    closed_schema,
    dump_text,
    legal_name,
    merged,
)
from officellm_provider_bedrock.family import effort, is_claude, one_call_at_a_time, takes_forced_choice
from officellm_provider_bedrock.turns import tools_of_history

_INFERENCE = ("maxTokens", "temperature", "topP", "stopSequences")
#: Settings that stand at the top of the body; whatever Converse has no name for goes to the model itself.
_TOP_LEVEL = (
    "inferenceConfig",
    "guardrailConfig",
    "additionalModelRequestFields",
    "additionalModelResponseFieldPaths",
    "promptVariables",
    "requestMetadata",
    "performanceConfig",
    "serviceTier",
    "outputConfig",
)


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools to send; `wanted` is `auto`, `required` or one tool's name. `forbidden`: they are sent, not offered."""

    tools: Sequence[ToolSpec] = ()
    wanted: str = "auto"
    forbidden: bool = False


def offer(request: Request, messages: Sequence[Message]) -> Offer:
    """What to offer. Without a choice, tools are sent only where calls in the history demand them."""
    used = tools_of_history(messages)
    if not request.tools or request.tool_choice == "none":
        return Offer(request.tools or used, forbidden=True) if used else Offer()
    wanted = request.tool_choice
    if wanted != "auto" and (thinks(request) or not takes_forced_choice(request.model)):
        # A call cannot be demanded here: the wanted tool alone is the nearest thing.
        return Offer([tool for tool in request.tools if tool.name == wanted] or request.tools)
    return Offer(request.tools, wanted)


def without_thinking(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a request that thinks with a budget, without the budget."""
    additional = dict(fields["additionalModelRequestFields"])
    del additional["thinking"]
    rest = {name: value for name, value in fields.items() if name != "additionalModelRequestFields"}
    return {**rest, "additionalModelRequestFields": additional} if additional else rest


def fields_of(request: Request, offered: Offer) -> tuple[dict[str, Any], dict[str, Any], Sequence[Any]]:
    """The body's small values, those of `toolConfig`, and tools of the user's own. What was not set is not sent."""
    fields = _settings(request)
    choice = _choice(offered.wanted)
    if request.parallel_calls is False and offered.tools and not offered.forbidden and is_claude(request.model):
        fields = merged(fields, one_call_at_a_time(choice))
    if request.output is not None:
        fields = merged(fields, {"outputConfig": {"textFormat": _text_format(request.output)}})
    extra = request.settings.get("extra")
    fields = merged(fields, extra if isinstance(extra, Mapping) else {})
    tool_fields = {"toolChoice": choice} if choice else {}
    given = fields.pop("toolConfig", None)
    if isinstance(given, Mapping):
        tool_fields |= {name: value for name, value in given.items() if name != "tools"}
    more = given.get("tools") if isinstance(given, Mapping) else None
    return fields, tool_fields, more if isinstance(more, (list, tuple)) else ()


def _settings(request: Request) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for given, value in request.settings.items():
        name = _camel(given)
        if value is None or name == "extra":
            continue
        if name == "stop":
            stops = [value] if isinstance(value, str) else list(value)
            found: dict[str, Any] = {"inferenceConfig": {"stopSequences": stops}}
        elif name == "reasoningEffort":
            found = effort(request.model, str(value))
        elif name in _INFERENCE:
            found = {"inferenceConfig": {name: value}}
        elif name in _TOP_LEVEL:
            found = {name: value}
        else:
            found = {"additionalModelRequestFields": {given: value}}
        fields = merged(fields, found)
    return fields


def thinks(request: Request) -> bool:
    """Whether a Claude thinks with a budget, which excludes a forced choice."""
    additional = _settings(request).get("additionalModelRequestFields")
    thinking = additional.get("thinking") if isinstance(additional, Mapping) else None
    return isinstance(thinking, Mapping) and thinking.get("type") == "enabled"


def _choice(wanted: str) -> dict[str, Any] | None:
    """`toolChoice`; None where the service's default says the same."""
    if wanted == "auto":
        return None
    return {"any": {}} if wanted == "required" else {"tool": {"name": legal_name(wanted)}}


def _text_format(output: OutputSchema) -> dict[str, Any]:
    """The schema goes as a text."""
    schema = {"name": output.name, "schema": dump_text(closed_schema(output.schema))}
    return {"type": "json_schema", "structure": {"jsonSchema": schema}}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)
