"""`officellm call`: one agent with its parameters."""

import json

import pytest

from officellm.cli.call import params_of
from officellm.testing import reply, rule


def test_one_agent_runs_alone_with_its_parameters(office):
    place = office([rule("{task}", system="find facts")])
    done = place.run("call", "researcher", "task=tide pools=many", "priority=high")
    assert (done.returncode, done.stdout) == (0, "Task: tide pools=many\n\nPriority: high\n")
    assert done.stderr.startswith("run ")


def test_the_result_as_json_and_limits(office):
    place = office([reply("never")])
    done = place.run("call", "researcher", "task=x", "--json", "--limit", "max_requests=0", "-q")
    assert done.returncode == 3
    assert json.loads(done.stdout)["stopReason"] == "request_budget"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["reseacher", "task=x"], "unknown agent 'reseacher'. Did you mean 'researcher'?"),
        (["researcher"], "agent 'researcher': task: required and missing"),
        (["researcher", "task=x", "tsak=y"], "agent 'researcher': tsak: unknown argument"),
        (["researcher", "task:=3"], "agent 'researcher': task: "),
        (["researcher", "find pools"], "parameter 'find pools' must be KEY=TEXT or KEY:=JSON"),
        (["researcher", "task=x", "--limit", "max_turn=1"], "unknown limit 'max_turn'. Did you mean 'max_turns'?"),
        ([], "Missing argument 'AGENT'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_mistake_is_exit_2_and_nothing_is_sent(office, arguments, said):
    place = office(["never"])
    done = place.run("call", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert place.llm.requests == []


@pytest.mark.parametrize(
    ("given", "whole", "wanted"),
    [
        (["a=3", "b=[1]", "c="], None, {"a": "3", "b": "[1]", "c": ""}),
        (["a:=3", "b:=[1]", "c:=null"], None, {"a": 3, "b": [1], "c": None}),
        (["a=x:=y"], None, {"a": "x:=y"}),
        (["a=new"], '{"a": 1, "b": true}', {"a": "new", "b": True}),
    ],
    ids=["text", "JSON", "the first = counts", "added to an object"],
)
def test_parameters_are_text_unless_written_as_json(given, whole, wanted):
    assert params_of(given, whole) == wanted


@pytest.mark.parametrize(
    ("given", "whole"),
    [(["a:=oops"], None), (["=x"], None), ([":=1"], None), ([], "[1]"), ([], "{"), (["a:=" + "[" * 10_000], None)],
    ids=["no JSON", "no name", "no name for JSON", "no object", "broken object", "too deep"],
)
def test_parameters_that_cannot_be_read_are_refused(given, whole):
    from officellm import ConfigError

    with pytest.raises(ConfigError):
        params_of(given, whole)
