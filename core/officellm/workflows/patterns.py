"""The four patterns: workflows that are written again and again, in one line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from officellm.errors import WorkflowError
from officellm.workflows.nodes import Back, Condition, Node, OnError, Runnable, is_count
from officellm.workflows.workflow import Workflow


def sequential(*agents: Runnable, **options: Any) -> Workflow:
    """One after the other: each gets the task and the result of the one before. Nodes `step-0`, `step-1`, …

    `options` are those of `Workflow`. Raises `WorkflowError`.
    """
    _require("sequential", agents)
    nodes = [
        Node(f"step-{index}", agent, after=[f"step-{index - 1}"] if index else ()) for index, agent in enumerate(agents)
    ]
    return Workflow(nodes, final=nodes[-1].id, **options)


def parallel(
    *agents: Runnable,
    combine: Runnable,
    quorum: int | None = None,
    on_error: OnError = "fail",
    **options: Any,
) -> Workflow:
    """All at once, then `combine` with their results in this order. Nodes `branch-0`, `branch-1`, … and `combine`.

    `quorum`: combine as soon as so many branches have completed, and cancel the rest. `on_error` is that of the
    branches: with `continue` the combiner is told of those that failed. Without branches the combiner works alone.
    """
    branches = [Node(f"branch-{index}", agent, on_error=on_error) for index, agent in enumerate(agents)]
    last = Node("combine", combine, after=[branch.id for branch in branches], need=quorum)
    return Workflow([*branches, last], final=last.id, **options)


def loop(
    agent: Runnable,
    times: int,
    *,
    until: Condition | Literal["accept"] | None = None,
    on_exhausted: Literal["fail", "accept"] = "fail",
    **options: Any,
) -> Workflow:
    """The same agent again and again, each time with its last result. Nodes `iteration-0`, `iteration-1`, …

    With `until` it stops as soon as that holds (see `Back`), after `times` runs at most; it is one node then. Counts
    below 1 are an error: a loop that runs not at all is no success.
    """
    if not is_count(times):
        raise WorkflowError(f"loop: times must be a whole number of at least 1, not {times!r}")
    if until is not None:
        back = Back("iteration-0", until, rounds=times, on_exhausted=on_exhausted)
        return Workflow([Node("iteration-0", agent, back=back)], final="iteration-0", **options)
    nodes = [
        Node(f"iteration-{index}", agent, after=[f"iteration-{index - 1}"] if index else ()) for index in range(times)
    ]
    return Workflow(nodes, final=nodes[-1].id, **options)


def graph(*nodes: Node, final: str, **options: Any) -> Workflow:
    """Any nodes, with the one whose result is the run's."""
    if not isinstance(final, str) or not final:
        raise WorkflowError(f"graph: final must be the id of a node, not {final!r}")
    _require("graph", nodes)
    return Workflow(nodes, final=final, **options)


def _require(kind: str, given: Sequence[Any]) -> None:
    if not given:
        raise WorkflowError(f"{kind} has no agents")
