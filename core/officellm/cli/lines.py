"""Events as lines of text: what happened, who did it, what it took. Pure; nothing is printed here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from officellm import events as ev
from officellm.cli.output import clean, one_line
from officellm.codec import dump_text
from officellm.messages import Usage


def line_of(event: ev.Event) -> str | None:
    """The event's line, None for one that is not worth a line. Free of control characters."""
    make = _LINES.get(type(event))
    return None if make is None else clean(make(event))


def usage_of(usage: Usage) -> str:
    """`1,234 tokens (1,000 in, 234 out), $0.0123`."""
    about = "" if usage.complete else "at least "
    text = f"{about}{usage.total:,} tokens ({usage.input:,} in, {usage.output:,} out)"
    return text if usage.cost_usd is None else f"{text}, {money(usage.cost_usd)}"


def money(dollars: float) -> str:
    """US dollars with the digits that matter."""
    if 0 < dollars < 0.0001:
        return "<$0.0001"
    return f"${dollars:.2f}" if dollars >= 1 else f"${dollars:.4f}"


def arguments_of(arguments: Mapping[str, Any] | None) -> str:
    """A call's arguments, short."""
    if arguments is None:
        return "unreadable arguments"
    return one_line(", ".join(f"{key}={_value(value)}" for key, value in arguments.items()), 80)


def _value(value: Any) -> str:
    return repr(value) if isinstance(value, str) else dump_text(value)


def _route(event: ev.RouteEvent) -> str:
    sure = f", confidence {event.confidence:.2f}" if event.confidence is not None else ""
    why = f" ({one_line(event.reason) or 'no reason given'}{sure})"
    return f"router {event.by} chose {event.choice}{why}"


def _start(event: ev.AgentStart) -> str:
    return f"{event.agent}: start{f', {event.model}' if event.model else ''}"


def _reply(event: ev.ModelReply) -> str:
    calls = f", {_count(event.calls, 'call')}" if event.calls else ""
    odd = f", stop {event.stop}" if event.stop not in ("stop", "tool_calls") else ""
    return f"{event.agent}: turn {event.turn}: {usage_of(event.usage)}{calls}{odd}"


def _retry(event: ev.ModelRetry) -> str:
    status = f"HTTP {event.status} " if event.status else ""
    what = one_line(f"{status}{event.fault}: {event.message}")
    return f"{event.agent}: retry {event.attempt} in {event.seconds:.1f} s after {what}"


def _call(event: ev.ToolCallEvent) -> str:
    return f"{event.agent}: {event.kind} {event.name}({arguments_of(event.arguments)})"


def _result(event: ev.ToolResultEvent) -> str:
    size = f"{_count(len(event.content), 'character')}, {event.seconds:.1f} s"
    error = f", error: {one_line(event.content)}" if event.is_error else ""
    return f"{event.agent}: {event.name} gave {size}{error}"


def _transfer(event: ev.TransferEvent) -> str:
    return f"{event.agent}: transfer to {event.target}{f' ({one_line(event.reason)})' if event.reason else ''}"


def _node(event: ev.NodeEvent) -> str:
    again = f", round {event.round}" if event.round > 1 else ""
    who = f" ({event.agent})" if event.agent else ""
    error = f": {one_line(event.error)}" if event.error else ""
    return f"node {event.node}{who}: {event.state}{again}{error}"


def _plan(event: ev.PlanEvent) -> str:
    steps = event.plan.get("steps", ())
    agents = ", ".join(str(step.get("agent_id")) for step in steps)
    return f"plan: {_count(len(steps), 'step')} ({agents}), answered by {event.plan.get('final_agent_id')}"


def _agent_end(event: ev.AgentEnd) -> str:
    error = f": {one_line(event.error)}" if event.error else ""
    return f"{event.agent}: {event.stop_reason} after {_count(event.turns, 'turn')}{error}"


def _end(event: ev.RunEnd) -> str:
    usage = event.usage
    work = f"{_count(usage.requests, 'request')}, {_count(usage.tool_calls, 'tool call')}"
    price = "" if usage.cost_usd is not None else ", cost unknown"
    return f"{event.stop_reason}: {work}, {usage_of(usage)}{price}, {event.seconds:.1f} s"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


_LINES: dict[type[ev.Event], Callable[[Any], str]] = {
    ev.RouteEvent: _route,
    ev.AgentStart: _start,
    ev.ModelReply: _reply,
    ev.ModelRetry: _retry,
    ev.ToolCallEvent: _call,
    ev.ToolResultEvent: _result,
    ev.TransferEvent: _transfer,
    ev.NodeEvent: _node,
    ev.PlanEvent: _plan,
    ev.LimitEvent: lambda event: f"{event.agent}: limit {event.which}: {one_line(event.message)}",
    ev.WarningEvent: lambda event: f"{event.agent}: {one_line(event.message, 400)}",
    ev.AgentEnd: _agent_end,
    ev.RunEnd: _end,
}


class TextLines:
    """Text that agents of one run write at the same time, made into whole lines with the writer's name."""

    __slots__ = ("_open",)

    def __init__(self) -> None:
        self._open: dict[str, str] = {}

    def add(self, event: ev.TextDeltaEvent) -> list[str]:
        """The lines that this piece completes."""
        *whole, rest = (self._open.get(event.span, "") + event.text).split("\n")
        self._open[event.span] = rest
        return [_quoted(event.agent, line) for line in whole]

    def end(self, event: ev.Event) -> list[str]:
        """The line left open, once its writer does something else."""
        rest = self._open.pop(event.span, "")
        return [_quoted(event.agent, rest)] if rest else []


def _quoted(agent: str, line: str) -> str:
    return f"{agent} | {clean(line)}"
