"""PostgreSQL tells a team that work was queued: `LISTEN` on a connection of its own, which the event loop watches."""

from __future__ import annotations

import asyncio
import contextlib
import logging

import psycopg

from officellm import in_thread
from officellm_team.board.notifications import CHANNEL
from officellm_team.board.store import Board

log = logging.getLogger("officellm")


class Listening:
    """`Wake` on PostgreSQL. A connection that broke is opened again; until then the team looks as often as it polls."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._loop = asyncio.get_running_loop()
        self._told = asyncio.Event()
        self._connection: psycopg.Connection[object] | None = None
        self._connecting: asyncio.Task[psycopg.Connection[object]] | None = None

    async def changed(self, longest: float) -> None:
        """Return once work was queued, or after `longest` seconds."""
        if self._connection is None and self._connecting is None:
            self._connecting = asyncio.create_task(in_thread(self._connect))
            self._connecting.add_done_callback(self._connected)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._told.wait(), longest)
        self._told.clear()

    async def close(self) -> None:
        """Hang up."""
        if self._connecting is not None:
            await asyncio.wait([self._connecting])
        self._hang_up()

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._loop.remove_reader(self._connection.fileno())
            self._connection.close()
            self._connection = None

    def _connect(self) -> psycopg.Connection[object]:
        engine = self._board.engine
        arguments, options = engine.dialect.create_connect_args(engine.url)
        connection: psycopg.Connection[object] = psycopg.connect(*arguments, **options, autocommit=True)
        connection.execute(f"LISTEN {CHANNEL}")
        return connection

    def _connected(self, connecting: asyncio.Task[psycopg.Connection[object]]) -> None:
        self._connecting = None
        error = connecting.exception()
        if error is not None:
            log.warning("the board cannot tell of new work: %r", error)
            return
        self._connection = connecting.result()
        self._loop.add_reader(self._connection.fileno(), self._read)
        self._told.set()  # what was queued before it listened is found by a look

    def _read(self) -> None:
        assert self._connection is not None
        waiting = self._connection.pgconn
        try:
            waiting.consume_input()
        except psycopg.OperationalError as error:
            log.warning("the board tells no more of new work: %s", error)
            self._hang_up()
            self._told.set()
            return
        while waiting.notifies() is not None:
            self._told.set()
