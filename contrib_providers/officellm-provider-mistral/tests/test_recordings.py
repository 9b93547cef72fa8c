"""Every recorded exchange means to us what it means to the vendor's own SDK, and its request can be built again."""

from __future__ import annotations

from pathlib import Path

from officellm.testing import RecordingsContract


class TestRecordings(RecordingsContract):
    name = "mistral"
    formats = ("mistral",)
    folder = Path(__file__).parents[4] / "shared" / "recordings"
    says_cached = False  # the SDK that read the recordings has no such field
