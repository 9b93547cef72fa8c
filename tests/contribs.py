"""Run by tox: installs every contributed package from source, then runs each one's tests and types in its own folder.

`python contribs.py [NAME...]`. They are installed after officellm, never as dependencies of its environment: pip would
ask the index for officellm otherwise.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run(*command: str, folder: Path = ROOT) -> int:
    """A command's exit code, with its output shown."""
    print("+", folder.name, *command[2:], flush=True)
    return subprocess.run(command, cwd=folder, check=False).returncode


def extra_packages(folder: Path) -> list[str]:
    """What a package's tests need and its metadata cannot say: packages to install without their dependencies."""
    settings = tomllib.loads((folder / "pyproject.toml").read_text())
    return list(settings.get("tool", {}).get("contribs", {}).get("no-deps", []))


def main(names: list[str]) -> int:
    """0 only where everything passed."""
    folders = sorted(path.parent for path in ROOT.glob("contrib_*/*/pyproject.toml"))
    chosen = [folder for folder in folders if not names or folder.name in names]
    if not chosen:
        print(f"no package of {', '.join(names)}; there are {', '.join(folder.name for folder in folders)}")
        return 2
    python = sys.executable
    if run(python, "-m", "pip", "install", "-q", *map(str, chosen)):
        return 1
    failed = []
    for folder in chosen:
        for extra in extra_packages(folder):
            if run(python, "-m", "pip", "install", "-q", "--no-deps", extra):
                failed.append(f"{folder.name}: {extra}")
        for tool in ("pytest", "mypy"):
            if run(python, "-m", tool, *(["-q"] if tool == "pytest" else []), folder=folder):
                failed.append(f"{folder.name}: {tool}")
    print(f"{len(chosen)} packages, failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
