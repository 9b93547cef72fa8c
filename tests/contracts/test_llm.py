"""The built-in router `llm` keeps the router contract."""

from __future__ import annotations

from typing import ClassVar

from officellm.testing.contracts import RouterContract


class TestLlm(RouterContract):
    name = "llm"


class TestLlmWithDefault(RouterContract):
    name = "llm"
    settings: ClassVar = {"default": "editor"}


class TestLlmThatMustBeSure(RouterContract):
    name = "llm"
    settings: ClassVar = {"minimum_confidence": 0.8}


class TestLlmAnsweredWithABareName(RouterContract):
    name = "llm"

    def says(self, agent):
        return f"- **{agent}**."
