"""The shape of a workflow, checked once and kept: who waits for whom, and what a way back would run again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from officellm.cycles import cycles
from officellm.errors import WorkflowError, nearest
from officellm.workflows.nodes import ACCEPT, Node

#: `{{id}}`: no blanks, so that templates of other languages stay as they are.
PLACEHOLDER = re.compile(r"\{\{([A-Za-z0-9_][\w.\-]*)\}\}")
#: What a placeholder may name besides a node.
WORDS = ("task", "item")


@dataclass(frozen=True, slots=True)
class Shape:
    """Nodes by id in declared order, the ids that wait for each, and the region of each way back."""

    nodes: Mapping[str, Node]
    children: Mapping[str, Sequence[str]]
    #: For each node with a way back: the nodes that run again, in declared order.
    regions: Mapping[str, Sequence[str]]
    final: str | None


def shape_of(nodes: Sequence[Node], final: str | None) -> Shape:
    """Raises `WorkflowError`, whose text names the nodes."""
    if not nodes:
        raise WorkflowError("the workflow has no nodes")
    by_id: dict[str, Node] = {}
    for node in nodes:
        if not isinstance(node, Node):
            raise WorkflowError(f"a workflow is made of nodes, not of {node!r}")
        if node.id in by_id:
            raise WorkflowError(f"two nodes have the id {node.id!r}", node=node.id, key="id")
        by_id[node.id] = node
    children: dict[str, list[str]] = {id: [] for id in by_id}
    for node in by_id.values():
        for name in node.after:
            if name not in by_id:
                said = f"node {node.id!r} waits for the unknown task {name!r}.{nearest(name, by_id)}"
                raise WorkflowError(said, node=node.id, key="after")
            children[name].append(node.id)
    if final is not None and final not in by_id:
        raise WorkflowError(f"the final node {final!r} is not in the workflow.{nearest(final, by_id)}", key="final")
    for circle in cycles({id: node.after for id, node in by_id.items()}):
        said = f"the nodes wait for each other in a cycle: {' -> '.join(circle)}"
        raise WorkflowError(said, node=circle[0], key="after")
    for node in by_id.values():
        _check_words(node)
        if node.back is not None and node.back.until == ACCEPT and not node.label:
            said = f"node {node.id!r}: only an agent can say with a tool that it is content"
            raise WorkflowError(said, node=node.id, key="back")
    regions = {node.id: _region(node, by_id, children) for node in by_id.values() if node.back is not None}
    return Shape(by_id, children, regions, final)


def _check_words(node: Node) -> None:
    """What an input names must be there when it is filled in: the words would reach the agent as they stand."""
    if isinstance(node.each, str) and not node.source[0]:
        hint = nearest(node.each, node.after)
        said = f"node {node.id!r}: each names {node.each!r}, which is not in its after.{hint}"
        raise WorkflowError(said, node=node.id, key="each")
    if not isinstance(node.input, str):
        return
    known = (*node.after, *WORDS) if node.each is not None else (*node.after, "task")
    for name in PLACEHOLDER.findall(node.input):
        if name not in known:
            hint = nearest(name, known)
            said = f"node {node.id!r}: its input names {{{{{name}}}}}, which is not in its after.{hint}"
            raise WorkflowError(said, node=node.id, key="input")


def _region(node: Node, nodes: Mapping[str, Node], children: Mapping[str, Sequence[str]]) -> list[str]:
    """The nodes between the one that gets the work back and the one that sends it, both included."""
    assert node.back is not None
    to = node.back.to
    if to not in nodes:
        said = f"node {node.id!r} sends work back to the unknown task {to!r}.{nearest(to, nodes)}"
        raise WorkflowError(said, node=node.id, key="back")
    before = _reached(node.id, lambda id: nodes[id].after)
    if to not in before:
        said = f"node {node.id!r} cannot send work back to {to!r}: it does not wait for it"
        raise WorkflowError(said, node=node.id, key="back")
    inside = before & _reached(to, lambda id: children[id])
    for id in inside - {node.id}:
        for outside in children[id]:
            if outside not in inside:
                said = (
                    f"node {outside!r} waits for {id!r}, which {node.id!r} may send back: let it wait for {node.id!r}"
                )
                raise WorkflowError(said, node=outside, key="after")
    return [id for id in nodes if id in inside]


def _reached(start: str, steps: Callable[[str], Iterable[str]]) -> set[str]:
    seen = {start}
    pending = list(seen)
    while pending:
        for id in steps(pending.pop()):
            if id not in seen:
                seen.add(id)
                pending.append(id)
    return seen
