"""The example of the repository, with the real model: end to end, and how often its router is right."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "report"

pytestmark = pytest.mark.skipif(not EXAMPLE.is_dir(), reason="the example is in the repository, not in the package")


def test_the_example_reports_what_the_notes_say_within_two_minutes(tmp_path):
    command = [sys.executable, "-m", "officellm", "run", "--json", "--router", "llm", str(EXAMPLE / "task.json")]
    started = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False)
    assert time.monotonic() - started < 120
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["success"]
    assert "varroa mite" in result["content"]
    assert "1,870 euros" in result["content"]
    assert result["usage"]["totalTokens"] > 0
    notes = "\n".join(path.read_text(encoding="utf-8") for path in EXAMPLE.glob("notes/*/*.md"))
    for sentence in re.findall(r'"([^"]+)"', result["content"]):
        assert sentence in notes


def test_the_router_is_right_in_most_cases():
    command = [sys.executable, str(EXAMPLE / "measure_routing.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    right, of = map(int, re.search(r"(\d+) of (\d+) right", done.stdout).groups())
    assert of == 20
    assert right >= 14, done.stdout
