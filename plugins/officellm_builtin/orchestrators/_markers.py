"""Hand-over markers in prose, `[HANDOFF:agent:reason]`, for prompts that were written for them. Pure."""

from __future__ import annotations

import re

from officellm import TransferRequest

_MARKER = re.compile(r"\[HANDOFF:([A-Za-z0-9_.-]+):([^\]]+)\]")
_FENCE = re.compile(r"^\s*```\w*\s*$", re.MULTILINE)


def marked(text: str) -> TransferRequest | None:
    """The first marker of a text as a transfer; what follows it is the query, maybe empty. None without a marker."""
    found = _MARKER.search(text)
    if found is None:
        return None
    # Fences that held the marker say nothing to the next agent.
    query = text[found.end() :]
    if text[: found.start()].count("```") % 2:
        query = _FENCE.sub("", query, count=1)
    return TransferRequest(found[1], found[2].strip(), query.strip())
