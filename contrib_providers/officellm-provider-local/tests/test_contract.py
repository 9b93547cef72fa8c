"""The suite that every provider without a server passes, over the real model."""

from __future__ import annotations

from typing import ClassVar

from officellm.testing import InProcessProviderContract


class TestLocal(InProcessProviderContract):
    name = "local"
    brief: ClassVar = {"max_tokens": 8}
    lasting: ClassVar = {"max_tokens": 1500, "temperature": 1.5, "min_p": 0.2, "seed": 7}
