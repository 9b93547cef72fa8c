"""The file form of a workflow: steps with what they wait for, or one of the patterns by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PositiveFloat, model_validator

from officellm.errors import WorkflowError, nearest
from officellm.filekeys import FileKeys
from officellm.limits import Count, Positive
from officellm.tasks import labelled
from officellm.workflows.conditions import ConditionSpec
from officellm.workflows.nodes import ACCEPT, Back, Condition, Node, NodeContext, OnError
from officellm.workflows.patterns import loop, parallel, sequential
from officellm.workflows.workflow import Workflow


def _one_or_more(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Names = Annotated[list[str], BeforeValidator(_one_or_more)]
#: A text is tried as the word `accept` first.
Until = Literal["accept"] | ConditionSpec


class BackSpec(FileKeys):
    """Sends work back to the step `to` until the condition holds, or the agent calls its tool `accept`."""

    to: str
    until: Until
    rounds: Positive = 3
    on_exhausted: Literal["fail", "accept"] = "fail"


class StepSpec(FileKeys):
    """One step: an agent, or steps of its own."""

    id: str
    agent: str | None = None
    steps: list[StepSpec] | None = None
    final: str | None = None
    input: str | dict[str, Any] | None = None
    description: str = ""
    after: Names = Field(default_factory=list)
    when: ConditionSpec | None = None
    need: Positive | None = None
    each: str | list[Any] | None = None
    max_parallel: Positive = 4
    retry: Count = 0
    timeout: PositiveFloat | None = None
    on_error: OnError = "fail"
    fallback: str | None = None
    output_schema: dict[str, Any] | None = None
    back: BackSpec | None = None

    @model_validator(mode="after")
    def _one_worker(self) -> StepSpec:
        if (self.agent is None) == (self.steps is None):
            raise ValueError("a step has an agent, or steps of its own")
        if self.final is not None and self.steps is None:
            raise ValueError("final is for a step that has steps of its own")
        return self

    def node(self) -> Node:
        """The node. Raises `WorkflowError`."""
        run = self.agent or Workflow([step.node() for step in self.steps or ()], final=self.final or self._last())
        return Node(
            self.id,
            run,
            input="\n\n".join(labelled(self.input)) if isinstance(self.input, Mapping) else self.input,
            after=self.after,
            when=None if self.when is None else _condition(self.id, "when", self.when, self.after),
            need=self.need,
            each=self.each,
            max_parallel=self.max_parallel,
            retry=self.retry,
            timeout=self.timeout,
            on_error=self.on_error,
            fallback=self.fallback,
            output_type=self.output_schema,
            back=self._back(),
            description=self.description,
        )

    def _last(self) -> str | None:
        return self.steps[-1].id if self.steps else None

    def _back(self) -> Back | None:
        back = self.back
        if back is None:
            return None
        until = _until(back.until, self.id, "back", [self.id, *self.after])
        return Back(back.to, until, rounds=back.rounds, on_exhausted=back.on_exhausted)


class WorkflowSpec(FileKeys):
    """`steps` with `final` (the last step without it); or a `pattern` with its agents."""

    steps: list[StepSpec] = Field(default_factory=list)
    final: str | None = None
    pattern: Literal["sequential", "parallel", "loop"] | None = None
    agents: Names = Field(default_factory=list)
    combine: str | None = None
    quorum: Positive | None = None
    on_error: OnError = "fail"
    times: Positive | None = None
    until: Until | None = None
    on_exhausted: Literal["fail", "accept"] = "fail"
    max_concurrency: Positive | None = None
    fail_fast: bool = False
    previous_only: bool = False
    compat: bool = False

    @model_validator(mode="after")
    def _steps_or_pattern(self) -> WorkflowSpec:
        if self.steps and self.pattern is not None:
            raise ValueError("give steps or a pattern, not both")
        wanted: dict[str | None, tuple[str, ...]] = {
            None: (),
            "sequential": ("agents",),
            "parallel": ("agents", "combine"),
            "loop": ("agents", "times"),
        }
        for name in wanted[self.pattern]:
            if getattr(self, name) in (None, []):
                raise ValueError(f"the pattern {self.pattern!r} needs {name}")
        if self.pattern == "loop" and len(self.agents) != 1:
            raise ValueError("the pattern 'loop' has one agent")
        return self

    def workflow(self) -> Workflow | None:
        """The workflow; None where nothing is said of one. Raises `WorkflowError`."""
        options: dict[str, Any] = {
            name: getattr(self, name) for name in ("max_concurrency", "fail_fast", "previous_only", "compat")
        }
        make: Mapping[str | None, Callable[[], Workflow]] = {
            "sequential": lambda: sequential(*self.agents, **options),
            "parallel": lambda: parallel(
                *self.agents, combine=self.combine or "", quorum=self.quorum, on_error=self.on_error, **options
            ),
            "loop": lambda: self._loop(options),
        }
        if self.pattern is not None:
            return make[self.pattern]()
        if not self.steps:
            return None
        return Workflow([step.node() for step in self.steps], final=self.final or self.steps[-1].id, **options)

    def _loop(self, options: Mapping[str, Any]) -> Workflow:
        first = "iteration-0"
        until = None if self.until is None else _until(self.until, first, "until", [first])
        return loop(self.agents[0], self.times or 0, until=until, on_exhausted=self.on_exhausted, **options)


def _until(until: Until, id: str, key: str, known: list[str]) -> Condition | Literal["accept"]:
    return ACCEPT if isinstance(until, str) else _condition(id, key, until, known)


def _condition(id: str, key: str, spec: ConditionSpec, known: list[str]) -> Condition:
    """A function of the context. Raises `WorkflowError` for a step that the node does not wait for."""
    for name in spec.steps():
        if name not in known:
            said = f"node {id!r}: {key} names {name!r}, which is not in its after.{nearest(name, known)}"
            raise WorkflowError(said, node=id, key=key)
    if not known or (len(known) > 1 and known[0] != id and not spec.steps()):
        raise WorkflowError(f"node {id!r}: {key} must name a step of its after", node=id, key=key)
    return partial(_holds, spec, known[0])


def _holds(spec: ConditionSpec, default: str, context: NodeContext) -> bool:
    return spec.holds(context, default)
