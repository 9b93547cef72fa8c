"""The live view of a terminal: a tree of agents with what each does, and the end of what it writes."""

from __future__ import annotations

import contextlib
import sys
import time

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text
from rich.tree import Tree

from officellm import events as ev
from officellm.cli.lines import line_of, money
from officellm.cli.output import clean, one_line
from officellm.cli.rows import Row, RunRows

#: Agent runs that have ended and are still drawn under their caller; more would push the running ones out of sight.
ENDED_SHOWN = 6
TAIL_LINES = 3
_LASTING = (ev.RouteEvent, ev.TransferEvent, ev.ModelRetry, ev.LimitEvent, ev.WarningEvent)


class LiveView:
    """Draws all runs that are under way; what should last is printed above the drawing."""

    wants_text = True

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._runs: dict[str, RunRows] = {}
        self._early: list[str] = []
        self._live = Live(console=self._console, get_renderable=self._draw, refresh_per_second=8, transient=True)

    def begin(self, run_id: str, index: int | None) -> None:
        """Print the run's id and start to draw."""
        run = self._runs[run_id] = RunRows(index, started=time.time())
        self._print(run, f"run {run_id}", "dim")
        for message in self._early:
            self.warn(message)
        self._early = []
        self._live.start()

    def hear(self, event: ev.Event) -> None:
        """Bring the drawing up to date."""
        run = self._runs[event.run_id]
        run.hear(event)
        if isinstance(event, _LASTING):
            self._print(run, line_of(event) or "")
        elif isinstance(event, ev.RunEnd):
            del self._runs[event.run_id]
            self._print(run, line_of(event) or "", "green" if event.stop_reason == "success" else "red")
        elif isinstance(event, (ev.AgentStart, ev.AgentEnd)):
            self._live.refresh()

    def warn(self, message: str) -> None:
        """A warning, once there is a run."""
        if self._live.is_started or self._runs:
            self._console.print(Text(f"warning: {clean(message)}", style="yellow"), soft_wrap=True)
        else:
            self._early.append(message)

    def abandon(self) -> None:
        """Show the cursor again, without waiting for whoever draws."""
        if sys.__stderr__ is not None:
            with contextlib.suppress(OSError):
                sys.__stderr__.write("\x1b[?25h\n")
                sys.__stderr__.flush()

    def close(self) -> None:
        """Remove the drawing."""
        self._live.stop()
        for message in self._early:
            self._console.print(Text(f"warning: {clean(message)}", style="yellow"), soft_wrap=True)

    def _print(self, run: RunRows, line: str, style: str = "") -> None:
        self._console.print(Text(_mark(run) + line, style=style), soft_wrap=True)

    def _draw(self) -> Group:
        # Also called from the thread that refreshes: only copies are iterated.
        return Group(*(self._draw_run(run) for run in list(self._runs.values())))

    def _draw_run(self, run: RunRows) -> Tree:
        seconds = max(0.0, time.time() - run.started)
        tree = Tree(Text(f"{_mark(run)}{one_line(run.title, 60)}  {seconds:.0f} s", style="bold"), guide_style="dim")
        self._draw_children(tree, run, "")
        return tree

    def _draw_children(self, tree: Tree, run: RunRows, span: str) -> None:
        children = run.children(span)
        ended = [name for name, row in children if row.ended is not None]
        hidden = set(ended[:-ENDED_SHOWN])
        if hidden:
            tree.add(Text(f"{len(hidden)} more have ended", style="dim"))
        for name, row in children:
            if name not in hidden:
                self._draw_children(tree.add(_drawn(row)), run, name)


def _mark(run: RunRows) -> str:
    return "" if run.index is None else f"[{run.index}] "


def _drawn(row: Row) -> Text:
    """`boss  thinking, turn 2  1,234 tokens  $0.0123  4 s`, its calls, and the end of its text."""
    style = "cyan" if row.ended is None else "green" if row.success else "red"
    text = Text()
    text.append(clean(row.name), style=f"bold {style}")
    text.append(f"  {row.state}, turn {row.turn}" if row.turn else f"  {row.state}", style=style)
    usage = row.usage
    if usage.total:
        text.append(f"  {usage.total:,} tokens", style="dim")
    if usage.cost_usd is not None:
        text.append(f"  {money(usage.cost_usd)}", style="dim")
    seconds = (row.ended or time.time()) - row.started
    text.append(f"  {max(0.0, seconds):.0f} s", style="dim")
    if row.model:
        text.append(f"  {clean(row.model)}", style="dim")
    for call in list(row.calls.values()):
        text.append(f"\n> {call}", style="yellow")
    tail = [line for line in clean(row.tail).splitlines() if line.strip()][-TAIL_LINES:]
    for line in tail:
        text.append(f"\n{line[-160:]}", style="italic dim")
    return text
