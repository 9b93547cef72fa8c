"""What happens in a run, as one typed stream: progress, `--events`, `stream()`, traces and pages are made from it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, ClassVar

from officellm.messages import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """The common head. `seq` counts from 1 in each run; `at` is seconds since the epoch; `span` is one agent run."""

    type: ClassVar[str] = "event"

    seq: int
    at: float
    run_id: str
    agent: str = ""
    span: str = ""
    parent: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, with camelCase keys; empty fields are left out."""
        out: dict[str, Any] = {"type": self.type}
        for item in fields(self):
            value = getattr(self, item.name)
            if value is None or value == "":
                continue
            out[_camel(item.name)] = value.to_dict() if isinstance(value, Usage) else value
        return out


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStart(Event):
    """A run begins."""

    type: ClassVar[str] = "run.start"
    title: str
    priority: str
    orchestrator: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteEvent(Event):
    """The entry agent was chosen: by which router, who, why, how surely."""

    type: ClassVar[str] = "route"
    by: str
    choice: str
    reason: str = ""
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStart(Event):
    """An agent run begins; `depth` is 1 for the entry agent."""

    type: ClassVar[str] = "agent.start"
    depth: int
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest(Event):
    """A model request goes out."""

    type: ClassVar[str] = "model.request"
    turn: int
    model: str = ""
    messages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDeltaEvent(Event):
    """A piece of the answer."""

    type: ClassVar[str] = "text.delta"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningDeltaEvent(Event):
    """A piece of the reasoning."""

    type: ClassVar[str] = "reasoning.delta"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDeltaEvent(Event):
    """A piece of a call, while it is being written."""

    type: ClassVar[str] = "call.delta"
    index: int
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRetry(Event):
    """A request failed and is sent again after `seconds`."""

    type: ClassVar[str] = "model.retry"
    attempt: int
    fault: str
    message: str
    seconds: float
    status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply(Event):
    """A reply came."""

    type: ClassVar[str] = "model.response"
    turn: int
    text: str
    calls: int
    stop: str
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallEvent(Event):
    """A tool, worker or transfer is called. `kind` says which."""

    type: ClassVar[str] = "tool.call"
    id: str
    name: str
    kind: str
    arguments: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultEvent(Event):
    """The call's answer, as the model will read it."""

    type: ClassVar[str] = "tool.result"
    id: str
    name: str
    content: str
    is_error: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferEvent(Event):
    """Control goes from one agent to another."""

    type: ClassVar[str] = "transfer"
    target: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEvent(Event):
    """A node of a workflow began, or came to an end; `cause` is the failed node for which it was skipped."""

    type: ClassVar[str] = "node"
    node: str
    state: str
    error: str | None = None
    cause: str = ""
    attempts: int = 0
    round: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEvent(Event):
    """A model's plan is valid and about to be run; `plan` is its JSON form."""

    type: ClassVar[str] = "plan"
    plan: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitEvent(Event):
    """A limit was reached."""

    type: ClassVar[str] = "limit"
    which: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WarningEvent(Event):
    """Something a person should know, and a tool's own words (`Context.emit`)."""

    type: ClassVar[str] = "warning"
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEnd(Event):
    """An agent run ended."""

    type: ClassVar[str] = "agent.end"
    stop_reason: str
    turns: int
    usage: Usage
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd(Event):
    """The run ended; nothing comes after it."""

    type: ClassVar[str] = "run.end"
    stop_reason: str
    usage: Usage
    error: str | None = None
    seconds: float = 0.0
    by_agent: Mapping[str, Usage] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, with usage by agent."""
        out = Event.to_dict(self)
        out["byAgent"] = {name: usage.to_dict() for name, usage in self.by_agent.items()}
        return out


Listener = Callable[[Event], None]


class EventStream:
    """Numbers a run's events and hands each to every listener, on the run's thread. Without one nothing is built."""

    __slots__ = ("_at", "_listeners", "_loop", "_on_error", "_seq", "_thread", "run_id", "wants_text")

    def __init__(self, run_id: str, at: Callable[[], float], on_error: Callable[[Listener, Exception], None]) -> None:
        self.run_id = run_id
        self._at = at
        self._listeners: list[Listener] = []
        self._on_error = on_error
        self._seq = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        #: Whether someone shows text as it is written; model requests stream only then.
        self.wants_text = False

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def listen(self, listener: Listener, *, text: bool = False) -> None:
        """Hear every event from now on. A listener must return at once; one that raises is dropped and reported."""
        self._listeners.append(listener)
        self.wants_text = self.wants_text or text

    def emit(self, kind: type[Event], /, **values: Any) -> None:
        """Build an event and hand it out, if anyone listens. What a sync tool's thread emits waits its turn."""
        if not self._listeners:
            return
        if self._loop is None:
            self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        elif threading.get_ident() != self._thread:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the tool has outlived its run
                self._loop.call_soon_threadsafe(partial(self.emit, kind, **values))
            return
        self._seq += 1
        event = kind(seq=self._seq, at=self._at(), run_id=self.run_id, **values)
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception as error:  # noqa: BLE001 - a watcher must never fail the run it watches
                self._listeners.remove(listener)
                self._on_error(listener, error)
        if kind is RunEnd:
            self._listeners.clear()
