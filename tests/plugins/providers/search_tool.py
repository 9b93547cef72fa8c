"""The one tool that the tests of wire formats offer."""

from __future__ import annotations

from officellm import ToolSpec

TOOL = ToolSpec(
    "search", "Finds pages.", {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
)
