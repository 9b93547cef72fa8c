"""What makes a method a tool of the board: its marks, and the board and the caller that it works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from officellm_team.board.caller import Caller
from officellm_team.board.store import Board

F = TypeVar("F", bound=Callable[..., Any])
_MARK = "__board_tool__"


@dataclass(frozen=True, slots=True)
class Marks:
    """`caller` is the parameter that holds who calls: filled in, whatever was passed, and hidden from models.

    `gated` tools are off until a team file allows them by name. A tool that only `reads` may run beside others.
    """

    caller: str = ""
    gated: bool = False
    reads: bool = False


def board_tool(*, caller: str = "", gated: bool = False, reads: bool = False) -> Callable[[F], F]:
    """Mark a method of a `Tools` class as a tool: hints make the schema, the docstring the descriptions."""

    def mark(method: F) -> F:
        setattr(method, _MARK, Marks(caller, gated, reads))
        return method

    return mark


def marks_of(method: object) -> Marks | None:
    """A method's marks; None where it is no tool."""
    found = getattr(method, _MARK, None)
    return found if isinstance(found, Marks) else None


class Tools:
    """The tools of one subject, for one caller. Methods return what becomes JSON, and raise `BoardError`."""

    def __init__(self, board: Board, caller: Caller) -> None:
        self.board = board
        self.caller = caller
