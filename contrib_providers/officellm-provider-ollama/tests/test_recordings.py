"""Every recorded exchange means to us what it means to the vendor's own SDK, and its request can be built again."""

from __future__ import annotations

from pathlib import Path

from officellm.testing import RecordingsContract


class TestRecordings(RecordingsContract):
    name = "ollama"
    formats = ("ollama_chat", "ollama_generate")
    folder = Path(__file__).parents[4] / "shared" / "recordings"
