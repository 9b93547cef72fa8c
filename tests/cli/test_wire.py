"""`officellm wire`: files translated to and from a wire format, recorded exchanges read, histories repaired."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("OFFICELLM_RECORDINGS") or Path(__file__).resolve().parents[3] / "shared" / "recordings")
BUILT_IN = ("openai_chat", "anthropic", "gemini")
ASK = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "settings": {"temperature": 0.5}}
CALL = {"role": "assistant", "calls": [{"id": "a", "name": "search", "arguments": {"q": "tide"}}]}
REPLY = {"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}
STREAM = (
    'data: {"choices":[{"delta":{"content":"hel"}}]}\n\n'
    'data: {"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}]}\n\n'
    "data: [DONE]\n\n"
)


def recording(**response):
    request = {"body": {"model": "m"}}
    return {"format": "openai_chat", "request": request, "response": {"status": 200, "framing": "json", **response}}


def lines(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("format", "url", "path"),
    [
        ("openai_compat", "https://api.openai.com/v1/chat/completions", ("messages", 0, "content")),
        ("anthropic", "https://api.anthropic.com/v1/messages", ("messages", 0, "content", 0, "text")),
        (
            "gemini",
            "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent",
            ("contents", 0, "parts", 0, "text"),
        ),
    ],
)
def test_build_prints_the_http_request_without_a_key(bare, format, url, path):
    bare.env["OPENAI_API_KEY"] = bare.env["ANTHROPIC_API_KEY"] = bare.env["GEMINI_API_KEY"] = "sk-secret"
    done = bare.run("wire", "build", format, bare.write("ask.json", ASK))
    printed = json.loads(done.stdout)

    assert (done.returncode, list(printed)) == (0, ["method", "url", "headers", "body"])
    assert (printed["method"], printed["url"]) == ("POST", url)
    assert "sk-secret" not in done.stdout
    found = printed["body"]
    for key in path:
        found = found[key]
    assert found == "hi"


@pytest.mark.parametrize("text", [json.dumps(REPLY), STREAM], ids=["body", "stream"])
def test_parse_prints_the_neutral_reply_of_a_body_or_a_stream(bare, text):
    from_file = bare.run("wire", "parse", "openai_compat", bare.write("reply.txt", text))
    from_stdin = bare.run("wire", "parse", "openai_compat", input=text)
    printed = json.loads(from_file.stdout)

    assert (from_file.returncode, from_stdin.stdout) == (0, from_file.stdout)
    assert (printed["message"]["content"], printed["stop"], printed["raw_stop"]) == ("hello", "stop", "stop")


@pytest.mark.parametrize("text", ['{"error": {"message": "busy", "code": 529}}', "<html>", "", "\x00\x01"])
def test_parse_prints_a_fault_for_what_is_no_reply(bare, text):
    done = bare.run("wire", "parse", "openai_compat", "-", input=text)

    assert done.returncode == 1
    assert list(json.loads(done.stdout)["fault"]) == ["kind", "message", "status", "retryable", "retry_after", "code"]
    assert done.stderr == ""


def test_check_says_nothing_of_a_legal_history_and_prints_it(bare):
    history = [ASK["messages"][0], CALL, {"role": "tool", "call_id": "a", "name": "search", "content": "found"}]
    done = bare.run("wire", "check", "anthropic", bare.write("history.json", json.dumps(history)))

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)[2] == history[2]


def test_check_says_what_is_wrong_and_prints_the_repaired_history(bare):
    done = bare.run("wire", "check", "gemini", bare.write("ask.json", {**ASK, "messages": [CALL, CALL]}))
    repaired = json.loads(done.stdout)
    again = bare.run("wire", "check", "gemini", bare.write("again.json", repaired))

    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "messages[0]: the first message after the system's is not the user's",
        "messages[0]: the call 'a' of 'search' has no result",
        "messages[1].calls[0]: the id 'a' is in use already",
        "messages[1]: the call 'a' of 'search' has no result",
    ]
    assert [message["role"] for message in repaired["messages"]] == ["user", "assistant", "tool", "assistant", "tool"]
    assert repaired["settings"] == ASK["settings"]
    assert (again.returncode, again.stdout) == (0, done.stdout)


@pytest.mark.parametrize(
    ("arguments", "text", "said"),
    [
        (("build", "openai_compat"), "{", "not valid JSON"),
        (("build", "openai_compat"), '{"messages": [{"role": "boss"}]}', "request.messages[0]: unknown role 'boss'"),
        (("check", "openai_compat"), "5", "messages: must be a list of messages, not 5"),
        (("build", "openai_compta"), "{}", "Did you mean 'openai_compat'?"),
        (("parse",), "", "say FORMAT and FILE"),
        (("parse", "--exchange"), "", "needs at least one file"),
        (("build", "openai_compat", "gone.json"), "", "gone.json: cannot be read"),
    ],
    ids=["no-json", "no-role", "no-list", "no-format", "no-arguments", "no-files", "no-file"],
)
def test_a_mistake_is_one_line_and_exit_code_2(bare, arguments, text, said):
    done = bare.run("wire", *arguments, input=text)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_an_exchange_becomes_one_line_with_all_that_a_reply_says(bare):
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    broken = {"type": "function", "function": {"name": "f", "arguments": '{"a":'}}
    message = {"content": "Hm.", "tool_calls": [call, broken]}
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": usage}
    file = bare.write("one.json", recording(body=body))

    assert lines(bare.run("wire", "parse", "--exchange", file)) == [
        {
            "file": str(file),
            "text": "Hm.",
            "calls": [
                {"id": "c1", "name": "f", "arguments": {"a": 1}},
                {"id": None, "name": "f", "arguments": '{"a":'},
            ],
            "stop": "tool_calls",
            "raw_stop": "tool_calls",
            "usage": {"input": 3, "output": 4, "total": 7},
            "fault": None,
        }
    ]


@pytest.mark.parametrize(
    ("response", "fault"),
    [
        ({"status": 429, "body": {"error": {"message": "slow"}}}, {"status": 429, "retryable": True}),
        ({"status": 401, "framing": "text", "text": "no"}, {"status": 401, "retryable": False}),
        ({"body": {"error": {"message": "busy", "code": 529}}}, {"status": 529, "retryable": True}),
        (
            {"framing": "sse", "sse": ['data: {"error": {"message": "no", "code": 400}}', "", ""]},
            {"status": 400, "retryable": False},
        ),
    ],
    ids=["status", "text", "inside-a-200", "inside-a-stream"],
)
def test_an_exchange_that_failed_becomes_a_fault(bare, response, fault):
    done = bare.run("wire", "parse", "--exchange", bare.write("one.json", recording(**response)))

    assert done.returncode == 0
    assert [(line["fault"], line["text"], line["calls"]) for line in lines(done)] == [(fault, "", [])]


def test_what_cannot_be_read_is_a_line_with_an_error_and_the_rest_is_read(bare):
    files = [
        bare.write("no.json", "{"),
        bare.write("list.json", "[]"),
        bare.write("format.json", {"response": {}}),
        bare.write("framing.json", recording(framing="morse")),
        bare.write("b64.json", recording(framing="eventstream", eventstream_b64="%")),
        bare.write("status.json", recording(status="ok")),
        bare.write("unknown.json", {**recording(), "format": "smoke_signals"}),
        bare.write("good.json", recording(body=REPLY)),
        bare.folder / "gone.json",
    ]
    done = bare.run("wire", "parse", "--exchange", *files)
    found = lines(done)

    assert (done.returncode, done.stderr) == (1, "")
    assert [line["file"] for line in found] == [str(file) for file in files]
    assert [sorted(line) for line in found if "error" in line] == [["error", "file"]] * 8
    assert found[7]["text"] == "hello"


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no recordings in {FOLDER} (set OFFICELLM_RECORDINGS)")
@pytest.mark.parametrize("format", BUILT_IN)
def test_every_recording_of_a_built_in_format_is_one_line_without_an_error(bare, format):
    files = sorted(FOLDER.glob(f"dev/{format}.*.json"))
    done = bare.run("wire", "parse", "--exchange", *files)

    assert files
    assert done.returncode == 0
    assert len(lines(done)) == len(files)
    for file, line in zip(files, lines(done), strict=True):
        expect = json.loads(file.read_text(encoding="utf-8"))["expect"]
        if expect.get("error"):
            assert line["fault"]["status"] == expect["error"]["status"], file.name
        else:
            assert (line["text"], line["fault"]) == (expect["text"], None), file.name
