"""The built-in catalog `python` keeps the catalog contract."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from officellm.testing.contracts import CatalogContract, ToolUse

FOLDER = str(Path(__file__).with_name("tools"))


class TestPython(CatalogContract):
    name = "python"
    settings: ClassVar = {"modules": ["contract_tools"], "path": [FOLDER]}
    uses = (
        ToolUse(tool="add", arguments={"first": 40, "second": 2}, answer="42"),
        ToolUse(tool="add", arguments={"first": 40}, answer="41"),
        ToolUse(tool="shout", arguments={"text": "ahoy"}, answer="AHOY"),
    )
