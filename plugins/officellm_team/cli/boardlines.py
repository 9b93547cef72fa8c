"""Records of the board as lines of text: columns for lists, one key a line for one record."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

#: The widest that a column but the last may be.
_WIDEST = 36


def lines_of(found: Any, *columns: str) -> list[str]:
    """Lines without control characters: what is on a board was written by others."""
    if isinstance(found, Mapping):
        return [f"{key}: {_said(value)}" for key, value in found.items() if value not in ("", None, [], {})]
    if not isinstance(found, Sequence) or isinstance(found, str):
        return [_said(found)]
    if not found:
        return ["none"]
    rows = [[_said(row.get(name, "")) for name in columns] for row in found]
    widths = [min(_WIDEST, max(len(row[at]) for row in rows)) for at in range(len(columns))]
    return ["  ".join(cell[:_WIDEST].ljust(width) for cell, width in _cells(row, widths)).rstrip() for row in rows]


def _cells(row: Sequence[str], widths: Sequence[int]) -> list[tuple[str, int]]:
    return list(zip(row, widths, strict=True))


def tree_lines(node: Mapping[str, Any], depth: int = 0) -> list[str]:
    """A task with its parts below it, indented."""
    node = node.get("tree", node)
    text = f"{'  ' * depth}{node.get('id', '')}  {node.get('state', '')}  {_said(node.get('title', ''))}"
    lines = [text]
    for child in node.get("children", ()):
        lines += tree_lines(child, depth + 1)
    return lines


def _said(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
