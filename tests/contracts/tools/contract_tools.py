"""Tools of the catalog that the contract of `python` is run on."""

from __future__ import annotations

from officellm import tool


@tool
def add(first: int, second: int = 1) -> int:
    """Add two numbers."""
    return first + second


@tool
async def shout(text: str) -> str:
    """Say it loud."""
    return text.upper()
