"""Run by tox: `python wheel_check.py DIST` looks into the built wheel, installs it alone, and runs it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

PACKAGES = ("officellm", "officellm_builtin", "officellm_team")
#: What is no Python module and easily left out.
FILES = (
    *(f"{package}/py.typed" for package in PACKAGES),
    "officellm_team/board/migrations/env.py",
    "officellm_team/board/migrations/script.py.mako",
    "officellm_team/board/migrations/versions/0001_board.py",
)
#: What the wheel alone does: a command, its exit code, and a part of what it says.
ALONE = (
    (["--help"], 0, "testing"),
    (["plugins"], 0, "openai_compat"),
    (["team", "init"], 0, "wrote team.yaml"),
    (["team", "run"], 2, "pip install 'officellm[team]'"),
    (["board", "--board", "team.yaml", "tasks"], 2, "pip install 'officellm[team]'"),
    (["mcp", "--as", "a"], 2, "pip install 'officellm[team,mcp]'"),
    (["team", "check"], 1, "pip install 'officellm[team]'"),
)


def main(dist: Path) -> None:
    """Exit with a message where something is wrong."""
    (wheel,) = dist.glob("*.whl")
    (sdist,) = dist.glob("*.tar.gz")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    extra = {top for top in tops - set(PACKAGES) if not top.endswith(".dist-info")}
    if extra or not set(PACKAGES) <= tops:
        raise SystemExit(f"the wheel holds {sorted(tops)}")
    missing = [name for name in FILES if name not in names]
    if missing:
        raise SystemExit(f"the wheel lacks {missing}")
    for package_file in (wheel, sdist):
        with tempfile.TemporaryDirectory() as folder:
            python = _installed(Path(folder, "venv"), package_file)
            for command, code, said in ALONE:
                _run(python, folder, command, code, said)
    print(f"{wheel.name}: {len(names)} files, installs and runs from wheel and sdist")


def _installed(folder: Path, package_file: Path) -> str:
    """The Python of a new environment that has this package and what it needs."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", str(package_file)], check=True)
    return python


def _run(python: str, folder: str, command: list[str], code: int, said: str) -> None:
    done = subprocess.run(
        [python, "-m", "officellm", *command], cwd=folder, capture_output=True, text=True, check=False
    )
    output = done.stdout + done.stderr
    if done.returncode != code or said not in output or "Traceback" in output:
        raise SystemExit(
            f"officellm {' '.join(command)} ended with {done.returncode}, not {code} and {said!r}:\n{output}"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
