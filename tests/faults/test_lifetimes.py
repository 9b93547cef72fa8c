"""Connections, tasks and processes: nothing is left behind, however a run ends and whichever loop it was in."""

import asyncio
import gc
import json
import os
import random
import subprocess
import sys
import textwrap
import time

import pytest

from officellm import Agent, Limits, Office, StopReason
from officellm.testing import FakeLLM, call, calls, reply, rule

from .scenes import providers

RUNS = {
    "run_sync again and again": """
        office = Office(Agent("a", model="p:m"), providers=PROVIDERS)
        for _ in range(50):
            assert office.run_sync("go").content == "fine"
    """,
    "asyncio.run again and again": """
        office = Office(Agent("a", model="p:m"), providers=PROVIDERS)
        for _ in range(5):
            assert asyncio.run(office.run("go")).content == "fine"
    """,
    "offices that nobody closes": """
        async def main():
            for number in range(10):
                assert (await Office(Agent("a", model="p:m"), providers=PROVIDERS).run("go")).content == "fine"
                gc.collect()
        asyncio.run(main())
    """,
    "one office in several threads": """
        office = Office(Agent("a", model="p:m"), providers=PROVIDERS)
        with ThreadPoolExecutor(4) as pool:
            assert {result.content for result in pool.map(office.run_sync, ["go"] * 20)} == {"fine"}
    """,
    "a run that is left": """
        async def main():
            async with Office(Agent("a", model="p:m"), providers=PROVIDERS).stream("go") as run:
                async for event in run:
                    if event.type == "model.request":
                        break
            assert run.result.stop_reason == "cancelled"
        asyncio.run(main())
    """,
}
HEAD = """
import asyncio, gc
from concurrent.futures import ThreadPoolExecutor
from officellm import Agent, Office
PROVIDERS = {"p": {"format": "openai_compat", "base_url": "URL"}}
"""


@pytest.mark.parametrize("code", RUNS.values(), ids=RUNS)
def test_no_warning_is_heard_of_what_was_left_open(code):
    with FakeLLM.in_thread([rule(reply("fine", repeat=True))]) as llm:
        program = HEAD.replace("URL", llm.openai_url) + textwrap.dedent(code) + "\ngc.collect()\n"
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            env={**os.environ, "PYTHONASYNCIODEBUG": "1"},
            capture_output=True,
            text=True,
            timeout=60,
        )
    noise = [line for line in done.stderr.splitlines() if not line.startswith("Executing <")]  # a slow machine
    assert noise == []
    assert done.returncode == 0


def note(n: int) -> str:
    """Note."""
    return str(n)


def an_office(llm, limits=None):
    helpers = [Agent(f"w{n}", "Works", model="p:m", instructions="WORK", tools=[note]) for n in range(6)]
    lead = Agent("boss", model="p:m", instructions="LEAD")
    return Office(lead, workers=helpers, providers=providers(llm, "openai"), limits=limits)


async def test_a_hundred_runs_of_one_office_of_which_many_are_cancelled_leave_nothing_behind():
    chance = random.Random(7)
    lead = rule(calls(call("w0", task="a"), call("w1", task="b")), "F", system="LEAD")
    results = []
    async with FakeLLM([lead, rule(reply(calls=[call("note", n=1)]), "W", system="WORK")]) as llm:
        async with an_office(llm) as office:

            async def one(number):
                left = chance.choice([None, 5, 20, 40])
                async with office.stream(f"task {number}") as watched:
                    async for event in watched:
                        if event.seq == left:
                            break
                results.append(watched.result)

            await asyncio.gather(*(one(number) for number in range(100)))
            assert [task for task in asyncio.all_tasks() if task.get_name().startswith("officellm")] == []
        answered = sum(record.outcome == "answered" for record in llm.requests)
    assert llm.refusals == []
    assert {result.stop_reason for result in results} == {StopReason.SUCCESS, StopReason.CANCELLED}
    assert len({result.run_id for result in results}) == 100
    whole = [result for result in results if result.success]
    assert {(result.usage.requests, result.usage.total) for result in whole} == {(6, 90)}
    assert 90 * len(whole) <= sum(result.usage.total for result in results) <= 15 * answered
    assert sum(result.usage.requests for result in results) >= answered
    gc.collect()


@pytest.mark.parametrize("most", range(1, 9))
async def test_the_server_never_sees_a_request_beyond_the_limit(most):  # R53
    everyone = rule(calls(*[call(f"w{n}", task="x") for n in range(6)]), "F", system="LEAD")
    helpers = rule(call("note", n=1), "W", system="WORK")
    async with FakeLLM([everyone, helpers]) as llm, an_office(llm, Limits(max_requests=most)) as office:
        result = await office.run("go")
    assert (result.stop_reason, len(llm.requests)) == (StopReason.REQUEST_BUDGET, most)
    assert (result.usage.requests, result.usage.total) == (most, 15 * most)
    assert sum(usage.total for usage in result.by_agent.values()) == result.usage.total


def test_a_run_can_be_made_again_after_the_process_was_killed(tmp_path):
    with FakeLLM.in_thread([rule(reply("fine", latency=30.0), reply("fine"), by="order")]) as llm:
        team = {"providers": providers(llm, "openai"), "agents": [{"name": "a", "model": "p:m"}]}
        (tmp_path / "team.json").write_text(json.dumps(team))
        command = [sys.executable, "-m", "officellm", "run", "--team", "team.json", "--text", "go", "--events"]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        seen = []
        for line in process.stdout:
            seen.append(json.loads(line)["type"])
            if seen[-1] == "model.request":
                while not llm.requests:
                    time.sleep(0.01)
                process.kill()
        process.communicate()
        again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert "run.end" not in seen
    assert (again.returncode, json.loads(again.stdout.splitlines()[-1])["content"]) == (0, "fine")
