"""The state that a live view draws: each run with its agent runs, kept up to date from events. No drawing here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from officellm import events as ev
from officellm.cli.lines import arguments_of
from officellm.messages import Usage

#: How much of a running text is kept: only its end is shown.
TAIL = 400


@dataclass(slots=True)
class Row:
    """One agent run, or a router that asks a model."""

    name: str
    parent: str
    started: float
    model: str = ""
    state: str = "starting"
    turn: int = 0
    usage: Usage = field(default_factory=Usage)
    #: Calls that are being worked on, by id.
    calls: dict[str, str] = field(default_factory=dict)
    tail: str = ""
    ended: float | None = None
    success: bool = False


@dataclass(slots=True)
class RunRows:
    """One run. `rows` are by span, in the order in which they began."""

    index: int | None
    title: str = ""
    started: float = 0.0
    rows: dict[str, Row] = field(default_factory=dict)

    def hear(self, event: ev.Event) -> None:
        """Bring the state up to date."""
        change = _CHANGES.get(type(event))
        if isinstance(event, ev.RunStart):
            self.title, self.started = event.title, event.at
        elif change is not None:
            row = self.rows.get(event.span)
            if row is None and isinstance(event, ev.RouteEvent):
                return  # a router that asked no model has no row
            if row is None:
                row = self.rows[event.span] = Row(event.agent, event.parent, event.at)
            change(row, event)

    def children(self, span: str) -> list[tuple[str, Row]]:
        """The agent runs that this one started; for an empty span, those that nobody on view did."""
        rows = list(self.rows.items())
        known = {name for name, _ in rows}
        return [(name, row) for name, row in rows if (row.parent if row.parent in known else "") == span]


def _start(row: Row, event: ev.AgentStart) -> None:
    row.model = event.model


def _request(row: Row, event: ev.ModelRequest) -> None:
    row.state, row.turn, row.tail = "thinking", event.turn, ""


def _text(row: Row, event: ev.TextDeltaEvent) -> None:
    row.state, row.tail = "writing", (row.tail + event.text)[-TAIL:]


def _reasoning(row: Row, event: ev.ReasoningDeltaEvent) -> None:
    row.state = "reasoning"


def _retry(row: Row, event: ev.ModelRetry) -> None:
    row.state = f"retry {event.attempt} after {event.fault}"


def _reply(row: Row, event: ev.ModelReply) -> None:
    row.state, row.usage = "working", row.usage + event.usage


def _call(row: Row, event: ev.ToolCallEvent) -> None:
    row.calls = {**row.calls, event.id: f"{event.name}({arguments_of(event.arguments)})"}


def _result(row: Row, event: ev.ToolResultEvent) -> None:
    row.calls = {id: call for id, call in row.calls.items() if id != event.id}


def _routed(row: Row, event: ev.RouteEvent) -> None:
    row.state, row.ended, row.tail, row.success = f"chose {event.choice}", event.at, "", True


def _end(row: Row, event: ev.AgentEnd) -> None:
    row.state, row.ended, row.calls, row.tail = event.stop_reason, event.at, {}, ""
    row.turn, row.usage, row.success = event.turns, event.usage, event.stop_reason == "success"


_CHANGES: dict[type[ev.Event], Callable[[Row, Any], None]] = {
    ev.AgentStart: _start,
    ev.ModelRequest: _request,
    ev.TextDeltaEvent: _text,
    ev.ReasoningDeltaEvent: _reasoning,
    ev.ModelRetry: _retry,
    ev.ModelReply: _reply,
    ev.ToolCallEvent: _call,
    ev.ToolResultEvent: _result,
    ev.RouteEvent: _routed,
    ev.AgentEnd: _end,
}
