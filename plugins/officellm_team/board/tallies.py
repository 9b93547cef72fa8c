"""Counts what memories cost: kept in the process, and added to the table `counters` with the next write.

A search must not wait for a writer only to be counted; a process that dies loses what it had not written yet.
"""

from __future__ import annotations

from collections import Counter
from threading import Lock
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite

from officellm_team.board.tables import COUNTERS

NAMES = ("embed_calls", "embed_tokens_est", "search_calls", "write_calls")


class Tallies:
    """Counts by name, for all threads of a process."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = Lock()

    def add(self, name: str, count: int = 1) -> None:
        """Count one of `NAMES`."""
        with self._lock:
            self._counts[name] += count

    def flush(self, connection: Connection) -> None:
        """Add what was counted to the table, in the transaction of a write."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        make: Any = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
        for name, count in sorted(counts.items()):
            statement = make(COUNTERS).values(name=name, value=count)
            added = {"value": COUNTERS.c.value + statement.excluded.value}
            connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=added))


def totals(connection: Connection) -> dict[str, int]:
    """All counts so far."""
    found = {row.name: int(row.value) for row in connection.execute(select(COUNTERS.c.name, COUNTERS.c.value))}
    return {name: found.get(name, 0) for name in NAMES}
