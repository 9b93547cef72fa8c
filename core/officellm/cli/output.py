"""stdout, which carries the result and nothing else; and text made safe for a terminal."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from officellm.codec import dump_text

# C0 and C1 controls but tab and newline, and the marks that reorder text: a model must not drive a terminal.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SEQUENCES = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-Z\\\\^_])")

# What JSON leaves as it is, and a terminal obeys or a reader of lines takes for a line break.
_RAW = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """The text without escape sequences and control characters; tabs and line breaks stay."""
    text = _SEQUENCES.sub("", text.replace("\r\n", "\n"))
    return _CONTROLS.sub("", text).encode("utf-8", "replace").decode()


def one_line(text: str, width: int = 100) -> str:
    """The text on one line, cut at `width` characters."""
    flat = " ".join(clean(text[: width * 8]).split())
    return flat if len(flat) <= width else f"{flat[: width - 3]}..."


class Outlet:
    """The real stdout, from now to the end of the process: what anyone else writes to it goes to stderr.

    Children too. It is never given back: a tool's thread that outlives its run must not write into the result.
    `on_closed` is called once, when nobody reads any more; later writes do nothing.
    """

    def __init__(self, on_closed: Callable[[], None] | None = None) -> None:
        self.is_terminal = sys.stdout is not None and sys.stdout.isatty()
        self.on_closed = on_closed
        self.problem: OSError | None = None
        self._file = _claim()
        atexit.register(self._file.close)

    def text(self, text: str) -> None:
        """An answer: as it is, or cleaned where a person reads it on a terminal; always a whole line."""
        if self.is_terminal:
            text = clean(text)
        self._write(text if text.endswith("\n") else f"{text}\n")

    def json(self, value: Mapping[str, Any]) -> None:
        """One line of JSON. A value that has no JSON form, such as NaN, becomes text: a result is never lost for it."""
        try:
            line = dump_text(value)
        except (TypeError, ValueError):
            from pydantic_core import to_json

            line = to_json(value, inf_nan_mode="strings", fallback=str).decode()
        self._write(f"{_RAW.sub(_escaped, line)}\n")

    def _write(self, text: str) -> None:
        if self.problem is not None:
            return
        try:
            self._file.write(text)
            self._file.flush()
        except OSError as error:
            self.problem = error
            # What is buffered could not be written at exit either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._file.fileno())
            if self.on_closed is not None:
                self.on_closed()


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _claim() -> TextIO:
    if sys.stdout is None:
        return open(os.devnull, "w", encoding="utf-8")
    sys.stdout.flush()
    saved = os.dup(1)
    try:
        os.dup2(2, 1)
    except OSError:  # stderr is closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    with contextlib.suppress(AttributeError):  # somebody has replaced it
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    return open(saved, "w", encoding="utf-8", errors="replace", newline="")
