"""`officellm run`: outcomes, exit codes, what stands on stdout, where the team and the task come from."""

import json
import os
import re

import pytest

from officellm.testing import call, calls, fault, reply, rule

OUTCOMES = {
    "success": (["Done."], 0, "Done."),
    "truncated": ([reply("Half a", stop="length")], 1, "Half a"),
    "provider_error_4xx": ([fault("401")], 1, ""),
    "provider_error_5xx_exhausted": ([fault("500")], 1, ""),
    "request_budget": ([calls(call("researcher", task="x"), text="So far"), "late"], 3, "So far"),
    "loop_detected": ([reply(calls=[call("researcher", task="x")], text="Again", repeat=True)], 3, "Again"),
}


def keyless(team):
    """The team with a provider that needs a key, which nobody has set."""
    return re.sub("base_url: [^}]+", "base_url: 'http://192.0.2.1/v1', api_key_env: NO_SUCH_KEY_HERE", team)


def result_of(stdout):
    return json.loads(stdout.splitlines()[-1])


@pytest.mark.parametrize("mode", ["plain", "--json", "--events"])
@pytest.mark.parametrize("reason", OUTCOMES)
def test_each_outcome_has_one_exit_code_in_all_modes_and_keeps_the_partial_text(office, reason, mode):
    script, code, text = OUTCOMES[reason]
    place = office([rule("found", system="find facts", by="order"), rule(*script, system="boss")])
    limit = ["--limit", "max_requests=1"] if reason == "request_budget" else []
    team = place.folder / "team.yaml"
    if reason == "loop_detected":
        place.write("team.yaml", team.read_text().replace("workers: [researcher]", "tools: {allow: [noisy]}"))
        place.llm.script = place.llm.script.__class__(
            [rule(reply(calls=[call("noisy", query="x")], text="Again", repeat=True))]
        )
    done = place.run("run", "task.json", *limit, *([] if mode == "plain" else [mode]))
    assert done.returncode == code, done.stderr
    if mode == "plain":
        assert done.stdout == (f"{text}\n" if text else "")
    else:
        result = result_of(done.stdout)
        assert (result["stopReason"], result["content"], result["success"]) == (reason, text, code == 0)
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert [line.partition(": ")[2].partition(":")[0] for line in errors] == ([] if code == 0 else [reason])


@pytest.mark.parametrize("mode", ["plain", "--json", "--events"])
def test_stdout_holds_the_result_and_what_tools_write_goes_to_stderr(office, mode):
    place = office([rule(call("researcher", task="x"), "Done.", system="boss"), rule(call("noisy", query="x"), "ok")])
    done = place.run("run", "task.json", *([] if mode == "plain" else [mode]))
    assert done.returncode == 0
    if mode == "plain":
        assert done.stdout == "Done.\n"
    elif mode == "--json":
        assert [json.loads(line)["content"] for line in done.stdout.splitlines()] == ["Done."]
    else:
        events = [json.loads(line) for line in done.stdout.splitlines()]
        assert [events[0]["type"], events[-2]["type"], events[-1]["type"]] == ["run.start", "run.end", "result"]
        assert [one["seq"] for one in events[:-1]] == list(range(1, len(events)))
        assert (
            "".join(one["text"] for one in events if one["type"] == "text.delta" and one["agent"] == "boss") == "Done."
        )
    for said in ("printed", "written to descriptor 1", "said by a child"):
        assert said in done.stderr.splitlines()


def test_progress_is_a_line_for_each_thing_that_matters_after_the_runs_id(office):
    place = office([rule(call("researcher", task="x"), "Done.", system="boss"), rule(call("noisy", query="q"), "ok")])
    done = place.run("run", "task.json", "--json")
    lines = done.stderr.splitlines()
    assert lines[0] == f"run {result_of(done.stdout)['runId']}"
    for wanted in (
        "boss: start, gpt-4.1",
        "boss: turn 1: 15 tokens (10 in, 5 out), <$0.0001, 1 call",
        "boss: worker researcher(task='x')",
        "researcher: tool noisy(query='q')",
        "researcher: success after 2 turns",
    ):
        assert wanted in lines
    assert any(line.startswith("researcher: noisy gave 12 characters, ") for line in lines)
    assert lines[-1].startswith("success: 4 requests, 2 tool calls, 60 tokens (40 in, 20 out), $0.0001, ")


