"""What a driver of each kind promises, as small as it can be. The contract suites of `officellm.testing` hold it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from officellm.messages import Delta, Message, Reply, Request, ToolSpec, Usage

if TYPE_CHECKING:
    import httpx

    from officellm.agents import Agent
    from officellm.clock import Clock
    from officellm.limits import Limits
    from officellm.results import AgentResult
    from officellm.tasks import Priority, Task
    from officellm.tools import Context, Tool
    from officellm.workflows.nodes import NodeResult
    from officellm.worstcase import WorstCase

#: How tools are offered: by the vendor's own parameter, as a schema-constrained reply, or in words.
ToolMode = Literal["native", "schema", "prompt"]


@runtime_checkable
class Provider(Protocol):
    """A configured endpoint. The reply is core's fold over the deltas, so streaming and not cannot differ."""

    def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Deltas of one reply, the last one `Finished`. Raises `ProviderError` once all retries are used up.

        Closing the iterator closes the connection at once.
        """


class HttpFactory(Protocol):
    """Gives providers and catalogs their HTTP client; core owns its pool, proxies, certificates and closing."""

    def __call__(self) -> httpx.AsyncClient:
        """The client of the running event loop; do not close it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An agent as a router sees it."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A router's decision. `confidence` is in [0, 1], or None where the router has no measure."""

    agent: str
    reason: str = ""
    confidence: float | None = None


#: A metered model request: `await ask(request)`; an empty `request.model` means the router's own model.
Ask = Callable[[Request], Awaitable[Reply]]


@runtime_checkable
class Router(Protocol):
    """Chooses the agent that starts, and nothing else."""

    async def route(self, task: Task, agents: Sequence[Candidate]) -> Choice:
        """One of `agents`. Raises `NoRouteError` or `RouteError`."""


class Desk(Protocol):
    """What an orchestrator may do: run agents, all metered, counted and limited like any other work."""

    task: Task
    #: The agent that starts; empty where the orchestrator says that it needs none.
    entry: str
    agents: Mapping[str, Agent]
    #: The task as an agent reads it.
    prompt: str
    #: What was said before the task.
    history: Sequence[Message]
    #: Whatever the caller of the run passed as `deps`.
    deps: Any
    clock: Clock
    #: When the run must have ended, on the clock's `monotonic`.
    deadline: float | None

    async def call(
        self,
        agent: str,
        prompt: str | None = None,
        *,
        key: str = "",
        history: Sequence[Message] = (),
        transfers: Sequence[str] = (),
        final: bool = False,
        output_type: Any = None,
        tools: Sequence[Tool] = (),
        max_seconds: float | None = None,
    ) -> AgentResult:
        """Run one agent to its end: on the task where `prompt` is None. `transfers` names whom it may hand over to.

        `key` names this piece of work, the same on every replay; give one where several agents may be at work at once.
        Without it the run's `history` comes first in the first call. `final` says that this answer may be the run's,
        so it must have the typed output where one was asked for; `output_type` asks for one in any case. `tools` are
        offered beside the agent's own; `max_seconds` bounds this call.
        """

    async def ask(self, request: Request, *, label: str, model: str | None = None) -> Reply:
        """One metered model request that is no agent's; its tokens count under `label`.

        Without `model` (`provider:name`) it is the entry's or the first agent's. Raises `ProviderError`.
        """

    def require(self, agents: Iterable[str]) -> None:
        """Refuse to start without one of these agents, or without its key. Raises `ConfigError`."""

    def reserve_transfer(self, source: str, target: str, reason: str = "") -> None:
        """Count a transfer before it happens. Raises `LimitReached`."""

    @property
    def nodes(self) -> Mapping[str, NodeResult]:
        """Where each node of the workflows run at this desk stands, the last word on each id."""

    def worst_case(self, agents: Sequence[str], *, beside: int = 0) -> WorstCase:
        """The most that one run of each of these agents can come to, with `beside` requests of others."""

    def announce(self, plan: Mapping[str, Any]) -> None:
        """Tell of a plan that is about to be run; `plan` is its JSON form."""

    def report(self, node: NodeResult) -> None:
        """Tell where a node of a workflow stands; the run's result has the last word on each."""

    def under(self, key: str, prompt: str, *, final: bool = False) -> Desk:
        """A desk for an orchestrator inside this one, which works on `prompt`; `key` names it."""


@runtime_checkable
class Orchestrator(Protocol):
    """Decides how control moves after an agent was chosen.

    One that names its agents itself sets `needs_entry` to False (True without it): nobody is chosen to start then.
    """

    async def work(self, task: Task, desk: Desk) -> AgentResult:
        """The agent result that ends the run."""


@runtime_checkable
class Catalog(Protocol):
    """A named source of tools."""

    async def tools(self) -> Sequence[ToolSpec]:
        """The tools, in a stable order."""

    async def call(self, name: str, arguments: Mapping[str, Any], context: Context) -> Any:
        """Run one tool. Raises `ToolError` for what the model should read; text, or a value that becomes JSON."""


SpendKind = Literal["agent", "request", "tool_call", "transfer"]


@dataclass(slots=True, kw_only=True)
class Spend:
    """Work about to be done, as a limit policy sees it. `scope` is one agent run; `tokens` is an estimate."""

    kind: SpendKind
    scope: str
    agent: str
    depth: int = 1
    turn: int = 0
    tokens: int = 0
    #: For tool calls: the name and canonical arguments. `problem` says why a call cannot run; it then costs nothing.
    call: str | None = None
    tool: str = ""
    problem: str | None = None
    #: Limits that hold for this scope alone, beside the run's.
    limits: Limits | None = None
    #: The task's: a policy may let urgent work spend what other work may not.
    priority: Priority = "medium"


@dataclass(slots=True, kw_only=True)
class Spent:
    """What the work came to."""

    usage: Usage = field(default_factory=Usage)
    #: For tool calls: the result's text.
    result: str = ""


@runtime_checkable
class LimitPolicy(Protocol):
    """A rule that can stop a run: synchronous, pure accounting, one instance a run."""

    def reserve(self, spend: Spend) -> object:
        """Take what `spend` needs before it starts; raises `LimitReached`. The return value goes back to `settle`."""

    def settle(self, reservation: object, spend: Spend, spent: Spent) -> str | None:
        """Replace the estimate by what it came to; once a reservation. A text is a warning to the model."""


@runtime_checkable
class Engine(Protocol):
    """Where runs execute. No engine is shipped yet: every run executes in this process."""

    name: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """An extension's ruling on a call. `refuse` answers the model with `reason`; nothing is run."""

    ruling: Literal["allow", "refuse"]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CallInfo:
    """A call as `judge` sees it: a tool, a worker (`kind` worker) or a transfer.

    `arguments` are those that would run: checked, with defaults, in their JSON form.
    """

    kind: Literal["tool", "worker", "transfer"]
    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run as extensions see it."""

    run_id: str
    task: Task
    entry: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
