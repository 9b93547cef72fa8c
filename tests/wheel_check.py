"""Run by tox: `python wheel_check.py DIST` looks into the built wheel, installs it alone, and runs it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path


def main(dist: Path) -> None:
    """Exit with a message where something is wrong."""
    (wheel,) = dist.glob("*.whl")
    (sdist,) = dist.glob("*.tar.gz")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    wanted = {"officellm", "officellm_builtin"}
    extra = {top for top in tops - wanted if not top.endswith(".dist-info")}
    if extra or not wanted <= tops:
        raise SystemExit(f"the wheel holds {sorted(tops)}")
    for package in wanted:
        if f"{package}/py.typed" not in names:
            raise SystemExit(f"{package}/py.typed is missing")
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder, "bin", "python"))
        for package_file in (wheel, sdist):
            subprocess.run([python, "-m", "pip", "install", "-q", "--force-reinstall", str(package_file)], check=True)
            listed = subprocess.run(
                [str(Path(folder, "bin", "officellm")), "plugins"], check=True, capture_output=True, text=True
            )
            if "openai_compat" not in listed.stdout:
                raise SystemExit(f"the installed wheel lists no plugins:\n{listed.stdout}")
    print(f"{wheel.name}: {len(names)} files, installs and runs from wheel and sdist")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
