"""An office in a folder, run by the real command line in a process of its own, against the fake LLM server."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from officellm.testing import FakeLLM

TEAM = """
providers:
  fake: {format: openai_compat, base_url: "URL"}
agents:
  - {name: boss, provider: fake, model: gpt-4.1, system_prompt: You are the boss, workers: [researcher]}
  - name: researcher
    description: Finds facts
    provider: fake
    model: gpt-4.1-mini
    system_prompt: You find facts
    tools: {allow: [noisy, stubborn]}
manager: boss
tools: {modules: [office_tools]}
limits: {provider_retries: 0}
"""
TOOLS = '''
import asyncio, os, subprocess, sys
from officellm import tool

@tool
def noisy(query: str, limit: int = 5) -> str:
    """Finds pages, and is loud about it."""
    print("printed")
    os.write(1, b"written to descriptor 1\\n")
    subprocess.run([sys.executable, "-c", "print('said by a child')"])
    return "quiet result"

@tool
async def stubborn() -> str:
    """Does not let itself be cancelled."""
    print("begun", flush=True)
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            print("not now", flush=True)
'''
TASK = {"title": "Tide pools", "description": "Write about them."}


class Place:
    """A folder with a team file, tools and a task, and the fake server that its agents talk to."""

    def __init__(self, folder: Path, llm: FakeLLM | None):
        self.folder = folder
        self.llm = llm
        self.env = {**os.environ, "TERM": "dumb", "XDG_CACHE_HOME": str(folder / "cache"), "COLUMNS": "120"}
        self.env.pop("NO_COLOR", None)

    def write(self, name, text):
        """A file of the folder; anything but text is written as JSON."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text) if isinstance(text, str) else json.dumps(text), encoding="utf-8")
        return path

    def package(self, name, entry_points, modules=None, version="1.0"):
        """An installed package: metadata and modules in a folder that is on the path."""
        self.write(
            f"site/{name}-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        self.write(f"site/{name}-{version}.dist-info/entry_points.txt", entry_points)
        for module, code in (modules or {}).items():
            self.write(f"site/{module}.py", code)
        self.env["PYTHONPATH"] = os.pathsep.join([str(self.folder / "site"), os.environ.get("PYTHONPATH", "")])

    def command(self, *arguments):
        return [sys.executable, "-m", "officellm", *map(str, arguments)]

    def run(self, *arguments, **options):
        """Run the command line to its end; text in, text out."""
        options = {"env": self.env, "cwd": self.folder, "capture_output": True, "timeout": 30, **options}
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run(self.command(*arguments), text=True, **options)

    def start(self, *arguments, **options):
        """Start the command line and do not wait."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        # Tests that were started in the background would hand on an ignored SIGINT.
        options.setdefault("preexec_fn", lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        return subprocess.Popen(self.command(*arguments), text=True, env=self.env, cwd=self.folder, **options)


@pytest.fixture
def bare(tmp_path):
    """A folder with nothing in it."""
    return Place(tmp_path, None)


@pytest.fixture
def office(tmp_path):
    """`office(script)`: a folder whose agents are played by the script."""
    with contextlib.ExitStack() as stack:

        def make(script, team=TEAM):
            llm = stack.enter_context(FakeLLM.in_thread(script))
            place = Place(tmp_path, llm)
            place.write("team.yaml", team.replace("URL", llm.openai_url))
            place.write("office_tools.py", TOOLS)
            place.write("task.json", TASK)
            return place

        yield make
