"""Records of the board as text for a terminal: columns for lists, one key a line for one record, JSON.

What is on a board was written by others: no control character of theirs is left in what this module gives.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

#: The widest that a column but the last may be, and the last one.
_WIDEST = 36
_WIDEST_LAST = 160


def lines_of(found: Any, *columns: str) -> list[str]:
    """A list as columns; a mapping with one key a line, without what is empty."""
    if isinstance(found, Mapping):
        return [f"{key}: {said(value)}" for key, value in found.items() if value not in ("", None, [], {})]
    if not found:
        return ["none"]
    rows = [[said(row.get(name, "")) for name in columns] for row in found]
    most = [*[_WIDEST] * (len(columns) - 1), _WIDEST_LAST]
    cut = [[_cut(cell, width) for cell, width in zip(row, most, strict=True)] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cut, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cut]


def tree_lines(node: Mapping[str, Any], depth: int = 0) -> list[str]:
    """A task with its parts below it, indented."""
    lines = [f"{'  ' * depth}{node['id']}  {node['state']}  {_cut(said(node['title']), _WIDEST_LAST)}"]
    for child in node["children"]:
        lines += tree_lines(child, depth + 1)
    return lines


def said(value: Any) -> str:
    """The value on one line, whatever was written into it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return " ".join(printable(text).split())


def printable(text: str) -> str:
    """The text with a blank for each character that a terminal obeys instead of showing it."""
    return "".join(character if character.isprintable() else " " for character in text)


def json_text(value: Any) -> str:
    """Indented JSON; what a terminal would obey is escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return "".join(one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in text)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."
