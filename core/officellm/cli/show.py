"""What a person sees of a run while it works, always on stderr: nothing, lines, or a live view."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Protocol

from officellm.cli.lines import TextLines, line_of
from officellm.cli.output import clean
from officellm.events import Event, RunEnd, TextDeltaEvent


class View(Protocol):
    """Shows runs. Warnings that come before the first run are kept until its id has been said."""

    #: Whether model requests should stream for it.
    wants_text: bool

    def begin(self, run_id: str, index: int | None) -> None:
        """A run starts."""

    def hear(self, event: Event) -> None:
        """Something happened."""

    def warn(self, message: str) -> None:
        """Something that a person should know."""

    def abandon(self) -> None:
        """Leave the terminal usable: the process ends now."""

    def close(self) -> None:
        """All runs have ended."""


def choose_view(*, quiet: bool, live: bool, text: bool) -> View:
    """The view that suits: live on a terminal that can move its cursor (where `live` allows it), else lines."""
    if quiet:
        return NoView()
    if live and sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", ""):
        from officellm.cli.live import LiveView

        return LiveView()
    return LineView(text=text)


class NoView:
    """Shows nothing but warnings: a limit that does not hold is something that went wrong."""

    wants_text = False

    def begin(self, run_id: str, index: int | None) -> None:
        """Nothing."""

    def hear(self, event: Event) -> None:
        """Nothing."""

    def warn(self, message: str) -> None:
        """One line."""
        print(f"warning: {clean(message)}", file=sys.stderr)  # noqa: T201 - this is where it is said

    def abandon(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class LineView:
    """One line for each thing that matters; with `text`, also what agents write, line by line."""

    def __init__(self, *, text: bool) -> None:
        self.wants_text = text
        self._marks: dict[str, str] = {}
        self._texts: dict[str, TextLines] = {}
        self._early: list[str] | None = []

    def begin(self, run_id: str, index: int | None) -> None:
        """The run's id: the first line of all."""
        self._marks[run_id] = "" if index is None else f"[{index}] "
        self._texts[run_id] = TextLines()
        self._print(f"{self._marks[run_id]}run {run_id}")
        early, self._early = self._early, None
        for message in early or ():
            self.warn(message)

    def hear(self, event: Event) -> None:
        """Its line, if it has one."""
        mark = self._marks[event.run_id]
        texts = self._texts[event.run_id]
        if isinstance(event, TextDeltaEvent):
            lines = texts.add(event) if self.wants_text else []
        else:
            said = line_of(event)
            lines = [*texts.end(event), *([said] if said is not None else [])]
        for line in lines:
            self._print(mark + line)
        if isinstance(event, RunEnd):
            del self._marks[event.run_id], self._texts[event.run_id]

    def warn(self, message: str) -> None:
        """A warning, once there is a run."""
        if self._early is None:
            self._print(f"warning: {clean(message)}")
        else:
            self._early.append(message)

    def abandon(self) -> None:
        """Lines leave nothing behind."""

    def close(self) -> None:
        """Warnings that no run came for."""
        for message in self._early or ():
            self._print(f"warning: {clean(message)}")

    def _print(self, line: str) -> None:
        if sys.stderr is not None:
            with contextlib.suppress(OSError):
                sys.stderr.write(f"{line}\n")
                sys.stderr.flush()
