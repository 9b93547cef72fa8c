"""Task files: one task, a batch, and every way to write one wrong with the line that is at fault."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from officellm.errors import ConfigError, ConfigErrors
from officellm.files.taskfile import is_task_file, load_tasks

FULL = """{
  "version": 1,
  "title": "Create report",
  "description": "Research topic X, keep ${HOME} as it is",
  "priority": "high",
  "context": {"audience": "beginners", "max_words": 800},
  "team": "teams/team.toml",
  "router": {"name": "keyword", "routes": {"sql": "a"}},
  "orchestrator": "plan",
  "agent": "a",
  "params": {"wordCount": 3},
  "limits": {"maxTurns": 20, "max_seconds": 300},
  "outputSchema": {"type": "object"},
  "steps": [{"id": "one", "agent": "a", "input": "x"}, {"id": "two", "agent": "b", "after": "one", "when": "ok"}],
  "final": "two",
  "metadata": {"ticket": "A-17"}
}
"""


def write(folder: Path, text: str, name: str = "task.json") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_a_full_task_is_read_in_either_spelling(tmp_path):
    path = write(tmp_path, FULL)
    batch = load_tasks(path)
    (task,) = batch.tasks
    assert batch.is_batch is False
    assert (task.task.title, task.task.priority) == ("Create report", "high")
    assert task.task.description == "Research topic X, keep ${HOME} as it is"
    assert task.task.context == {"audience": "beginners", "max_words": 800}
    assert task.task.metadata == {"ticket": "A-17"}
    assert task.team == tmp_path / "teams" / "team.toml"
    assert task.router == {"name": "keyword", "routes": {"sql": "a"}}
    assert (task.orchestrator, task.agent, task.params) == ("plan", "a", {"wordCount": 3})
    assert (task.limits.max_turns, task.limits.max_seconds) == (20, 300)
    assert not task.limits.is_set("max_requests")
    assert task.output_schema == {"type": "object"}
    assert [(step.id, step.after) for step in task.steps] == [("one", []), ("two", ["one"])]
    assert task.steps[1].when.contains == "ok"
    assert task.final == "two"
    assert task.place == f"{path}:1"


def test_a_title_and_a_description_are_enough():
    (task,) = load_tasks("-", '{"title": "T", "description": "D"}').tasks
    assert task.task.prompt() == "Task: T\n\nDescription: D\n\nPriority: medium"
    assert (task.team, task.agent, task.router, task.params) == (None, None, None, {})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.yaml", "title: T\ndescription: D\nlimits: {maxTurns: 2}\n"),
        ("t.toml", 'title = "T"\ndescription = "D"\n[limits]\nmax_turns = 2\n'),
        ("t.json", '{"title": "T", "description": "D", "limits": {"maxTurns": 2}}'),
    ],
)
def test_a_task_may_be_yaml_toml_or_json(tmp_path, name, text):
    (task,) = load_tasks(write(tmp_path, text, name)).tasks
    assert (task.task.title, task.task.description, task.limits.max_turns) == ("T", "D", 2)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.json", '[{"title": "A"},\n {"title": "B"}]'),
        ("t.jsonl", '{"title": "A"}\n\n{"title": "B"}\n'),
        ("t.ndjson", '{"title": "A"}\r\n{"title": "B"}'),
        ("t.json", '\n{"title": "A"}\n{"title": "B"}\n'),
        ("t.yaml", "- title: A\n- title: B\n"),
    ],
    ids=["list", "json lines", "crlf", "json lines by content", "yaml list"],
)
def test_a_list_and_json_lines_are_a_batch(tmp_path, name, text):
    batch = load_tasks(write(tmp_path, text, name))
    assert [task.task.title for task in batch.tasks] == ["A", "B"]
    assert batch.is_batch is True


def test_a_batch_of_one_is_a_batch():
    assert load_tasks("-", '[{"title": "A"}]').is_batch is True


def test_text_may_begin_with_a_byte_order_mark():
    assert load_tasks("-", '\ufeff{"title": "A"}').tasks[0].task.title == "A"


BROKEN = [
    ("t.json", "", "t.json: the file is empty"),
    ("t.json", "[]", "t.json: there is no task in it"),
    ("t.json", "5", "t.json:1: a task is a mapping with at least a title"),
    # Python 3.13 points at the comma, earlier ones behind it.
    ("t.json", '{"title": "T",}', f"t.json:1:{14 if sys.version_info >= (3, 13) else 15}: not valid JSON"),
    ("t.json", '{\n"title": "T"\n"x": 1}', "t.json:3:1: not valid JSON: Expecting ',' delimiter"),
    ("t.json", '{"title": "T"} x', "t.json:1:16: not valid JSON: Extra data"),
    ("t.json", "{}", "t.json:1: title: required and missing"),
    ("t.json", '{"title": " "}', "t.json:1: title: a task needs a title"),
    ("t.json", '{"title": 5}', "t.json:1: title: must be text, not 5: put it in quotes"),
    ("t.json", '{"title": "T",\n"descripton": ""}', "t.json:2: descripton: unknown key. Did you mean 'description'?"),
    (
        "t.json",
        '{"title": "T",\n"priority": "urgent"}',
        "t.json:2: priority: must be one of low, medium, high, not 'urgent'",
    ),
    ("t.json", '{"title": "T",\n"context": []}', "t.json:2: context: must be a mapping, not a list"),
    ("t.json", '{"title": "T",\n"team": 5}', "t.json:2: team: must be text, not 5"),
    ("t.json", '{"title": "T",\n"params": "x"}', "t.json:2: params: must be a mapping, not 'x'"),
    (
        "t.json",
        '{"title": "T",\n"router": 5}',
        "t.json:2: router: must be a name, or a mapping with a name and settings",
    ),
    ("t.json", '{"title": "T",\n"router": {}}', "t.json:2: router.name: a router mapping needs a name"),
    ("t.json", '{"title": "T",\n"orchestrator": []}', "t.json:2: orchestrator: must be a name, or a mapping"),
    (
        "t.json",
        '{"title": "T",\n"limits": {\n"maxTurn": 1}}',
        "t.json:3: limits.maxTurn: unknown key. Did you mean 'max_turns'?",
    ),
    ("t.json", '{"title": "T",\n"limits": {\n"maxTurns": 0}}', "t.json:3: limits.maxTurns: must be at least 1, not 0"),
    ("t.json", '{"title": "T",\n"limits": {\n"maxTurns": "5"}}', "t.json:3: limits.maxTurns: must be a whole number"),
    ("t.json", '{"title": "T",\n"outputSchema": {"type": 5}}', "t.json:2: outputSchema: not a valid JSON Schema"),
    (
        "t.json",
        '{"title": "T",\n"outputSchema": {},\n"output_schema": {}}',
        "t.json:3: output_schema: this key is given twice",
    ),
    ("t.json", '{"title": "T",\n"title": "T"}', "t.json:2: title: this key is given twice"),
    ("t.json", '{"title": "T",\n"version": 2}', "t.json:2: version: must be one of 1, not 2"),
    (
        "t.json",
        '{"title": "T",\n"steps": [{"id": "a"}]}',
        "t.json:2: steps[0]: a step has an agent, or steps of its own",
    ),
    (
        "t.json",
        '{"title": "T",\n"steps": [{"id": "a", "agent": "x", "dependsOn": []}]}',
        "steps[0].dependsOn: unknown key",
    ),
    (
        "t.json",
        '{"title": "T",\n"steps": [{"id": "a", "agent": "x"},\n{"id": "a", "agent": "y"}]}',
        "t.json:3: steps[1].id: two nodes have the id 'a'",
    ),
    (
        "t.json",
        '{"title": "T",\n"steps": [{"id": "abc", "agent": "x", "after": ["abd", "abc"]}]}',
        "t.json:2: steps[0].after: node 'abc' waits for the unknown task 'abd'. Did you mean 'abc'?",
    ),
    (
        "t.json",
        '{"title": "T",\n"steps": [{"id": "a", "agent": "x", "after": "b"},\n{"id": "b", "agent": "x", "after": "a"}]}',
        "t.json:2: steps[0].after: the nodes wait for each other in a cycle: a -> b -> a",
    ),
    (
        "t.json",
        '{"title": "T",\n"final": "b", "steps": [{"id": "a", "agent": "x"}]}',
        "t.json:2: final: the final node 'b' is not in the workflow",
    ),
    ("t.json", '[{"title": "A"},\n{"titel": "B"}]', "t.json:2: [1].titel: unknown key. Did you mean 'title'?"),
    ("t.jsonl", '{"title": "A"}\n\n{"title": "B", "limits": {"x": 1}}', "t.jsonl:3: limits.x: unknown key"),
    ("t.jsonl", '{"title": "A"}\nnonsense\n', "t.jsonl:2:1: not valid JSON: Expecting value"),
    ("t.jsonl", '{"title": "A"}\n[]\n', "t.jsonl:2: a task is a mapping with at least a title"),
    ("t.jsonl", "\n\n", "t.jsonl: there is no task in it"),
    ("t.yaml", "title: T\nagent: no\n", "t.yaml:2: agent: must be text, not false: put it in quotes"),
    (
        "t.toml",
        'title = "T"\n[limits]\nmax_turns = 1.5\n',
        "t.toml:3: limits.max_turns: must be a whole number, not 1.5",
    ),
    ("t.txt", "title", "t.txt: the suffix '.txt' names no language that is read here"),
]


@pytest.mark.parametrize(("name", "text", "said"), BROKEN, ids=[said[:60] for _, _, said in BROKEN])
def test_a_broken_task_file_is_refused_at_its_line(tmp_path, name, text, said):
    path = write(tmp_path, text, name)
    with pytest.raises(ConfigError) as error:
        load_tasks(path)
    assert said in str(error.value).replace(f"{tmp_path}/", "")


def test_every_problem_of_a_batch_is_reported():
    with pytest.raises(ConfigErrors) as error:
        load_tasks("-", '[{"title": ""},\n{"titel": "B"}]')
    assert str(error.value).splitlines() == [
        "<stdin>:1: [0].title: a task needs a title",
        "<stdin>:2: [1].title: required and missing",
        "<stdin>:2: [1].titel: unknown key. Did you mean 'title'?",
    ]


@pytest.mark.parametrize(("name", "said"), [("gone.json", "no such file"), (".", "this is a folder, not a file")])
def test_what_is_no_file_is_refused_clearly(tmp_path, name, said):
    with pytest.raises(ConfigError, match=said):
        load_tasks(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "text", "is_task"),
    [
        ("t.json", '{"title": "T"}', True),
        ("t.jsonl", "", True),
        ("t.yaml", "- title: T\n", True),
        ("t.yaml", "agents: []\n", False),
        ("t.yaml", ": broken", False),
    ],
)
def test_task_files_are_told_from_team_files(tmp_path, name, text, is_task):
    assert is_task_file(write(tmp_path, text, name)) is is_task


def is_refused_or_loaded(path: Path) -> bool:
    try:
        load_tasks(path)
    except ConfigError as error:
        return str(path) in str(error)
    return True


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.binary(max_size=80), suffix=st.sampled_from([".yaml", ".toml", ".json", ".jsonl", ".x"]))
def test_arbitrary_bytes_raise_nothing_but_a_config_error(tmp_path, data, suffix):
    (tmp_path / f"t{suffix}").write_bytes(data)
    assert is_refused_or_loaded(tmp_path / f"t{suffix}")


keys = st.sampled_from(
    [
        "title",
        "description",
        "priority",
        "context",
        "team",
        "router",
        "agent",
        "params",
        "limits",
        "steps",
        "id",
        "after",
        "final",
    ]
)
trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["a", "high", "", "x:y"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(tree=trees, suffix=st.sampled_from([".json", ".jsonl"]))
def test_any_json_raises_nothing_but_a_config_error(tmp_path, tree, suffix):
    assert is_refused_or_loaded(write(tmp_path, json.dumps(tree), f"t{suffix}"))
