"""Search by words, in the full-text index of either database. Better matches score higher, between 0 and 1.

Memories that hold all words come first and score from 0.5 to 1; those that hold some of them fill up what is missing
and score below 0.5. Within each half a score is relative to the best match there, so that the scores of the two
databases, whose own numbers mean different things, can be compared.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, func, literal_column, select, text
from sqlalchemy.sql.elements import ColumnElement

from officellm_team.board.queries import Joined, Terms
from officellm_team.board.records import M
from officellm_team.board.tables import MEMORIES

#: How much more a word in the title counts. PostgreSQL's own weights for titles and contents are 1 and 0.4.
_TITLE = 2.5
#: So many best matches are looked at first; all of them only if too few of these may be shown.
_FIRST = 400

Scores = dict[str, float]


def keyword_scores(connection: Connection, terms: Terms, wanted: ColumnElement[bool], count: int) -> Scores:
    """The best matches among the wanted memories, id to score, best first."""
    if not terms.terms:
        return {}
    best = _scaled(_matches(connection, terms, "all", wanted, count), 0.5, 1.0)
    if len(best) < count and len(terms.terms) > 1:
        some = _matches(connection, terms, "any", wanted, count)
        for id, score in _scaled({id: raw for id, raw in some.items() if id not in best}, 0.0, 0.49).items():
            if len(best) < count:
                best[id] = score
    return best


def _matches(connection: Connection, terms: Terms, joined: Joined, wanted: ColumnElement[bool], count: int) -> Scores:
    if connection.dialect.name != "sqlite":
        return _rows(connection, _postgresql(terms.tsquery(joined)).where(wanted).limit(count))
    first = max(_FIRST, count)
    found = _rows(connection, _sqlite(terms.fts5(joined), first).where(wanted).limit(count))
    if len(found) < count:
        total = connection.execute(_matching(terms.fts5(joined), first + 1)).scalar_one()
        if total > first:
            return _rows(connection, _sqlite(terms.fts5(joined), -1).where(wanted).limit(count))
    return found


def _rows(connection: Connection, query: Select[Any]) -> Scores:
    return {row[0]: max(0.0, float(row[1])) for row in connection.execute(query)}


def _sqlite(expression: str, limit: int) -> Select[Any]:
    hits = (
        text(
            "SELECT rowid AS seq, -rank AS score FROM memory_fts WHERE memory_fts MATCH :expression "
            f"AND rank MATCH 'bm25({_TITLE}, 1.0)' ORDER BY rank LIMIT :first"
        )
        .bindparams(expression=expression, first=limit)
        .columns(literal_column("seq"), literal_column("score"))
        .subquery("hits")
    )
    return (
        select(M.id, hits.c.score)
        .select_from(hits.join(MEMORIES, M.seq == hits.c.seq))
        .order_by(hits.c.score.desc(), M.seq.desc())
    )


def _matching(expression: str, limit: int) -> Select[Any]:
    hits = (
        text("SELECT rowid AS seq FROM memory_fts WHERE memory_fts MATCH :expression LIMIT :first")
        .bindparams(expression=expression, first=limit)
        .columns(literal_column("seq"))
        .subquery("hits")
    )
    return select(func.count()).select_from(hits)


def _postgresql(expression: str) -> Select[Any]:
    query = func.to_tsquery("english", expression)
    index: ColumnElement[Any] = literal_column("memory_items.search")
    score = func.ts_rank(index, query)
    return select(M.id, score).where(index.op("@@")(query)).order_by(score.desc(), M.seq.desc())


def _scaled(scores: Scores, low: float, high: float) -> Scores:
    best = max(scores.values(), default=0.0)
    return {id: low + (high - low) * (score / best if best else 1.0) for id, score in scores.items()}
