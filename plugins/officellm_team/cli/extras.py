"""What is said where an optional package is missing: which one, and what installs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from officellm import ConfigError

#: Packages that the extras `team` and `mcp` bring, as they are imported.
_OPTIONAL = frozenset({"sqlalchemy", "alembic", "psycopg", "mcp", "anyio", "uvicorn", "starlette"})


@contextmanager
def needing(extras: str) -> Iterator[None]:
    """Imports inside this block may fail for a package of these extras: a `ConfigError` names both."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _OPTIONAL:
            raise
        raise ConfigError(f"this needs the package {package}: pip install 'officellm[{extras}]'") from None
