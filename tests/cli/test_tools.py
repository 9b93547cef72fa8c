"""`officellm tools`: what agents may call."""

import json

import pytest


@pytest.fixture
def team(office):
    return office(["never"])


def test_each_agents_tools_and_workers_are_listed(team):
    done = team.run("tools")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "boss",
        "  researcher  worker  Finds facts",
        "researcher",
        "  noisy       tool    Finds pages, and is loud about it.",
        "  stubborn    tool    Does not let itself be cancelled.",
    ]
    assert team.llm.requests == []


def test_one_agents_tools(team):
    assert team.run("tools", "--agent", "boss").stdout.splitlines() == ["boss", "  researcher  worker  Finds facts"]


def test_the_list_as_json(team):
    listed = json.loads(team.run("tools", "--json").stdout)
    assert [(one["agent"], one["name"], one["kind"]) for one in listed] == [
        ("boss", "researcher", "worker"),
        ("researcher", "noisy", "tool"),
        ("researcher", "stubborn", "tool"),
    ]
    assert listed[1]["parameters"]["required"] == ["query"]


def test_one_tool_shows_its_schema(team):
    done = team.run("tools", "noisy")
    assert done.stdout.startswith("noisy  tool\nFinds pages, and is loud about it.\n")
    assert '"limit": {\n      "default": 5,' in done.stdout
    assert done.stdout.endswith("called by: researcher\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nosy"], "no agent may call 'nosy'. Did you mean 'noisy'?"),
        (["--agent", "bos"], "unknown agent 'bos'. Did you mean 'boss'?"),
        (["--team", "no_such.yaml"], "no_such.yaml"),
    ],
    ids=["unknown tool", "unknown agent", "no team"],
)
def test_a_mistake_is_exit_2(team, arguments, said):
    done = team.run("tools", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_tool_module_that_prints_leaves_stdout_alone(team):
    code = (team.folder / "office_tools.py").read_text()
    team.write("office_tools.py", f"{code}\nprint('imported')\nos.write(1, b'imported\\n')\n")
    done = team.run("tools", "--json")
    assert len(json.loads(done.stdout)) == 3
    assert done.stderr.splitlines() == ["imported", "imported"]
