"""What a peer's module says of itself, and which interpreter runs it.

A module in `bench/peers/` has, beside its docstring:

- `PACKAGE`: the distribution whose version is shown; empty for none
- `REQUIREMENTS`: pinned, for its own virtual environment; none for what runs in this interpreter
- `WIRES` and `MODES`: what it speaks of openai, anthropic, gemini, and of whole, streamed
- `SETUP`: in words, how it is set up and which knob the limit of requests is
- `ENV`: environment variables, where it needs any
- `async def run(url, wire, streamed, tools, limit) -> (answer, error)`: one agent, the prompt "go", once; `error` is
  None only where the peer itself calls that a success, and an exception counts as an error

At its top it imports the standard library only: this process reads it too.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

WIRES = ("openai", "anthropic", "gemini")
MODES = ("whole", "streamed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """One column: a framework, its module and its interpreter."""

    name: str
    path: Path
    package: str
    requirements: tuple[str, ...]
    wires: tuple[str, ...]
    modes: tuple[str, ...]
    setup: str
    env: Mapping[str, str]
    python: Path

    @property
    def installed(self) -> bool:
        """Whether its interpreter is there."""
        return self.python.exists()

    def install(self) -> None:
        """Make its virtual environment. Raises `CalledProcessError`."""
        print(f"installing {self.name}: {' '.join(self.requirements)}", file=sys.stderr, flush=True)
        venv.create(self.python.parent.parent, with_pip=True, clear=True)
        try:
            command = [str(self.python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
            subprocess.run([*command, *self.requirements], check=True)
        except BaseException:
            self.python.unlink(missing_ok=True)  # half an environment is none
            raise


def find_peer(name: str, folder: Path, venvs: Path, python: Path | None = None) -> Peer:
    """The peer of that name. Raises `LookupError` with the names that there are."""
    path = folder / f"{name}.py"
    if not path.is_file():
        known = ", ".join(sorted(one.stem for one in folder.glob("*.py")))
        raise LookupError(f"there is no peer {name!r}; there are {known}")
    spec = importlib.util.spec_from_file_location(f"peer_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if python is None:
        bin = venvs / name / ("Scripts" if os.name == "nt" else "bin")
        python = bin / Path(sys.executable).name if module.REQUIREMENTS else Path(sys.executable)
    return Peer(
        name=name,
        path=path,
        package=module.PACKAGE,
        requirements=tuple(module.REQUIREMENTS),
        wires=tuple(module.WIRES),
        modes=tuple(module.MODES),
        setup=module.SETUP,
        env=getattr(module, "ENV", {}),
        python=python,
    )
