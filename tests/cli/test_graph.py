"""`officellm graph`: what a file holds is seen from the file; anything else is a clear error."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from officellm.testing import call

EXAMPLES = Path(__file__).parents[2] / "examples"
PLAN = {"steps": [{"agent_id": "a", "input": "x", "description": "Look", "depends_on": []}], "final_agent_id": "b"}
TASK = {"title": "T", "steps": [{"id": "one", "agent": "a"}, {"id": "two", "agent": "b", "after": ["one"]}]}
RESULT = {
    "success": False,
    "content": "",
    "stopReason": "failed",
    "runId": "r1",
    "nodes": {"one": {"state": "failed", "error": "no answer"}, "two": {"state": "skipped", "after": ["one"]}},
}
LINES = "\n".join(json.dumps(line) for line in ({"type": "run.start"}, {"type": "result", **RESULT}))
PATTERN = {"title": "T", "orchestrator": {"name": "dag", "pattern": "loop", "agents": ["a"], "times": 2}}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("task.json", TASK, 'n0["one<br>a"]'),
        ("job.yaml", "title: T\nsteps:\n  - {id: one, agent: a}\n", 'n0["one<br>a"]'),
        ("tasks.json", [TASK], "n0 --> n1"),
        ("pattern.json", PATTERN, "iteration-1<br>a"),
        ("plan.json", PLAN, 'n0["step_0<br>a<br>Look"]'),
        ("result.json", RESULT, "class n0 failed"),
        ("indented.json", json.dumps(RESULT, indent=2), "class n0 failed"),
        ("events.jsonl", LINES, "class n1 skipped"),
        ("events.json", LINES, "class n1 skipped"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 15 and "." in value else "",
)
def test_a_file_is_drawn_as_what_it_holds(bare, name, content, said):
    bare.write(name, content)
    done = bare.run("graph", name)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("flowchart TD\n")
    assert said in done.stdout


@pytest.mark.parametrize("content", [TASK, PLAN, RESULT], ids=["task", "plan", "result"])
def test_stdin_is_drawn_like_a_file(bare, content):
    bare.write("task.json", content)
    done = bare.run("graph", "-", input=json.dumps(content))
    assert (done.returncode, done.stdout) == (0, bare.run("graph", "task.json").stdout)


@pytest.mark.parametrize("file", ["desk/team.yaml", "report/team.yaml", "article/task.yaml"])
@pytest.mark.parametrize("format", ["mermaid", "dot", "svg"])
def test_the_examples_are_drawn_in_every_format(bare, file, format):
    done = bare.run("graph", EXAMPLES / file, "--format", format)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith({"mermaid": "flowchart TD", "dot": "digraph", "svg": "<svg"}[format])
    if format == "svg":
        ET.fromstring(done.stdout)


def test_a_run_is_drawn_from_a_pipe(office):
    place = office([call("researcher", task="pools"), "They are shallow.", "Done."])
    ran = place.run("run", "--json", "--quiet", "task.json")
    assert ran.returncode == 0, ran.stderr
    done = place.run("graph", "-", input=ran.stdout)
    assert done.returncode == 0
    assert "boss<br>manager<br>success" in done.stdout
    assert "n1 --> n2" in done.stdout


@pytest.mark.parametrize(
    ("file", "format"),
    [("p.svg", "svg"), ("p.DOT", "dot"), ("p.gv", "dot"), ("p.mmd", "mermaid"), ("p.txt", "mermaid")],
)
def test_the_name_of_the_output_says_the_format(bare, file, format):
    bare.write("task.json", TASK)
    done = bare.run("graph", "task.json", "-o", file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (bare.folder / file).read_text() == bare.run("graph", "task.json", "-f", format).stdout


def test_a_named_format_wins_over_the_name_of_the_output(bare):
    bare.write("task.json", TASK)
    bare.run("graph", "task.json", "-o", "p.svg", "--format", "dot")
    assert (bare.folder / "p.svg").read_text().startswith("digraph")


def test_a_team_is_drawn_without_keys_plugins_or_tools(bare):
    agents = [{"name": "a", "model": "openai:m", "tools": {"allow": ["gone:tool"]}, "transfers": []}]
    bare.write("team.json", {"agents": agents, "router": {"name": "not_installed"}})
    done = bare.run("graph", "team.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "router<br>not_installed" in done.stdout


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.json", {}, "x.json: there is nothing to draw in it: give a team file (agents), a task file with steps"),
        ("x.json", "[1, 2]", "there is nothing to draw"),
        ("x.yaml", "just a text", "there is nothing to draw"),
        ("task.json", {"title": "T"}, "task.json:1: this task has no steps to draw"),
        ("task.json", {"title": "T", "team": "team.yaml"}, "draw its team, team.yaml"),
        ("task.json", {"title": "T", "steps": [{"id": "a", "agent": "b", "after": ["c"]}]}, "unknown task 'c'"),
        (
            "task.json",
            {**TASK, "orchestrator": {"name": "dag", "max_concurency": 2}},
            "unknown key. Did you mean 'max_concurrency'?",
        ),
        ("tasks.json", [TASK, TASK], "there are 2 tasks in it, and one is drawn"),
        ("results.jsonl", f"{json.dumps(RESULT)}\n{json.dumps(RESULT)}\n", "there are 2 results in it"),
        ("events.jsonl", '{"type": "run.start"}', "the events of a run, without its result"),
        ("plan.json", {**PLAN, "steps": []}, "the plan cannot work: it has no steps"),
        ("x.json", "{", "x.json:1:2: not valid JSON"),
        ("x.csv", "a,b", "the suffix '.csv' names no language"),
        ("missing.json", None, "missing.json: no such file"),
    ],
)
def test_anything_else_is_an_error_that_says_what_it_could_be(bare, name, content, said):
    if content is not None:
        bare.write(name, content)
    done = bare.run("graph", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


def test_a_team_on_stdin_is_an_error(bare):
    done = bare.run("graph", "-", input='{"agents": []}')
    assert (done.returncode, done.stdout) == (2, "")
    assert "<stdin>: this is a team, which is read from a file" in done.stderr


def test_an_output_that_cannot_be_written_is_an_error(bare):
    bare.write("task.json", TASK)
    done = bare.run("graph", "task.json", "-o", "no/such/folder.svg")
    assert done.returncode == 2
    assert "no/such/folder.svg: cannot be written" in done.stderr


def test_more_arrows_than_mermaid_draws_are_warned_of(bare):
    steps = [{"agent_id": "a", "input": "x"} for _ in range(600)]
    bare.write("plan.json", {"steps": steps, "final_agent_id": "a"})
    done = bare.run("graph", "plan.json")
    assert done.returncode == 0
    assert "warning: Mermaid draws 500 arrows at most, and there are 600: try --format svg" in done.stderr
    assert bare.run("graph", "plan.json", "--format", "svg").stderr == ""


def test_help_imports_nothing_heavy(bare):
    bare.write("probe.py", PROBE)
    done = subprocess.run(
        [sys.executable, "probe.py"], cwd=bare.folder, env=bare.env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Draw FILE" in done.stdout


PROBE = """
import sys
from officellm.cli import main
try:
    main(["graph", "--help"])
finally:
    heavy = ["pydantic", "httpx", "pluggy", "yaml", "asyncio", "officellm.pictures"]
    print(*[name for name in heavy if name in sys.modules], end="", file=sys.stderr)
"""
