"""Brings a board's database to the present schema, once, however many processes open it at the same time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

if TYPE_CHECKING:
    from officellm_team.board.store import Board

#: The newest revision in `migrations/versions`: a board that has it needs no Alembic. A test holds it to the folder.
HEAD = "0001"
#: Any number of our own: processes that migrate wait for each other.
_LOCK = 0x6F666669


def upgrade(board: Board) -> None:
    """Raises `OperationalError` for a database that cannot be opened."""
    with board.engine.connect() as connection:
        if _revision(connection) == HEAD:
            return
    with board.write() as connection:
        if not board.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        if _revision(connection) != HEAD:
            _run(connection)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _run(connection: Connection) -> None:
    # Imported where there is something to migrate only: Alembic takes longer to load than a board to open.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
