"""A batch of tasks: one JSON line a task, with its index, as each ends."""

import json
import re

import pytest

from officellm.testing import fault, reply, rule

TITLES = ["zero", "one", "two"]


def lines_of(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def batch(place, form):
    tasks = [{"title": title} for title in TITLES]
    if form == "list":
        return place.write("tasks.json", tasks)
    return place.write("tasks.jsonl", "\n".join(json.dumps(task) for task in tasks))


@pytest.mark.parametrize("form", ["list", "jsonl"])
def test_each_task_is_one_line_with_its_index(office, form):
    place = office(["{task}"])
    done = place.run("run", batch(place, form))
    assert done.returncode == 0, done.stderr
    assert [(one["index"], one["content"].splitlines()[0]) for one in lines_of(done)] == [
        (index, f"Task: {title}") for index, title in enumerate(TITLES)
    ]
    assert "[1] boss: success after 1 turn" in done.stderr


def test_the_worst_exit_code_is_the_batchs(office):
    place = office([rule(fault("401"), user="one"), rule(reply("x", stop="length"), user="two"), rule("{task}")])
    done = place.run("run", batch(place, "list"))
    assert done.returncode == 1
    assert [one["stopReason"] for one in lines_of(done)] == ["success", "provider_error_4xx", "truncated"]
    assert "error: task 1: provider_error_4xx: " in done.stderr


def test_tasks_that_run_at_the_same_time_are_printed_as_each_ends(office):
    place = office([rule(reply("slow", latency=0.2), user="zero"), rule("quick")])
    done = place.run("run", batch(place, "list"), "--jobs", "3")
    assert done.returncode == 0
    assert lines_of(done)[-1]["index"] == 0
    assert sorted(one["index"] for one in lines_of(done)) == [0, 1, 2]


def test_events_of_a_batch_carry_the_index(office):
    place = office(["{task}"])
    done = place.run("run", batch(place, "list"), "--events", "-j", "2")
    lines = lines_of(done)
    for index in range(3):
        mine = [one for one in lines if one["index"] == index]
        assert (mine[0]["type"], mine[-1]["type"]) == ("run.start", "result")
        assert len({one["runId"] for one in mine}) == 1


@pytest.mark.parametrize(
    "bad",
    [{"description": "no title"}, {"title": "t", "agent": "nobody"}, {"title": "t", "router": "nothing"}],
    ids=str,
)
def test_one_bad_task_is_an_error_before_anything_runs(office, bad):
    place = office(["never"])
    done = place.run("run", place.write("tasks.json", [{"title": "good"}, bad]))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert place.llm.requests == []


def test_a_batch_with_one_run_that_cannot_start_goes_on_and_exits_2(office):
    place = office(["{task}"])
    text = (place.folder / "team.yaml").read_text()
    broken = re.sub("base_url: [^}]+", "base_url: 'http://192.0.2.1/v1', api_key_env: NO_SUCH_KEY_HERE", text)
    place.write("broken.yaml", broken)
    done = place.run("run", place.write("tasks.json", [{"title": "bad", "team": "broken.yaml"}, {"title": "good"}]))
    assert done.returncode == 2
    assert [(one["index"], one["success"]) for one in lines_of(done)] == [(0, False), (1, True)]
    assert "error: task 0: agent 'boss': the environment variable NO_SUCH_KEY_HERE is not set" in done.stderr
