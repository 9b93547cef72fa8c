"""`officellm graph`: what a file holds is seen from the file; anything else is a clear error."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("file", "said"),
    [("article/task.yaml", "until content"), ("desk/team.yaml", "hands over"), ("desk/team.yaml", "flowchart TD")],
)
def test_files_are_drawn_as_what_they_are(bare, file, said):
    bare.env["OFFICELLM_MODEL"] = "openai:m"
    done = bare.run("graph", EXAMPLES / file)
    assert (done.returncode, done.stderr) == (0, "")
    assert said in done.stdout


@pytest.mark.parametrize("format", ["mermaid", "dot", "svg"])
def test_a_format_may_be_named_or_follow_from_the_output(bare, format):
    named = bare.run("graph", EXAMPLES / "article" / "task.yaml", "--format", format).stdout
    suffix = {"mermaid": "mmd", "dot": "dot", "svg": "svg"}[format]
    assert bare.run("graph", EXAMPLES / "article" / "task.yaml", "-o", f"picture.{suffix}").returncode == 0
    assert (bare.folder / f"picture.{suffix}").read_text() == named


def test_the_result_of_a_run_is_drawn_from_a_pipe(bare):
    result = {"stopReason": "success", "chain": [{"agent": "a"}], "byAgent": {"a": {"totalTokens": 3}}}
    done = bare.run("graph", "-", stdin=None, input=json.dumps(result))
    assert '["a<br>3 tokens<br>success"]' in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.json", "{}", "this is no team file, no task file with steps, no plan and no result of a run"),
        ("task.json", '{"title": "T"}', "this task has no steps to draw"),
        ("x.json", "{", "x.json"),
        ("missing.json", None, "missing.json"),
    ],
)
def test_anything_else_is_an_error(bare, name, text, said):
    if text is not None:
        bare.write(name, text)
    done = bare.run("graph", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_help_loads_no_pictures():
    code = "import sys; from officellm.cli import main; sys.argv=['officellm','--help']\n"
    code += "try: main()\nexcept SystemExit: pass\nprint([m for m in sys.modules if 'pictures' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")
