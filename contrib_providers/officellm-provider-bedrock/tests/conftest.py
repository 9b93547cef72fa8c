"""No credentials and no region of the machine that the tests run on; each test sets its own."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def no_aws(monkeypatch):
    for name in os.environ:
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
