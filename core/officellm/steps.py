"""One written step of a model without tool calls of its own: how it is described, its JSON Schema, and how it is read.

A step is one JSON object: `{"tool": ..., "arguments": {...}}` or `{"answer": ...}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from officellm.codec import dump_text
from officellm.messages import Assistant, Message, ToolCall, ToolSpec, User
from officellm.tasks import Task

#: What the examples ask, in the form of a task's prompt, and what becomes of it as the text of an argument.
_ASKED = (
    (
        Task(title="Example: the front door", description="What colour is it, and who painted it?"),
        "What colour is the front door, and who painted it?",
    ),
    (
        Task(title="Example: room 12", description="How many chairs are there, and is there a screen?"),
        "How many chairs are in room 12, and is there a screen?",
    ),
    (
        Task(title="Example: report on the house plants", description="Who waters the plants, and how often?"),
        "Who waters the plants, and how often?",
    ),
)
_EXAMPLES = tuple((User(task.prompt()), text) for task, text in _ASKED)
#: What it says for an argument that is no text.
_SAMPLES: Mapping[str, Any] = {"integer": 3, "number": 3.5, "boolean": True, "array": [], "object": {}, "null": None}
#: Braces tried in a reply before its text is taken as it is.
_TRIES = 50

_decode = json.JSONDecoder().raw_decode


def instructions(tools: Sequence[ToolSpec], may_answer: bool) -> str:
    """How to write a step, with the tools that there are."""
    lines = ["Reply with one JSON object and nothing else."]
    if tools:
        lines.append('To use a tool: {"tool": "<name>", "arguments": {...}}. The tools:')
        lines.extend(tool.encoded("written line", partial(_line, tool)) for tool in tools)
    if may_answer:
        lines.append('When you have what you need, or no tool helps: {"answer": "<your whole answer>"}.')
    return "\n".join(lines)


def _line(tool: ToolSpec) -> str:
    return f"- {tool.name}: {tool.description} Arguments: {dump_text(tool.parameters)}"


def examples(tools: Sequence[ToolSpec]) -> list[Message]:
    """Turns that show the form, each with one of the tools. A small model copies what it saw and reads little else."""
    made: list[Message] = []
    for number, (asked, text) in enumerate(_EXAMPLES):
        tool = tools[number % len(tools)]
        made += [asked, tool.encoded(("example", number), partial(_example, tool, text))]
    return made


def _example(tool: ToolSpec, text: str) -> Assistant:
    properties = tool.parameters.get("properties", {})
    required = tool.parameters.get("required", ())
    return Assistant(written_call(tool.name, {name: _sample(properties.get(name), text) for name in required}))


def _sample(schema: Any, text: str) -> Any:
    if not isinstance(schema, Mapping):
        return text
    for key in ("examples", "enum"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    kind = schema.get("type")
    return _SAMPLES.get(kind, text) if isinstance(kind, str) else text


def written_call(name: str, arguments: Mapping[str, Any]) -> str:
    """A call as a model writes it."""
    return dump_text({"tool": name, "arguments": arguments})


def step_schema(tools: Sequence[ToolSpec], answer: Mapping[str, Any] | None) -> dict[str, Any]:
    """The schema of a step: a call of one of `tools`, or an answer where it may be one."""
    branches: list[dict[str, Any]] = []
    definitions: dict[str, Any] = {}
    for index, tool in enumerate(tools):
        arguments = _lifted(tool.parameters, f"tool{index}_", definitions)
        branches.append(_object({"tool": {"const": tool.name}, "arguments": arguments}))
    if answer is not None:
        branches.append(_object({"answer": _lifted(answer, "answer_", definitions)}))
    schema = branches[0] if len(branches) == 1 else {"anyOf": branches}
    return {**schema, "$defs": definitions} if definitions else schema


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _lifted(schema: Mapping[str, Any], prefix: str, definitions: dict[str, Any]) -> Any:
    """The schema as a part of a larger one, whose root holds its definitions under names of their own."""
    own = schema.get("$defs")
    if not isinstance(own, Mapping):
        return dict(schema)
    definitions.update({prefix + name: _renamed(part, prefix) for name, part in own.items()})
    return _renamed({key: part for key, part in schema.items() if key != "$defs"}, prefix)


def _renamed(part: Any, prefix: str) -> Any:
    if isinstance(part, list):
        return [_renamed(item, prefix) for item in part]
    if not isinstance(part, Mapping):
        return part
    made = {key: _renamed(item, prefix) for key, item in part.items()}
    reference = made.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        made["$ref"] = f"#/$defs/{prefix}{reference.removeprefix('#/$defs/')}"
    return made


def read_step(text: str, known: Sequence[str], call_id: str) -> ToolCall | str | None:
    """The call or the answer that a reply holds, in a fence or among words; None where it holds neither.

    A tool that is not `known` is a call all the same: its result will say so. Only the first step counts: what a model
    writes after it, it has made up.
    """
    for value in _objects(text):
        name = value.get("tool")
        if name is None and ("arguments" in value or "parameters" in value):
            name = value.get("name")
        if isinstance(name, str) and (name in known or "tool" in value):
            return ToolCall.parse(call_id, name, _arguments(value))
        if "answer" in value:
            answer = value["answer"]
            return answer if isinstance(answer, str) else dump_text(answer)
    return None


def _arguments(value: Mapping[str, Any]) -> str | Mapping[str, Any] | None:
    """Arguments as they are named, or else whatever stands beside the tool's name."""
    for key in ("arguments", "parameters"):
        if key in value:
            found = value[key]
            return found if isinstance(found, (str, Mapping)) or found is None else dump_text(found)
    return {key: item for key, item in value.items() if key not in ("tool", "name", "type", "id")}


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects in a text, in order."""
    at = text.find("{")
    for _ in range(_TRIES):
        if at < 0:
            return
        try:
            value, end = _decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if isinstance(value, dict):
                yield value
        at = text.find("{", end)
