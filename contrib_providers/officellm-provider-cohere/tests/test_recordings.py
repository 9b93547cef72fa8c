"""Every recorded exchange means to us what it means to the vendor's own SDK, and its request can be built again."""

from __future__ import annotations

from pathlib import Path

from officellm.testing import RecordingsContract


class TestRecordings(RecordingsContract):
    name = "cohere"
    formats = ("cohere_v2",)
    folder = Path(__file__).parents[4] / "shared" / "recordings"