def test_a_router_says_whom_it_chose_and_why_and_a_retry_is_shown(office):
    place = office([fault("500"), "Done."])
    team = place.folder / "team.yaml"
    routed = team.read_text().replace("provider_retries: 0", "provider_retries: 1").replace("manager: boss", "")
    place.write("team.yaml", f"{routed}\nrouter: {{name: keyword, routes: {{tide: researcher}}}}\n")
    done = place.run("run", "task.json")
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert "router keyword chose researcher (" in done.stderr
    assert "researcher: retry 1 in " in done.stderr
    assert "after HTTP 500 server: " in done.stderr


def test_quiet_leaves_stderr_empty(office):
    done = office(["Done."]).run("run", "task.json", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Done.\n", "")


def test_quiet_still_says_what_went_wrong(office):
    done = office([fault("401")]).run("run", "task.json", "-q")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert done.stderr.startswith("error: provider_error_4xx: provider 'fake' answered HTTP 401")


def test_stream_shows_text_as_whole_lines_on_stderr(office):
    place = office(["one\ntwo \x1b[31mred\x07"])
    done = place.run("run", "task.json", "--stream")
    assert done.stdout == "one\ntwo \x1b[31mred\x07\n"
    assert [line for line in done.stderr.splitlines() if " | " in line] == ["boss | one", "boss | two red"]
    assert [one.stream for one in place.llm.requests] == [True]


def test_without_anyone_who_shows_text_requests_are_not_streamed(office):
    place = office(["Done."])
    place.run("run", "task.json", "--json")
    assert [one.stream for one in place.llm.requests] == [False]


def test_a_task_comes_from_stdin(office):
    done = office(["{task}"]).run("run", "-", input='{"title": "From stdin"}')
    assert (done.returncode, done.stdout) == (0, "Task: From stdin\n\nPriority: medium\n")


def test_a_stdin_that_is_no_text_is_a_mistake(office):
    place = office(["never"])
    place.write("latin1.json", "x").write_bytes('{"title": "Käse"}'.encode("latin-1"))
    with (place.folder / "latin1.json").open() as file:
        done = place.run("run", "-", stdin=file)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: <stdin>: not UTF-8")


def test_words_that_are_no_text_are_repaired(office):
    done = office(["{task}"]).run("run", "--text", os.fsdecode(b"K\xe4se"))
    assert (done.returncode, done.stdout) == (0, "K\ufffdse\n")


def test_a_task_in_plain_words_reaches_the_agent_as_it_stands(office):
    done = office(["{task}"]).run("run", "--text", "Write about tide pools")
    assert (done.returncode, done.stdout) == (0, "Write about tide pools\n")


def test_the_team_is_found_upward_from_the_task_and_then_from_here(office, tmp_path_factory):
    place = office([reply("Done.", repeat=True)])
    place.write("deep/er/task.json", {"title": "t"})
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert place.run("run", place.folder / "deep/er/task.json", cwd=elsewhere).returncode == 0
    lonely = elsewhere / "task.json"
    lonely.write_text('{"title": "t"}')
    assert place.run("run", lonely, cwd=place.folder / "deep").returncode == 0
    done = place.run("run", lonely, cwd=elsewhere)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: no team file: name one with --team FILE, or write one with `officellm init`\n"
    assert place.run("run", lonely, "--team", place.folder / "team.yaml", cwd=elsewhere).returncode == 0


def test_the_team_that_a_task_names_is_used(office):
    place = office([rule("Done.", model="gpt-4.1-nano")])
    text = (place.folder / "team.yaml").read_text()
    place.write("other/mine.yaml", text.replace("gpt-4.1,", "gpt-4.1-nano,").replace("office_tools", "tools_of_mine"))
    place.write("other/tools_of_mine.py", (place.folder / "office_tools.py").read_text())
    place.write("task.json", {"title": "t", "team": "other/mine.yaml"})
    done = place.run("run", "task.json")
    assert (done.returncode, done.stdout) == (0, "Done.\n"), done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no_such.json"], "no_such.json"),
        (["task.json", "--agent", "reseacher"], "unknown agent 'reseacher'. Did you mean 'researcher'?"),
        (["task.json", "--router", "keywrd"], "no router named 'keywrd'. Did you mean 'keyword'?"),
        (["task.json", "--orchestrator", "managr"], "no orchestrator named 'managr'. Did you mean 'manager'?"),
        (["task.json", "--limit", "max_request=1"], "unknown limit 'max_request'. Did you mean 'max_requests'?"),
        (["task.json", "--limit", "max_requests=many"], "--limit max_requests=many: the value must be a number"),
        (["task.json", "--limit", "max_turns=0"], "--limit max_turns: "),
        (["task.json", "--limit", "max_turns"], "must be NAME=VALUE"),
        (["task.json", "--team", "no_such.yaml"], "no_such.yaml"),
        (["task.json", "--json", "--events"], "choose --json or --events"),
        (["task.json", "--text", "words"], "give one task"),
        (["task.json", "-a", "boss", "-r", "keyword"], "leave out --router"),
        (["--text", " "], "holds no task"),
        ([], "give one task"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_mistake_is_an_error_line_and_exit_2_and_nothing_is_sent(office, arguments, said):
    place = office(["never"])
    done = place.run("run", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.splitlines()[0].startswith("error: ")
    assert "Traceback" not in done.stderr
    assert place.llm.requests == []


def test_the_command_line_overrides_the_task_which_overrides_the_team(office):
    place = office([rule(reply("boss", repeat=True), system="boss"), rule(reply("researcher", repeat=True))])
    place.write("task.json", {"title": "t", "agent": "researcher", "limits": {"max_requests": 0}})
    assert place.run("run", "task.json").returncode == 3
    assert place.run("run", "task.json", "--limit", "max_requests=1").stdout == "researcher\n"
    assert place.run("run", "task.json", "--limit", "max_requests=none", "--agent", "boss").stdout == "boss\n"


def test_a_wrong_limit_value_of_the_right_type_is_kept_as_zero_and_not_as_no_limit(office):
    done = office(["never"]).run("run", "task.json", "--json", "--limit", "max_requests=0")
    assert (done.returncode, result_of(done.stdout)["stopReason"]) == (3, "request_budget")


def test_typed_output_stands_in_the_result(office):
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    place = office(['{"n": 3}'])
    place.write("task.json", {"title": "t", "output_schema": schema})
    assert result_of(place.run("run", "task.json", "--json").stdout)["output"] == {"n": 3}


def test_an_output_that_is_no_json_value_does_not_lose_the_result(office):
    place = office([reply('{"n": NaN}', repeat=True)])
    place.write("task.json", {"title": "t", "output_schema": {"type": "object"}})
    done = place.run("run", "task.json", "--json")
    assert result_of(done.stdout)["usage"]["totalTokens"] > 0
    assert "Traceback" not in done.stderr


def test_params_of_a_task_are_the_agents_own(office):
    place = office([rule("{task}", system="find facts")])
    place.write("task.json", {"title": "t", "agent": "researcher", "params": {"task": "pools", "priority": "high"}})
    assert place.run("run", "task.json").stdout == "Task: pools\n\nPriority: high\n"


def test_a_key_that_is_not_set_is_exit_2_with_its_name(office):
    place = office(["never"])
    text = (place.folder / "team.yaml").read_text()
    place.write("team.yaml", keyless(text))
    done = place.run("run", "task.json")
    assert done.returncode == 2
    assert "error: agent 'boss': the environment variable NO_SUCH_KEY_HERE is not set" in done.stderr
    assert place.llm.requests == []


def test_a_stdout_that_cannot_be_written_is_an_error_line(office):
    with open("/dev/full", "w") as full:
        done = office(["Done."]).run("run", "task.json", stdout=full, stderr=-1, capture_output=False)
    assert done.returncode == 1
    assert "error: cannot write to stdout: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_agent_of_a_task_file_is_named_with_its_place(office):
    place = office(["never asked"])
    place.write("task.json", {"title": "x", "agent": "reseacher"})
    done = place.run("run", "task.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "task.json:1: unknown agent 'reseacher'. Did you mean 'researcher'?" in done.stderr
