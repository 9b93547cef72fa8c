"""The grammar of a run's events: what every stream of events must look like, whatever happened in the run."""

from __future__ import annotations

from collections.abc import Sequence

from officellm.events import (
    AgentEnd,
    AgentStart,
    Event,
    ModelReply,
    ModelRequest,
    RunEnd,
    RunStart,
    ToolCallEvent,
    ToolResultEvent,
)
from officellm.messages import Usage


def check_grammar(events: Sequence[Event]) -> None:
    """Fails where the events break the grammar."""
    assert events, "no events"
    assert isinstance(events[0], RunStart), f"the first event is {events[0].type}"
    assert isinstance(events[-1], RunEnd), f"the last event is {events[-1].type}"
    assert sum(isinstance(event, RunStart) for event in events) == 1
    assert sum(isinstance(event, RunEnd) for event in events) == 1
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert len({event.run_id for event in events}) == 1
    _check_agents(events)
    _check_calls(events)
    _check_usage(events)


def _check_agents(events: Sequence[Event]) -> None:
    """Each agent run starts once and ends once, its parent around it, its requests and calls inside."""
    open_spans: dict[str, str] = {}
    seen: set[str] = set()
    inside = (ModelRequest, ModelReply, ToolCallEvent, ToolResultEvent)
    for event in events:
        if isinstance(event, AgentStart):
            assert event.span not in seen, f"agent run {event.span!r} starts twice"
            assert not event.parent or event.parent in open_spans, f"{event.span!r} starts outside of its parent"
            open_spans[event.span] = event.agent
            seen.add(event.span)
        elif isinstance(event, AgentEnd):
            assert open_spans.pop(event.span, None) == event.agent, f"{event.span!r} ends without a start"
        elif isinstance(event, inside) and not event.agent.startswith("router:"):
            assert event.span in open_spans or event.span not in seen, f"{event.type} after the end of {event.span!r}"
    assert not open_spans, f"agent runs without an end: {sorted(open_spans)}"


def _check_calls(events: Sequence[Event]) -> None:
    """Each call has exactly one result, after it."""
    waiting: list[tuple[str, str]] = []
    for event in events:
        if isinstance(event, ToolCallEvent):
            waiting.append((event.span, event.id))
        elif isinstance(event, ToolResultEvent):
            assert (event.span, event.id) in waiting, f"a result without a call: {event.name}"
            waiting.remove((event.span, event.id))
    assert not waiting, f"calls without a result: {waiting}"


def _check_usage(events: Sequence[Event]) -> None:
    """The run's usage is the sum of its agents'."""
    end = events[-1]
    assert isinstance(end, RunEnd)
    assert sum(end.by_agent.values(), Usage()) == end.usage
