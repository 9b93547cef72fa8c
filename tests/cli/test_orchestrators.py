"""`officellm run` with each orchestrator, from the task files in `examples/`, over HTTP, on every built-in wire."""

import json
from pathlib import Path

import pytest

from officellm.testing import FakeLLM, load_script

EXAMPLES = Path(__file__).parents[2] / "examples"
WIRES = ("openai", "anthropic", "gemini")


@pytest.fixture(params=WIRES)
def example(request, office):
    """Run an example's task with more arguments: the fake server and what the command line said."""

    place = office(["unused"])

    def play(name, *arguments):
        task = next((EXAMPLES / name).glob("task.*"))
        script = EXAMPLES / name / "script.yaml"
        with FakeLLM.in_thread(load_script(script)) as llm:
            wire = request.param
            place.env |= {"OFFICELLM_MODEL": f"{wire}:fake-model", f"{wire.upper()}_API_KEY": "k"}
            place.env[f"{wire.upper()}_BASE_URL"] = getattr(llm, f"{wire}_url")
            done = place.run("run", *arguments, str(task))
        assert llm.refusals == [], done.stderr
        return done, [record.heard.system.split(".")[0] for record in llm.requests]

    return play


def test_a_customer_is_handed_over_with_the_whole_conversation(example):
    done, asked = example("desk", "--json")
    result = json.loads(done.stdout)
    assert (done.returncode, result["content"]) == (0, "You get 20 euros back for order 4711.")
    assert [(hop["agent"], hop["reason"]) for hop in result["chain"]] == [
        ("triage", ""),
        ("billing", "a double charge"),
    ]
    assert len(asked) == 2
    assert "triage: transfer to billing (a double charge)" in done.stderr


def test_a_plan_is_written_and_worked_through(example):
    done, asked = example("brief")
    assert (done.returncode, done.stdout) == (0, "Rent them out: 25 euros a day, one permit.\n"), done.stderr
    assert asked[0].startswith("You plan the work")
    assert sorted(asked[1:3]) == ["You are the lawyer", "You are the market analyst"]
    assert asked[3:] == ["You are the editor"]
    assert "plan: 2 steps (market, law), answered by editor" in done.stderr


def test_a_plan_alone_is_a_picture_and_json(example):
    done, asked = example("brief", "--plan-only")
    assert (done.returncode, len(asked)) == (0, 1), done.stderr
    picture, _, text = done.stdout.partition("\n\n{")
    assert picture.startswith("flowchart")
    plan = json.loads("{" + text)
    assert (plan["final_agent_id"], plan["worst_case"]["requests"]) == ("editor", 20)


def test_work_is_sent_back_until_the_critic_is_content(example):
    done, asked = example("article", "--json")
    result = json.loads(done.stdout)
    assert (done.returncode, result["content"]) == (0, "Tide pools: full of life, twice a day."), done.stderr
    assert (asked.count("You are the writer"), asked.count("You are the critic")) == (3, 2)
    assert {id: node["state"] for id, node in result["nodes"].items()} == dict.fromkeys(
        ["animals", "rocks", "draft", "review", "article"], "completed"
    )
    assert "node review (critic): completed, round 2" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "task", "code", "said"),
    [
        (["--orchestrator", "handoff"], {"steps": [{"id": "a", "agent": "boss"}]}, 2, "steps"),
        (["--orchestrator", "dag"], {}, 2, "no steps"),
        ([], {"steps": [{"id": "a", "agent": "bos"}]}, 2, "unknown agent 'bos'. Did you mean 'boss'?"),
        ([], {"steps": [{"id": "a", "agent": "boss", "after": ["b"]}]}, 2, "unknown task 'b'"),
        (["--orchestrator", "dag", "--plan-only"], {}, 2, "--plan-only shows what the orchestrator plan would do"),
        (["--plan-only"], {"steps": [{"id": "a", "agent": "boss"}]}, 2, "steps"),
        ([], {"orchestrator": {"name": "plan", "modell": "x"}}, 2, "modell"),
        ([], {"orchestrator": {"name": "plan", "agents": ["nobody"]}}, 2, "unknown agent 'nobody'"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_sent(office, arguments, task, code, said):
    place = office(["never asked"])
    place.write("task.json", {"title": "T", **task})
    done = place.run("run", *arguments, "task.json")
    assert (done.returncode, done.stdout, place.llm.requests) == (code, "", []), done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
