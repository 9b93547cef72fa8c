"""Search over many memories: `python bench/board_search.py [--rows 100000] [--board postgresql://...]`.

Fills an empty board with made-up notes whose words are as unevenly common as those of a language, searches them by
keyword, and prints the times of one search in milliseconds, by kind of query, with the size of the board.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import insert, text

from officellm_team.board.caller import Caller
from officellm_team.board.records import sha256
from officellm_team.board.search import Search, search
from officellm_team.board.store import Board, new_id
from officellm_team.board.tables import MEMORIES

AGENTS = 20
VOCABULARY = 20_000
WORDS = 40
BATCH = 5_000
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


def vocabulary(random_: random.Random) -> list[str]:
    """Made-up words, the most common first."""
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        words["".join(random_.choices(_SYLLABLES, k=random_.choice((2, 3, 3, 4))))] = None
    return list(words)


def weights(words: list[str]) -> list[float]:
    """Accumulated, after Zipf: the word at rank r is about 1/r as common as the first."""
    return list(itertools.accumulate(1 / (rank + 10) for rank in range(len(words))))


def fill(board: Board, rows: int, words: list[str], random_: random.Random) -> None:
    common = weights(words)
    start, first = time.time(), 1
    while first <= rows:
        batch = []
        for seq in range(first, min(first + BATCH, rows + 1)):
            picked = random_.choices(words, cum_weights=common, k=WORDS)
            content = " ".join(picked[3:])
            batch.append(
                {"id": new_id(), "seq": seq, "type": "note", "title": " ".join(picked[:3]), "content": content}
                | {
                    "agent_id": f"agent{seq % AGENTS}",
                    "scope": ("agent", "org")[seq % 2],
                    "content_hash": sha256(content),
                }
                | {"created_at": start, "updated_at": start}
            )
        with board.write() as connection:
            connection.execute(insert(MEMORIES), batch)
        first += BATCH
    with board.write() as connection:
        connection.execute(text("ANALYZE"))


def queries(words: list[str], random_: random.Random) -> Iterator[tuple[str, str]]:
    """Kinds of queries, each with one."""
    common = weights(words)
    while True:
        one, two, three = random_.choices(words, cum_weights=common, k=3)
        yield "word", one
        yield "commonest word", words[random_.randrange(10)]
        yield "beginning of a word", random_.choice(words)[:4]
        yield "three words", f"{one} {two} {three}"
        yield "sentence", f"how do we {one} the {two} with {three} and {random_.choice(words)}?"
        yield "phrase", f'"{one} {two}"'


def measure(board: Board, words: list[str], count: int, random_: random.Random) -> None:
    times: dict[str, list[float]] = {}
    for kind, query in itertools.islice(queries(words, random_), count):
        start = time.perf_counter()
        search(board, Caller(f"agent{random_.randrange(AGENTS)}"), Search(query=query, mode="keyword"))
        times.setdefault(kind, []).append((time.perf_counter() - start) * 1000)
    times["all"] = [one for several in times.values() for one in several]
    for kind, taken in times.items():
        print(f"{kind:20} n={len(taken):4}  p50 {statistics.median(taken):7.1f} ms  p95 {_p95(taken):7.1f} ms")


def _p95(taken: list[float]) -> float:
    return sorted(taken)[min(len(taken) - 1, int(len(taken) * 0.95))]


def sizes(board: Board) -> str:
    """Rows, and the bytes of the text index and of all."""
    with board.read() as connection:
        rows = connection.execute(text("SELECT count(*) FROM memory_items")).scalar_one()
        if board.is_sqlite:
            index = connection.execute(text("SELECT sum(length(block)) FROM memory_fts_data")).scalar_one()
            whole = Path(board.url).stat().st_size
        else:
            index = connection.execute(text("SELECT pg_relation_size('ix_memory_items_search')")).scalar_one()
            whole = connection.execute(text("SELECT pg_total_relation_size('memory_items')")).scalar_one()
    return f"{rows} rows, text index {index / 1e6:.1f} MB, all {whole / 1e6:.1f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--board", help="an empty board: a path or postgresql://...; a file of its own by default")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--searches", type=int, default=600)
    options = parser.parse_args()
    random_ = random.Random(7)
    words = vocabulary(random_)
    with tempfile.TemporaryDirectory() as folder:
        board = Board(options.board or Path(folder) / "board.db")
        start = time.perf_counter()
        fill(board, options.rows, words, random_)
        print(f"filled in {time.perf_counter() - start:.1f} s: {sizes(board)}")
        measure(board, words, options.searches, random_)
        board.close()


if __name__ == "__main__":
    main()
