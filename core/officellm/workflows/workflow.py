"""A workflow: an immutable definition, checked as it is made; run as often and as many at once as you like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from officellm.errors import WorkflowError
from officellm.workflows.nodes import Node, agent_of, is_count
from officellm.workflows.shape import Shape, shape_of

if TYPE_CHECKING:
    from officellm.protocols import Desk
    from officellm.results import AgentResult
    from officellm.tasks import Task


@dataclass(frozen=True, slots=True, eq=False)
class Workflow:
    """Nodes and the one whose result is the run's: `await office.run(task, orchestrator=workflow)`.

    Without `final` all nodes run and the run's content is empty; `result.nodes` has every node's. `max_concurrency`
    bounds the nodes at work at one time. `fail_fast` ends the workflow with the first failure. `previous_only` keeps
    the run's task from nodes that get results and have no input of their own. `compat` composes the text
    `{input}\\n\\nResult from {id}: {result}` exactly. Raises `WorkflowError` for what cannot work.
    """

    #: A workflow names its agents: nobody has to choose one that starts.
    needs_entry: ClassVar[bool] = False

    nodes: Sequence[Node]
    final: str | None = field(default=None, kw_only=True)
    max_concurrency: int | None = field(default=None, kw_only=True)
    fail_fast: bool = field(default=False, kw_only=True)
    previous_only: bool = field(default=False, kw_only=True)
    compat: bool = field(default=False, kw_only=True)
    shape: Shape = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.nodes, Iterable):
            raise WorkflowError(f"a workflow is made of nodes, not of {self.nodes!r}")
        if self.final is not None and not isinstance(self.final, str):
            raise WorkflowError(f"final must be the id of a node, not {self.final!r}", key="final")
        object.__setattr__(self, "nodes", tuple(self.nodes))
        if self.max_concurrency is not None and not is_count(self.max_concurrency):
            raise WorkflowError(f"max_concurrency must be a whole number of at least 1, not {self.max_concurrency!r}")
        object.__setattr__(self, "shape", shape_of(self.nodes, self.final))

    def but(self, **changes: Any) -> Workflow:
        """A copy with some fields changed."""
        return replace(self, **changes)

    def add(self, *nodes: Node, final: str | None = None) -> Workflow:
        """A copy with further nodes; `final` names another final node."""
        return replace(self, nodes=(*self.nodes, *nodes), final=self.final if final is None else final)

    def agents(self) -> list[str]:
        """The names of all agents that may work, also in workflows inside, each once and in order."""
        return list(dict.fromkeys(_agents(self.nodes)))

    async def work(self, task: Task, desk: Desk) -> AgentResult:
        """Run every node as soon as what it waits for has ended. Raises `ConfigError` before anything was sent."""
        from officellm.workflows.runner import WorkflowRun

        desk.require(self.agents())
        return await WorkflowRun(self, task, desk).go()


def _agents(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        for run in (node.run, node.fallback):
            name = agent_of(run)
            if name is not None:
                yield name
            elif isinstance(run, Workflow):
                yield from _agents(run.nodes)
