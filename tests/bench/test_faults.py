"""The table of faults: officellm passes cases of it, and the judge can tell a peer that does not."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from officellm.testing import SPEAKERS, Record

BENCH = Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(BENCH))
try:
    import faults
    from probe.judge import legal
    from probe.trial import Trial
finally:
    sys.path.remove(str(BENCH))

PEER = """
import json, os, time, urllib.request

PACKAGE = ""
REQUIREMENTS = ()
WIRES = ("openai",)
MODES = ("whole",)
SETUP = "Written by a test."

def ask(url, *history):
    body = {"model": "fake", "messages": [{"role": "user", "content": "go"}, *history], "tools": TOOLS}
    request = urllib.request.Request(url + "/chat/completions", json.dumps(body).encode())
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]

TOOLS = [{"type": "function", "function": {"name": "rec"}}]

async def run(url, wire, streamed, tools, limit):
    rec, noargs, boom, slow = tools
"""
HONEST = """
said = ask(url)
results = []
for place, call in enumerate(said["tool_calls"]):
    call["id"] = str(place)
    content = rec(**json.loads(call["function"]["arguments"]))
    results.append({"role": "tool", "tool_call_id": call["id"], "content": content})
return ask(url, said, *results)["content"], None
"""
SAME_IDS = HONEST.replace("str(place)", '"same"')
CLAIMS = """
return "DONE", None
"""
LOSES_A_RESULT = HONEST.replace("*results", "results[0]")
HIDES_A_CALL = HONEST.replace("*results", "results[0]").replace(
    ", said", ", {**said, 'tool_calls': said['tool_calls'][:1]}"
)
SILENT = """
return (ask(url) or {}).get("content"), None
"""
FRAGMENT = """
arguments = ask(url)["tool_calls"][0]["function"]["arguments"]
rec(arguments)
return "DONE", None
"""
REPLAYS = """
said = ask(url)
id = said["tool_calls"][0]["id"]
return ask(url, said, {"role": "tool", "tool_call_id": id, "content": "Error: cut off"})["content"], None
"""
IMPATIENT = """
try:
    ask(url)
except OSError:
    return ask(url)["content"], None
"""
FOREVER = """
for _ in range(9):
    ask(url)
