"""Notices that a board changed, so that a team need not wait for its next look."""

from __future__ import annotations

import asyncio
from typing import Protocol

from officellm_team.board.store import Board

#: How often a file is asked whether it changed, in seconds: a pragma that reads no table.
_ASK_SECONDS = 0.1


class Wake(Protocol):
    """Of one board and one team."""

    async def changed(self, longest: float) -> None:
        """Return once somebody queued work, or wrote anything, or after `longest` seconds."""

    async def close(self) -> None:
        """Give the connection back."""


def wake_of(board: Board) -> Wake:
    """SQLite's file is asked; PostgreSQL tells."""
    if board.is_sqlite:
        return Asking(board)
    from officellm_team.team.listening import Listening

    return Listening(board)


class Asking:
    """`Wake` on SQLite."""

    def __init__(self, board: Board) -> None:
        self._connection = board.engine.raw_connection()
        self._version = self._ask()

    def _ask(self) -> int:
        cursor = self._connection.cursor()
        try:
            return int(cursor.execute("PRAGMA data_version").fetchone()[0])
        finally:
            cursor.close()

    async def changed(self, longest: float) -> None:
        """Return once another connection wrote something, or after `longest` seconds."""
        loop = asyncio.get_running_loop()
        end = loop.time() + longest
        while loop.time() < end:
            await asyncio.sleep(min(_ASK_SECONDS, max(0.0, end - loop.time())))
            version = self._ask()
            if version != self._version:
                self._version = version
                return

    async def close(self) -> None:
        """Give the connection back."""
        self._connection.close()
