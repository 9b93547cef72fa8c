"""What a workflow is made of: nodes, what they wait for, and how each of them ended. Nothing is run here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from officellm.errors import ConfigError, WorkflowError
from officellm.messages import Usage
from officellm.outputs import OutputType

if TYPE_CHECKING:
    from officellm.agents import Agent
    from officellm.protocols import Orchestrator
    from officellm.results import AgentResult
    from officellm.tasks import Task

_NOT_IN_IDS = re.compile(r"[/#~\[\]{}]")

OnError = Literal["fail", "continue", "fail_fast"]
ON_ERROR = ("fail", "continue", "fail_fast")
#: Legal as `until`: the agent of the node gets the tool `accept`, and is content when it calls it.
ACCEPT: Final = "accept"


class NodeState(StrEnum):
    """Where a node stands. The last four are ends."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Whether nothing more happens to the node."""
        return self not in (NodeState.PENDING, NodeState.RUNNING)


@dataclass(slots=True, kw_only=True)
class NodeResult:
    """How a node ended, or where it stands. `value` is typed where the node's output is, and its text otherwise."""

    id: str
    state: NodeState = NodeState.PENDING
    agent: str = ""
    text: str = ""
    value: Any = None
    error: str | None = None
    error_type: str | None = None
    #: For a node that was skipped: the node whose failure is the cause; empty where a condition was.
    cause: str = ""
    #: Whether the failure is that of a node of the workflow inside, `outer/inner`.
    inside: bool = False
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    #: Runs of the node, retries and a fallback included; 0 where it never ran.
    attempts: int = 0
    #: How often the node was reached: more than once where work was sent back.
    rounds: int = 0
    after: Sequence[str] = ()
    #: How the last attempt ended, with the messages where it was an agent's; None where there was none.
    ended: AgentResult | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, with camelCase keys; what is empty is left out."""
        out: dict[str, Any] = {"state": str(self.state)}
        named = {"agent": self.agent, "text": self.text, "error": self.error, "errorType": self.error_type}
        out |= {key: value for key, value in {**named, "cause": self.cause}.items() if value}
        if self.after:
            out["after"] = list(self.after)
        if self.rounds:
            out |= {"attempts": self.attempts, "rounds": self.rounds, "seconds": round(self.seconds, 3)}
            out["usage"] = self.usage.to_dict()
        return out


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeContext:
    """What a node's function, condition or input may know: the task, and the results of what it waited for.

    `results` holds the values of the nodes in `after` that completed, `outcomes` everything about all of them. `input`
    is the node's composed text, `item` the one that it works on where it maps over several, `deps` the run's.
    """

    id: str
    task: Task
    input: str
    results: Mapping[str, Any]
    outcomes: Mapping[str, NodeResult]
    #: 1 where the node is reached for the first time.
    round: int = 1
    item: Any = None
    deps: Any = None


#: Of the context, and not async: it is asked between two nodes.
Condition = Callable[[NodeContext], bool]
#: Gets the `NodeContext`; may be async. What it returns is the node's value.
NodeFunction = Callable[[NodeContext], Any]
#: Who works at a node: an agent or its name, a workflow or any other orchestrator, or a function.
Runnable: TypeAlias = "str | Agent | Orchestrator | NodeFunction"


@dataclass(frozen=True, slots=True)
class Back:
    """Sends work back to an earlier node until `until` holds; after `rounds` runs, the first included, no more.

    `until` gets the context with this node's own result among the results, or is `ACCEPT`: then the node's agent says
    so with a tool. `on_exhausted="fail"`: a node that is still not content has failed, with its text kept.
    """

    to: str
    until: Condition | Literal["accept"]
    rounds: int = 3
    on_exhausted: Literal["fail", "accept"] = "fail"

    def __post_init__(self) -> None:
        if not is_plain(self.until) and self.until != ACCEPT:
            said = f"back to {self.to!r}: until must be a function or {ACCEPT!r}, and not async; not {self.until!r}"
            raise WorkflowError(said)
        if not is_count(self.rounds):
            raise WorkflowError(
                f"back to {self.to!r}: rounds must be a whole number of at least 1, not {self.rounds!r}"
            )
        if self.on_exhausted not in ("fail", "accept"):
            raise WorkflowError(f"back to {self.to!r}: on_exhausted must be 'fail' or 'accept'")


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One part of a workflow: who works, on what, after whom.

    `run` is an agent or its name, another workflow (or any orchestrator), or a function of the `NodeContext`, sync or
    async. `input` is the node's own words, or a function that makes them; the run's task without it. `{{id}}` in it
    stands for the result of a node in `after`; results that it does not name are appended, in the order of `after`.

    `when` is asked once everything in `after` has ended; a node that it refuses is skipped. `need` is how many of
    `after` must complete (all, without it): with the last of them the others are cancelled. `each` makes the node work
    on every item of a list (a list, a function of the context, or a node in `after`, maybe with keys that lead to the
    list: `facts.items`), `max_parallel` at once. `retry` is the number of further attempts after a failure that may
    pass, `timeout` the seconds of one attempt; `fallback` is who works where all of them failed. `on_error`: `fail`
    skips what waits for a failed node, `continue` goes on and tells it, `fail_fast` ends the workflow. `output_type` is
    as in `Office.run`; `back` sends work back.
    """

    id: str
    run: Runnable
    input: str | Callable[[NodeContext], str] | None = field(default=None, kw_only=True)
    after: Sequence[str] = field(default=(), kw_only=True)
    when: Condition | None = field(default=None, kw_only=True)
    need: int | None = field(default=None, kw_only=True)
    each: str | Sequence[Any] | Callable[[NodeContext], Sequence[Any]] | None = field(default=None, kw_only=True)
    max_parallel: int = field(default=4, kw_only=True)
    retry: int = field(default=0, kw_only=True)
    timeout: float | None = field(default=None, kw_only=True)
    on_error: OnError = field(default="fail", kw_only=True)
    fallback: Runnable | None = field(default=None, kw_only=True)
    output_type: Any = field(default=None, kw_only=True)
    back: Back | None = field(default=None, kw_only=True)
    description: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id.strip():
            raise WorkflowError(f"a node needs an id, a text that is not empty, not {self.id!r}")
        if odd := _NOT_IN_IDS.search(self.id):
            # These tell rounds, attempts, items and what stands inside a node from each other.
            raise WorkflowError(f"the id {self.id!r} of a node may not hold {odd[0]!r}", node=self.id, key="id")
        object.__setattr__(self, "after", self._ids())
        for what, holds, must in self._rules():
            if not holds:
                raise self._wrong(what, must)
        if self.output_type is not None and not isinstance(self.output_type, OutputType):
            try:
                object.__setattr__(self, "output_type", OutputType(self.output_type))
            except ConfigError as error:
                raise WorkflowError(f"node {self.id!r}: {error}", node=self.id, key="output_type") from None

    def _ids(self) -> Sequence[str]:
        after: object = (self.after,) if isinstance(self.after, str) else self.after
        ids = tuple(after) if isinstance(after, Iterable) else (None,)
        if not all(isinstance(id, str) for id in ids):
            raise self._wrong("after", "ids of nodes")
        return tuple(dict.fromkeys(ids))

    def _rules(self) -> Iterator[tuple[str, bool, str]]:
        """A field, whether it is as it must be, and what that is."""
        worker, plain = "an agent, its name, a workflow or a function", "a function of the context that is not async"
        yield "run", is_worker(self.run), worker
        yield "fallback", self.fallback is None or is_worker(self.fallback), worker
        yield "input", self.input is None or isinstance(self.input, str) or is_plain(self.input), f"a text, or {plain}"
        yield "when", self.when is None or is_plain(self.when), plain
        need = self.need is None or (is_count(self.need) and self.need <= len(self.after))
        yield "need", need, f"a whole number from 1 to {len(self.after)}, the number of nodes in after"
        each = not callable(self.each) or is_plain(self.each)
        yield "each", each and not isinstance(self.each, (int, float)), f"a list, the id of a node in after, or {plain}"
        yield "max_parallel", is_count(self.max_parallel), "a whole number of at least 1"
        retry = self.retry == 0 and self.retry is not False
        yield "retry", retry or is_count(self.retry), "a whole number of at least 0"
        seconds = isinstance(self.timeout, (int, float)) and not isinstance(self.timeout, bool)
        yield "timeout", self.timeout is None or (seconds and self.timeout > 0), "seconds, more than 0"
        yield "on_error", self.on_error in ON_ERROR, f"one of {', '.join(ON_ERROR)}"
        yield "back", self.back is None or isinstance(self.back, Back), "a Back"

    def _wrong(self, what: str, must: str) -> WorkflowError:
        said = f"node {self.id!r}: {what} must be {must}, not {getattr(self, what)!r}"
        return WorkflowError(said, node=self.id, key=what)

    @property
    def source(self) -> tuple[str, str]:
        """The node whose result `each` names, and the dotted key in it; empty where it names none."""
        if isinstance(self.each, str):
            for id in self.after:
                if self.each == id or self.each.startswith(f"{id}."):
                    return id, self.each[len(id) + 1 :]
        return "", ""

    @property
    def label(self) -> str:
        """Who works here: an agent's name; empty for functions and workflows."""
        return agent_of(self.run) or ""


def agent_of(run: object) -> str | None:
    """The name of the agent that `run` stands for; None where it stands for none."""
    from officellm.agents import Agent

    if isinstance(run, Agent):
        return run.name
    return run if isinstance(run, str) and run else None


def is_orchestrator(run: object) -> bool:
    """Whether `run` has its own way of working a task through."""
    return callable(getattr(run, "work", None))


def is_worker(run: object) -> bool:
    """Whether a node can run it."""
    return agent_of(run) is not None or is_orchestrator(run) or callable(run)


def is_plain(value: object) -> bool:
    """Whether `value` is a function that says what it says at once."""
    return callable(value) and not iscoroutinefunction(value)


def is_count(value: object) -> bool:
    """Whether `value` is a whole number of at least 1; True and False are none."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