return "I gave up", None
"""
RAISES = """
raise ValueError("no such thing")
"""
HANGS = """
rec("one")
time.sleep(30)
"""
DIES = """
os._exit(3)
"""


def write_peer(folder: Path, name: str, body: str) -> None:
    indented = "".join(f"    {line}\n" for line in body.strip().split("\n"))
    (folder / f"{name}.py").write_text(PEER + indented)


def cells(printed: str) -> list[dict]:
    return [one for one in json.loads(printed)["cells"] if one["verdict"] != "n/a"]


def test_officellm_passes(capsys):
    cases = ["index_collision", "cut_arguments", "duplicate_ids", "tool_raises", "empty_reply"]

    assert faults.main([*cases, "--wire", "openai", "--json"]) == 0

    found = cells(capsys.readouterr().out)
    assert len(found) == 9
    assert {one["verdict"] for one in found} == {"ok"}


@pytest.mark.parametrize("wire", ["anthropic", "gemini"])
def test_officellm_passes_on_the_other_wires(wire, capsys):
    assert faults.main(["duplicate_ids", "--wire", wire, "--json"]) == 0

    assert [one["mode"] for one in cells(capsys.readouterr().out)] == ["whole", "streamed"]


@pytest.mark.parametrize(
    ("case", "body", "reason"),
    [
        pytest.param("duplicate_ids", HONEST, "", id="honest"),
        pytest.param("duplicate_ids", SAME_IDS, "share an id", id="same ids"),
        pytest.param("duplicate_ids", CLAIMS, "the tools saw nothing", id="claims"),
        pytest.param("duplicate_ids", LOSES_A_RESULT, "2 calls with 1 answers", id="loses a result"),
        pytest.param("duplicate_ids", HIDES_A_CALL, "never told 'ok two'", id="hides a call"),
        pytest.param("duplicate_ids", RAISES, "the run died: ValueError: no such thing", id="raises"),
        pytest.param("duplicate_ids", HANGS, "did not end within", id="hangs"),
        pytest.param("duplicate_ids", DIES, "its process ended with 3", id="dies"),
        pytest.param("error_in_200", CLAIMS.replace("DONE", "Overloaded"), "'Overloaded', as a success", id="wrong"),
        pytest.param("cut_arguments", FRAGMENT, 'the tools saw rec({"x"', id="fragment"),
        pytest.param("cut_arguments", REPLAYS, "no JSON object", id="replays"),
        pytest.param("empty_reply", SILENT, "an empty answer", id="silent"),
        pytest.param("rate_limited", IMPATIENT, "told to wait 1 s", id="impatient"),
        pytest.param("rate_limited", CLAIMS, "not tried again", id="gives up"),
        pytest.param("endless_call", FOREVER, "9 requests with a limit of 5", id="forever"),
    ],
)
def test_the_judge_says_what_is_wrong(case, body, reason, tmp_path, capsys):
    write_peer(tmp_path, "officellm", body)
    timeout = "0.5" if body is HANGS else "30"

    code = faults.main([case, "--json", "--timeout", timeout], tmp_path)

    (cell,) = cells(capsys.readouterr().out)
    assert cell["verdict"] == ("FAIL" if reason else "ok"), cell
    assert reason in cell["reason"]
    assert code == (1 if reason else 0)


def test_a_peer_that_fails_is_a_column_and_no_failure_of_ours(tmp_path, capsys):
    write_peer(tmp_path, "officellm", HONEST)
    write_peer(tmp_path, "liar", CLAIMS)

    assert faults.main(["duplicate_ids", "error_in_stream", "--peers", "liar"], tmp_path) == 0

    said = capsys.readouterr().out
    rows = [line.split() for line in said.splitlines()[:4]]
    assert rows[0] == ["case", "officellm", "liar"]
    assert rows[1] == ["error_in_stream", "n/a", "n/a"]
    assert rows[2] == ["duplicate_ids", "ok", "FAIL"]
    assert "duplicate_ids, liar: the tools saw nothing" in said
    assert "duplicate_ids: two calls share one id" in said


def test_markdown_has_the_reason_in_its_cell(tmp_path, capsys):
    write_peer(tmp_path, "officellm", CLAIMS)

    assert faults.main(["duplicate_ids", "--markdown"], tmp_path) == 1

    assert "| duplicate_ids | FAIL: the tools saw nothing" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no_such_case"], "unknown case no_such_case"),
        (["--peers", "no_such_peer"], "there is no peer 'no_such_peer'"),
        (["--peers", "agno", "--venvs", "nowhere"], "--install makes it"),
        (["--python", "agno=python"], "not among the peers"),
        (["--jobs", "0"], "--jobs must be 1 or more"),
    ],
    ids=["case", "peer", "environment", "python", "jobs"],
)
def test_a_wrong_command_line_is_said_before_anything_runs(arguments, said, capsys):
    with pytest.raises(SystemExit) as ended:
        faults.main(arguments)

    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_every_peer_says_what_it_is():
    for path in sorted((BENCH / "peers").glob("*.py")):
        peer = faults.find_peer(path.stem, path.parent, BENCH / ".venvs")
        assert all("==" in one for one in peer.requirements), peer.name
        assert set(peer.wires) <= set(faults.WIRES)
        assert "limit" in peer.setup


# What each wire sends back: calls `(id, arguments)`, and the ids of the answers.


def openai_body(calls, answers):
    made = [
        {"id": id, "type": "function", "function": {"name": "rec", "arguments": json.dumps(given)}}
        for id, given in calls
    ]
    results = [{"role": "tool", "tool_call_id": id, "content": "ok"} for id in answers]
    return {"messages": [{"role": "assistant", "content": None, "tool_calls": made}, *results]}


def anthropic_body(calls, answers):
    made = [{"type": "tool_use", "id": id, "name": "rec", "input": given} for id, given in calls]
    results = [{"type": "tool_result", "tool_use_id": id, "content": "ok"} for id in answers]
    return {"messages": [{"role": "assistant", "content": made}, {"role": "user", "content": results}]}


def gemini_body(calls, answers):
    made = [{"functionCall": {"id": id, "name": "rec", "args": given}} for id, given in calls]
    results = [{"functionResponse": {"id": id, "name": "rec", "response": {"result": "ok"}}} for id in answers]
    return {"contents": [{"role": "model", "parts": made}, {"role": "user", "parts": results}]}


BODIES = {
    "openai": ("/v1/chat/completions", openai_body),
    "anthropic": ("/v1/messages", anthropic_body),
    "gemini": ("/v1beta/models/fake:generateContent", gemini_body),
}


@pytest.mark.parametrize("wire", BODIES)
@pytest.mark.parametrize(
    ("calls", "answers", "reason"),
    [
        pytest.param([("a", {}), ("b", {})], ["a", "b"], None, id="legal"),
        pytest.param([("a", {}), ("a", {})], ["a", "a"], "share an id", id="one id"),
        pytest.param([("a", {}), ("b", {})], ["a"], "2 calls with 1 answers", id="unanswered"),
        pytest.param([("a", {})], ["a", "a"], "1 calls with 2 answers", id="answered twice"),
        pytest.param([("a", {})], ["b"], "1 calls with 1 answers", id="another id"),
        pytest.param([("a", [1])], ["a"], "no JSON object", id="arguments"),
    ],
)
def test_a_history_is_read_on_every_wire(wire, calls, answers, reason):
    path, body = BODIES[wire]
    speaker = next(one for one in SPEAKERS if one.name == wire)
    record = Record(path, speaker.hear(path, {}, {}, body(calls, answers)), 0.0)

    said = legal(Trial(requests=[record]))

    assert said is None if reason is None else reason in said
