"""What the agent of a node reads: its own words or the task, and the results that it waited for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from officellm.codec import loads
from officellm.text import NO_OUTPUT, to_text
from officellm.workflows.asked import asked
from officellm.workflows.nodes import Node, NodeContext, NodeResult, NodeState
from officellm.workflows.shape import PLACEHOLDER

if TYPE_CHECKING:
    from officellm.workflows.workflow import Workflow

#: A result that is longer is cut, with a mark.
MAX_CHARS = 200_000


def composed(workflow: Workflow, node: Node, context: NodeContext, returned: Sequence[NodeResult] = ()) -> str:
    """The text for one run of the node. `returned` are results that were sent back to it.

    In one pass: what stands in a result is never taken for a placeholder.
    """
    if callable(node.input):
        said = asked("input", node.input, context)
        if not isinstance(said, str):
            raise TypeError(f"input must return a text, not a {type(said).__name__}")
        return said
    results = [context.outcomes[id] for id in node.after]
    told = [one for one in results if one.state is NodeState.COMPLETED or one.state is NodeState.FAILED]
    told = [one for one in told if one.id != node.source[0]]
    named: set[str] = set()
    head = context.input if node.input is None else _filled(node.input, context, named)
    if node.input is None and workflow.previous_only and told:
        head = ""
    blocks = [_block(one, workflow.compat) for one in [*told, *returned] if one.id not in named]
    if node.each is not None and "item" not in named:
        blocks.append(f"Item:\n{to_text(context.item, MAX_CHARS)}")
    return "\n\n".join([head, *blocks] if head or workflow.compat else blocks)


def _filled(template: str, context: NodeContext, named: set[str]) -> str:
    def fill(found: re.Match[str]) -> str:
        name = found[1]
        named.add(name)
        if name in context.outcomes:
            return said_by_node(context.outcomes[name])
        return context.input if name == "task" else to_text(context.item, MAX_CHARS)

    return PLACEHOLDER.sub(fill, template)


def said_by_node(result: NodeResult) -> str:
    """A node's result as another one reads it."""
    if result.state is NodeState.COMPLETED or (result.text and result.state is NodeState.PENDING):
        return result.text or NO_OUTPUT
    return f"(no result: {result.error or result.state})"


def _block(result: NodeResult, compat: bool) -> str:
    if compat:
        return f"Result from {result.id}: {result.text}"
    who = f"{result.agent} ({result.id})" if result.agent else result.id
    return f"Result from {who}:\n{said_by_node(result)}"


def value_at(value: Any, key: str) -> Any:
    """What stands at a dotted key, also of a text that is JSON; None where nothing does."""
    if isinstance(value, str):
        try:
            value = loads(value)
        except ValueError:
            return None
    for part in key.split("."):
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value
