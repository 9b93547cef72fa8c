"""What can go wrong at the board, as codes that a model and a program can act on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from officellm import OfficeError, nearest

Code = Literal[
    "not_found",
    "invalid_arguments",
    "invalid_state",
    "illegal_transition",
    "agent_not_registered",
    "already_acked",
    "not_allowed",
    "ambiguous_id",
    "content_too_large",
    "cycle",
    "not_configured",
    "stale_lease",
]


class BoardError(OfficeError):
    """A refusal of the board: nothing was changed. `hint` says what would be right."""

    def __init__(self, code: Code, message: str, *, hint: str = "") -> None:
        self.code = code
        self.hint = hint
        self.message = message
        super().__init__(f"{message} {hint}".strip())

    def to_dict(self) -> dict[str, Any]:
        """The JSON form that tools answer with."""
        said = {"code": self.code, "message": self.message}
        return {"error": {**said, "hint": self.hint} if self.hint else said}


def not_found(what: str, id: str, known: Iterable[str] = ()) -> BoardError:
    """`task 'x' is not on the board`, with the nearest id."""
    return BoardError("not_found", f"{what} {id!r} is not on the board.", hint=nearest(id, known).strip())


def one_of(what: str, value: str, legal: Iterable[str]) -> BoardError:
    """`state 'done' is not one of ...`, with the nearest word."""
    words = list(legal)
    hint = f"{nearest(value, words).strip()} One of: {', '.join(words)}."
    return BoardError("invalid_arguments", f"{what} {value!r} is unknown.", hint=hint)
