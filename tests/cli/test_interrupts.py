"""Ctrl-C, SIGTERM, and a reader of stdout that goes away."""

import contextlib
import json
import os
import signal
import subprocess
import time

import pytest

from officellm.testing import call, reply, rule

LONG = 30.0


def wait_for(true, what):
    deadline = time.monotonic() + 15
    while not true():
        assert time.monotonic() < deadline, f"never came: {what}"
        time.sleep(0.01)


@contextlib.contextmanager
def hanging(place, *arguments, requests=1, **options):
    """The command line in the middle of its n-th model request, which does not end by itself."""
    process = place.start(*arguments, **options)
    try:
        wait_for(lambda: len(place.llm.requests) >= requests, f"request {requests}")
        yield process
    finally:
        process.kill()
        process.communicate()


def finish(process):
    stdout, stderr = process.communicate(timeout=10)
    assert "Traceback" not in stderr
    return stdout, stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("mode", ["plain", "--json", "--events"])
def test_a_signal_cancels_at_once_and_keeps_what_was_spent(office, mode, number):
    place = office([rule(call("researcher", task="x"), system="boss"), rule(reply("late", latency=LONG))])
    with hanging(place, "run", "task.json", *([] if mode == "plain" else [mode]), requests=2) as process:
        process.send_signal(number)
        stdout, stderr = finish(process)
    assert process.returncode == 130
    assert "cancelled: 2 requests, " in stderr
    assert "at least 15 tokens" in stderr
    assert stderr.splitlines()[-1] == "error: cancelled: the run was cancelled"
    if mode == "plain":
        assert stdout == ""
    else:
        result = json.loads(stdout.splitlines()[-1])
        assert (result["stopReason"], result["usage"]["totalTokens"]) == ("cancelled", 15)
    wait_for(lambda: place.llm.requests[-1].outcome == "left", "the end of the connection")


def test_a_second_signal_ends_a_run_that_does_not_let_itself_be_cancelled(office):
    place = office([rule(call("researcher", task="x"), system="boss"), rule(call("stubborn"))])
    process = place.start("run", "task.json", stdout=subprocess.DEVNULL)
    try:
        lines = iter(process.stderr.readline, "")
        assert any(line == "begun\n" for line in lines)
        process.send_signal(signal.SIGINT)
        assert any(line == "not now\n" for line in lines)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=5) == 130
    finally:
        process.kill()
        process.communicate()


def test_a_cancelled_batch_says_what_was_not_started(office):
    place = office([rule("first", user="zero"), rule(reply("late", latency=LONG))])
    place.write("tasks.json", [{"title": title} for title in ("zero", "one", "two")])
    with hanging(place, "run", "tasks.json", requests=2) as process:
        process.send_signal(signal.SIGINT)
        stdout, stderr = finish(process)
    assert process.returncode == 130
    assert [json.loads(line)["stopReason"] for line in stdout.splitlines()] == ["success", "cancelled"]
    assert stderr.splitlines()[-1] == "error: 1 of 3 tasks were not started"


def test_a_background_shell_that_ignores_sigint_for_us_is_obeyed(office):
    place = office([reply("Done.", latency=0.2)])
    with hanging(place, "run", "task.json", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) as process:
        process.send_signal(signal.SIGINT)
        stdout, _ = finish(process)
    assert (process.returncode, stdout) == (0, "Done.\n")


def test_when_nobody_reads_the_events_the_run_ends_quietly(office):
    place = office([reply("late", latency=LONG)])
    reading, writing = os.pipe()
    os.close(reading)
    process = place.start("run", "task.json", "--events", stdout=writing)
    os.close(writing)
    _, stderr = process.communicate(timeout=10)
    assert process.returncode == 1
    assert "Traceback" not in stderr
    assert "Broken" not in stderr


@pytest.mark.parametrize("arguments", [["--help"], ["plugins"]], ids=" ".join)
def test_a_list_that_nobody_reads_ends_quietly(bare, arguments):
    reading, writing = os.pipe()
    os.close(reading)
    done = bare.run(*arguments, capture_output=False, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")
