"""The built-in router `keyword` keeps the router contract."""

from __future__ import annotations

from typing import ClassVar

from officellm.testing.contracts import RouterContract


class TestKeyword(RouterContract):
    name = "keyword"
    settings: ClassVar = {"routes": {"article": "editor", "write": ["writer", "editor"]}, "default": "researcher"}


class TestKeywordByDefault(RouterContract):
    """No keyword in the task."""

    name = "keyword"
    settings: ClassVar = {"routes": {"sql": "editor"}, "default": "researcher"}


class TestKeywordWithoutDefault(RouterContract):
    name = "keyword"
    settings: ClassVar = {"routes": {"tide pools": "writer"}, "match": "substring"}
