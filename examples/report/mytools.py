"""The tools of the example: they search the notes beside this file."""

import re
from pathlib import Path

from officellm import tool

NOTES = Path(__file__).parent / "notes"
COMMON = frozenset(
    ["a", "an", "and", "did", "do", "for", "how", "in", "is", "much", "of", "on", "the", "to", "was", "what"]
)


@tool
def search_garden(query: str) -> str:
    """Searches the notes about the roof garden: bees, plants, watering. Returns the best note."""
    return best_note("garden", query)


@tool
def search_accounts(query: str) -> str:
    """Searches the notes about money: sales, costs, visitors. Returns the best note."""
    return best_note("accounts", query)


def best_note(folder: str, query: str) -> str:
    """The note that shares the most words with the query."""
    wanted = words(query)
    notes = [path.read_text(encoding="utf-8") for path in sorted((NOTES / folder).glob("*.md"))]
    best = max(notes, key=lambda note: len(wanted & words(note)))
    return best if wanted & words(best) else f"No note about {query!r}."


def words(text: str) -> set[str]:
    """The words of a text that say something, without the plural s."""
    return {word.rstrip("s") for word in re.findall(r"\w+", text.lower()) if word not in COMMON}
