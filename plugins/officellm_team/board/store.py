"""Opens the board's database and hands out transactions. SQLite in one file, or PostgreSQL by URL."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError

from officellm import ConfigError
from officellm_team.board.helpers import Helpers
from officellm_team.board.tallies import Tallies

#: How long a writer waits for another one, in seconds.
BUSY_SECONDS = 30
_WRITES = "officellm_writes"


class Board:
    """One store, for as many threads and processes as you like. `url` is a path, or `postgresql://...`.

    `clock` gives seconds since the epoch; `helpers` are what makes memories more than texts. Raises `ConfigError` for
    what cannot be opened.
    """

    def __init__(
        self, url: str | Path, *, clock: Callable[[], float] = time.time, helpers: Helpers | None = None
    ) -> None:
        self.url = str(url)
        self.clock = clock
        self.helpers = helpers or Helpers()
        self.tallies = Tallies()
        self.engine = _engine(self.url)
        self._migrate()

    @property
    def is_sqlite(self) -> bool:
        """Whether it is one file on this machine."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that may write: all of it is kept, or nothing."""
        with self.engine.connect().execution_options(**{_WRITES: True}) as connection, connection.begin():
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the board."""
        with self.engine.connect() as connection, connection.begin():
            yield connection

    def now(self) -> float:
        """Seconds since the epoch."""
        return self.clock()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def _migrate(self) -> None:
        from officellm_team.board.migrate import upgrade

        try:
            upgrade(self)
        except OperationalError as error:
            raise ConfigError(f"board {_shown(self.url)}: {error.orig}") from None


def new_id() -> str:
    """A full id: ids are never cut."""
    return str(uuid.uuid4())


def dumped(value: Any) -> str:
    """JSON text for a column."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def loaded(text: str | None) -> Any:
    """What a column's JSON text says; an empty mapping where it is no JSON: a row must not break a listing."""
    try:
        return json.loads(text or "{}")
    except ValueError:
        return {}


def iso(moment: float | None) -> str | None:
    """A time as ISO 8601 in UTC, to the microsecond."""
    if moment is None:
        return None
    from datetime import UTC, datetime

    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _shown(url: str) -> str:
    """The address without a password."""
    try:
        return make_url(url).render_as_string(hide_password=True) if "://" in url else url
    except ArgumentError:
        return "with an address that cannot be read"


def _engine(url: str) -> Engine:
    try:
        if "://" not in url:
            return _sqlite(Path(url))
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite":
            return _sqlite(Path(parsed.database or ""))
        if parsed.get_backend_name() == "postgresql":
            return create_engine(parsed.set(drivername="postgresql+psycopg"), pool_size=5, max_overflow=15)
    except (ArgumentError, NoSuchModuleError) as error:
        raise ConfigError(f"board {_shown(url)}: {error}") from None
    except ModuleNotFoundError as error:
        raise ConfigError(f"board {_shown(url)} needs the package {error.name}: pip install officellm[team]") from None
    raise ConfigError(f"board {_shown(url)}: a board is a file, or postgresql://...")


def _sqlite(path: Path) -> Engine:
    if not path.parent.is_dir():
        raise ConfigError(f"board {path}: the folder {path.parent} does not exist")
    engine = create_engine(
        f"sqlite:///{path}", connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False}, pool_size=5
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        # The driver begins no transactions by itself: `write` and `read` say when.
        connection.isolation_level = None
        cursor = connection.cursor()
        for setting in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", f"busy_timeout={BUSY_SECONDS}000"):
            cursor.execute(f"PRAGMA {setting}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer takes the lock at once: a reader that wants to write later could not get it.
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


Row = Mapping[Any, Any]
