"""What agents, tasks and notifications check of their arguments beyond `texts`: names, mappings, bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from officellm_team.board.errors import BoardError
from officellm_team.board.store import dumped
from officellm_team.board.texts import checked

#: As long as the columns that hold names.
MAX_NAME = 200
#: The largest number that a key can be.
MAX_ID = 2**63 - 1


def name(what: str, value: str, limit: int = MAX_NAME) -> str:
    """A name without the blanks around it. Raises `BoardError` for one that is blank, too long or cannot be stored."""
    if not value.strip():
        raise BoardError("invalid_arguments", f"{what} is blank.")
    return checked(what, value.strip(), limit)


def mapping(what: str, value: Mapping[str, Any]) -> str:
    """JSON text of a mapping. Raises `BoardError` for one that is too long or no JSON."""
    try:
        said = dumped(dict(value))
    except (TypeError, ValueError):
        raise BoardError("invalid_arguments", f"{what} is no JSON.") from None
    return checked(what, said)


def clamp(value: int, least: int, most: int) -> int:
    """The nearest number within the bounds."""
    return max(least, min(value, most))
