"""One trial of one peer, in the peer's own interpreter: `python -P harness.py JOB`, a JSON object.

What the tools saw and how the run ended goes to the job's file, a JSON line each, at once: a peer that hangs or dies
leaves behind what it did. Standard library only.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

_LOCK = threading.Lock()


def note(**said: Any) -> None:
    """Add a line to the job's file. Tools may run in threads."""
    with _LOCK, JOB.open("a", encoding="utf-8") as out:
        out.write(json.dumps(said, default=repr) + "\n")


# Tools are plain functions of a module: some peers read their source, hints and docstrings.
def rec(x: str) -> str:
    """Record x.

    Args:
        x: what to record
    """
    note(call=["rec", {"x": x}])
    return f"ok {x}"


def noargs() -> str:
    """Take no arguments."""
    note(call=["noargs", {}])
    return "ok nothing"


def boom() -> str:
    """Always fail."""
    note(call=["boom", {}])
    raise RuntimeError("kaboom")


def slow(x: str) -> str:
    """Record x, slowly.

    Args:
        x: what to record
    """
    note(call=["slow", {"x": x}])
    time.sleep(0.2)
    return f"ok {x}"


def load(path: str) -> Any:
    """The peer's module, under a name that hides no package."""
    spec = importlib.util.spec_from_file_location("peer", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["peer"] = module
    spec.loader.exec_module(module)
    return module


def main(job: dict[str, Any]) -> None:
    """Run the agent once and note the answer and the error."""
    answer: Any = None
    error: str | None = None
    try:
        peer = load(job["peer"])
        if peer.PACKAGE:
            note(version=importlib.metadata.version(peer.PACKAGE))
        made = peer.run(job["url"], job["wire"], job["streamed"], [rec, noargs, boom, slow], job["limit"])
        answer, error = asyncio.run(made)
    except BaseException as caught:  # noqa: BLE001 - whatever a peer raises is its outcome
        error = f"{type(caught).__name__}: {caught}"
    note(answer="" if answer is None else str(answer), error=error)


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    JOB = Path(given["out"])
    main(given)
