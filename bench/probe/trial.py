"""One trial: one peer, one case, one wire, streamed or not; a fake vendor and a process of its own for each."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from officellm.testing import FakeLLM, Record
from probe.peer import Peer

HARNESS = Path(__file__).with_name("harness.py")
#: How many model requests the agent may make.
LIMIT = 5
#: What a trial keeps of this process' environment: third-party code gets no key of the operator's.
_KEPT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR")
_KEYS = {"OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none", "GEMINI_API_KEY": "none"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What there is to judge."""

    #: Name and arguments of every call that reached a tool, in the order of their starts.
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    answer: str = ""
    #: None only where the peer itself calls the run a success.
    error: str | None = None
    #: Why the run did not come to an end of its own; None where it did.
    unended: str | None = None
    requests: Sequence[Record] = ()
    version: str = ""
    seconds: float = 0.0


async def attempt(peer: Peer, script: Any, wire: str, streamed: bool, seconds: float) -> Trial:
    """Run it. Whatever the peer does is a trial."""
    async with FakeLLM(script, strict=False) as llm:
        url = {"openai": llm.openai_url, "anthropic": llm.anthropic_url, "gemini": llm.gemini_url}[wire]
        with tempfile.TemporaryDirectory(prefix="faults-") as folder:
            out = Path(folder) / "trial.jsonl"
            job = {"peer": str(peer.path), "url": url, "wire": wire, "streamed": streamed, "limit": LIMIT}
            started = time.monotonic()
            unended = await _run(peer, {**job, "out": str(out)}, folder, seconds)
            took = time.monotonic() - started
            # A line without its end was being written when the process died.
            lines = out.read_text("utf-8").split("\n")[:-1] if out.exists() else []
        requests = tuple(llm.requests)
    noted = [json.loads(line) for line in lines]
    ends = [one for one in noted if "answer" in one]
    end = ends[-1] if ends else {"answer": "", "error": None}
    return Trial(
        calls=tuple((one["call"][0], one["call"][1]) for one in noted if "call" in one),
        answer=end["answer"],
        error=end["error"],
        unended=None if ends else unended or "its process ended without a word",
        requests=requests,
        version=next((one["version"] for one in noted if "version" in one), ""),
        seconds=took,
    )


async def _run(peer: Peer, job: Mapping[str, Any], home: str, seconds: float) -> str | None:
    """Why the process did not end well; None where it did."""
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environment |= {**_KEYS, "HOME": home, "PYTHONDONTWRITEBYTECODE": "1", **peer.env}
    nothing = asyncio.subprocess.DEVNULL
    pipes = {"stdin": nothing, "stdout": nothing, "stderr": asyncio.subprocess.PIPE}
    command = [str(peer.python), "-P", str(HARNESS), json.dumps(job)]
    try:
        process = await asyncio.create_subprocess_exec(
            *command, env=environment, cwd=home, start_new_session=True, **pipes
        )
    except OSError as error:
        return f"its interpreter did not start: {error}"
    try:
        _, said = await asyncio.wait_for(process.communicate(), seconds)
    except TimeoutError:
        return f"it did not end within {seconds:g} s"
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    last = said.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return f"its process ended with {process.returncode}: {last}" if process.returncode else None
