"""Notices that a board changed, so that a team need not wait for its next look."""

from __future__ import annotations

import asyncio

from officellm_team.board.store import Board

#: How often a file is asked whether it changed, in seconds: a pragma that reads no table.
_ASK_SECONDS = 0.1


class Wake:
    """Of one board. On SQLite it asks the file; on PostgreSQL a team looks as often as it polls."""

    def __init__(self, board: Board) -> None:
        self._connection = board.engine.raw_connection() if board.is_sqlite else None
        self._version = self._ask()

    def _ask(self) -> int:
        if self._connection is None:
            return 0
        cursor = self._connection.cursor()
        try:
            return int(cursor.execute("PRAGMA data_version").fetchone()[0])
        finally:
            cursor.close()

    async def changed(self, longest: float) -> None:
        """Return once another connection wrote something, or after `longest` seconds."""
        if self._connection is None:
            await asyncio.sleep(min(longest, 1.0))
            return
        loop = asyncio.get_running_loop()
        end = loop.time() + longest
        while loop.time() < end:
            await asyncio.sleep(min(_ASK_SECONDS, max(0.0, end - loop.time())))
            version = self._ask()
            if version != self._version:
                self._version = version
                return

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
