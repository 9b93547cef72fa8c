"""Reads a query as it was typed, and says it in the language of either full-text index: no text is a syntax error.

Words are what stands between spaces and punctuation; several in quotes are a phrase. A word that stands alone is also
the beginning of a longer one. Words that say nothing are left out where others remain.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from officellm_team.board.texts import searchable

MAX_QUERY = 2_000
#: What a longer query says beyond these, its first words have said.
MAX_TERMS = 24
#: The same characters end a word in the index of PostgreSQL (see the migration).
_BREAKS = re.compile(
    r"[\s\x00-\x1f!-/:-@\[-`{-~"
    r"\u00a0-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u2000-\u206f\u3000-\u3003\u3008-\u3020]+"
)
_QUOTED = re.compile(r'"([^"]*)"')
_SAY_NOTHING = """
a about an and are as at be been but by can could did do does for from had has have how i if in into is it its me my no
not of on or our s should so t than that the their them then there these they this to was we were what when where which
who why will with would you your
"""
_EMPTY = frozenset(_SAY_NOTHING.split())
Joined = Literal["all", "any"]


@dataclass(frozen=True, slots=True)
class Terms:
    """What is looked for: each term is one word, or the words of a phrase."""

    terms: tuple[tuple[str, ...], ...]
    #: Whether the last term may go on.
    prefix: bool

    def fts5(self, joined: Joined) -> str:
        """An expression of SQLite's FTS5."""
        said = [f'"{" ".join(term)}"' for term in self.terms]
        if self.prefix:
            said[-1] += "*"
        return (" AND " if joined == "all" else " OR ").join(said)

    def tsquery(self, joined: Joined) -> str:
        """An expression for PostgreSQL's `to_tsquery`."""
        said = ["(" + " <-> ".join(f"'{_escaped(word)}'" for word in term) + ")" for term in self.terms]
        if self.prefix:
            said[-1] = said[-1].removesuffix(")") + ":*)"
        return (" & " if joined == "all" else " | ").join(said)


def read_query(query: str) -> Terms:
    """The terms of a query; none where it has no words."""
    text = searchable(query)[:MAX_QUERY]
    phrases: list[tuple[str, ...]] = [words for quoted in _QUOTED.findall(text) if (words := _words(quoted))]
    single: list[tuple[str, ...]] = [(word,) for word in _words(_QUOTED.sub(" ", text))]
    prefix = len(single) == 1 and not phrases
    telling = [term for term in single if term[0].casefold() not in _EMPTY]
    terms = dict.fromkeys(phrases + (telling or ([] if phrases else single)))
    return Terms(tuple(terms)[:MAX_TERMS], prefix)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in _BREAKS.split(text) if word)


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("'", "''")
