from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from officellm.wireformats import PACKAGES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("driver", "package"), PACKAGES.items())
def test_the_package_to_install_ships_the_driver_under_that_name(driver, package):
    settings = tomllib.loads((ROOT / "contrib_providers" / package / "pyproject.toml").read_text())

    assert settings["project"]["name"] == package
    assert driver in settings["project"]["entry-points"]["officellm.providers"]
