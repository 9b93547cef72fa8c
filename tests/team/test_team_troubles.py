"""A team in this process whose providers fail, whose agents are slow, whose board tells of new work."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time

import pytest

from officellm import load_team
from officellm.testing import FakeLLM, call, fault, reply, rule
from officellm_team.board import deliveries
from officellm_team.board.caller import Caller
from officellm_team.board.store import Board
from officellm_team.team.dispatch import Rules
from officellm_team.team.pace import Pace
from officellm_team.team.runner import TeamRunner
from officellm_team.tools.subjects import all_tools

TEAM = """
providers:
  fake: {{format: openai_compat, base_url: "{url}", api_key_env: FAKE_KEY, max_concurrency: {provider}}}
agents:
  - {{name: worker, provider: fake, model: m, system_prompt: You work, tools: [task_update]}}
  - {{name: helper, provider: fake, model: n, system_prompt: You help, tools: [task_update]}}
"""
FAST = Rules(attempts=20, first_delay=0.1, longest=0.4)


def closing(heard):
    task = re.search(r"The task ([0-9a-f-]{36})", heard.task)[1]
    return call("task_update", task_id=task, state="completed") if heard.turns == 0 else "Done."


class Site:
    """A board, its team, the model behind it."""

    def __init__(self, board_url: str, folder) -> None:
        self.url, self.folder = board_url, folder
        self.board = Board(board_url)
        self.lines: list[str] = []
        for name in ("boss", "worker", "helper"):
            all_tools()["agent_register"].run(self.board, Caller(name), {})

    def tool(self, name: str, /, **arguments):
        return all_tools()[name].run(self.board, Caller("boss"), arguments)

    def give(self, count: int = 1, owner: str = "worker") -> list[str]:
        tasks = [self.tool("task_create", title=f"task {number}")["id"] for number in range(count)]
        for task in tasks:
            self.tool("task_assign", task_id=task, owner_agent=owner)
        return tasks

    def states(self, tasks) -> set[str]:
        return {self.tool("task_get", task_id=task)["state"] for task in tasks}

    def counts(self) -> dict[str, int]:
        return deliveries.counts(self.board, kinds=["task_assigned"])

    @contextlib.asynccontextmanager
    async def runner(self, llm: FakeLLM, provider: int = 8, **pace):
        file = self.folder / "team.yaml"
        file.write_text(TEAM.format(url=llm.openai_url, provider=provider))
        values = {"kinds": ["task_assigned"], "poll_seconds": 0.05, "rules": FAST, "setup_rules": FAST} | pace
        values["limits"] = load_team(file, board=self.url).model.limits.model_copy(update={"provider_retries": 0})
        async with load_team(file, board=self.url).office() as office:
            yield TeamRunner(office, self.board, Pace(**values), tell=self.lines.append)

    @contextlib.asynccontextmanager
    async def working(self, llm: FakeLLM, **pace):
        async with self.runner(llm, **pace) as runner:
            working = asyncio.create_task(runner.run())
            try:
                yield runner
            finally:
                runner.stop()
                await working

    async def until(self, what) -> None:
        async with asyncio.timeout(20):
            while not what():  # noqa: ASYNC110 - what is waited for happens on the board
                await asyncio.sleep(0.02)


@pytest.fixture
def site(board_url, tmp_path):
    made = Site(board_url, tmp_path)
    yield made
    made.board.close()


class Down:
    """A model that fails until it is mended."""

    def __init__(self, name: str = "500", **params) -> None:
        self.name, self.params, self.up = name, params, False
        self.failed: list[float] = []
        self.worked: list[float] = []

    def __call__(self, heard):
        (self.worked if self.up else self.failed).append(time.monotonic())
        if self.up:
            return closing(heard)
        return fault(self.name, **self.params)


@pytest.mark.parametrize("name", ["500", "529", "dropped_connection"])
async def test_a_provider_that_is_down_is_asked_by_backoff_and_all_work_is_done_once_it_is_back(site, name, caplog):
    model = Down(name)
    tasks = site.give(12)
    rules = Rules(attempts=20, first_delay=0.1, longest=0.8)
    async with FakeLLM([rule(model, by="order")]) as llm, site.working(llm, concurrent=2, rules=rules):
        await asyncio.sleep(0.2)
        await asyncio.sleep(0.2)
        await site.until(lambda: len(model.failed) >= 5)
        # Two at first, then one at a time after about 0.1, 0.2, 0.4 seconds: not twelve, and not one a poll.
        pauses = [after - before for before, after in zip(model.failed[1:], model.failed[2:], strict=False)]
        assert pauses[1] > 0.15
        assert pauses[2] > 0.3
        model.up = True
        await site.until(lambda: site.counts()["done"] == 12)
    assert site.states(tasks) == {"completed"}
    assert len([one for one in caplog.records if "fails" in one.message]) == 1


async def test_retry_after_is_obeyed_by_all_work_for_the_model(site):
    model = Down("429", retry_after=1.0)
    site.give(4)
    async with FakeLLM([rule(model, by="order")]) as llm, site.working(llm, concurrent=1):
        await site.until(lambda: model.failed)
        model.up = True
        await site.until(lambda: site.counts()["done"] == 4)
    assert len(model.failed) == 1
    assert model.worked[0] - model.failed[0] >= 0.95


@pytest.mark.parametrize("name", ["401", "403", "404", "quota"])
async def test_a_fault_of_the_setup_costs_no_task_and_is_said_once(site, name, caplog):
    model = Down(name)
    tasks = site.give(8)
    async with FakeLLM([rule(model, by="order")]) as llm, site.working(llm, concurrent=2):
        await site.until(lambda: len(model.failed) >= 4)
        assert site.states(tasks) == {"in_progress"}
        assert {one["attempts"] for one in deliveries.listing(site.board, "queued")} == {0}
        model.up = True
        await site.until(lambda: site.counts()["done"] == 8)
    assert site.states(tasks) == {"completed"}
    assert len([one for one in caplog.records if one.levelno == logging.ERROR and "cannot be used" in one.message]) == 1


async def test_one_model_that_is_refused_does_not_stop_the_others(site):
    model = Down("401")
    refused, sound = site.give(3), site.give(3, "helper")
    replies = [rule(model, by="order", model="m"), rule(closing, by="order")]
    later = Rules(first_delay=30.0)
    async with FakeLLM(replies) as llm, site.working(llm, concurrent=1, setup_rules=later):
        await site.until(lambda: site.states(sound) == {"completed"})
    assert len(model.failed) == 1
    assert site.states(refused) == {"in_progress"}


async def test_working_once_ends_where_only_work_for_a_refused_model_is_left(site):
    site.give(3)
    sound = site.give(2, "helper")
    replies = [rule(Down("401"), by="order", model="m"), rule(closing, by="order")]
    later = Rules(first_delay=30.0)
    async with FakeLLM(replies) as llm, site.runner(llm, setup_rules=later) as runner, asyncio.timeout(20):
        await runner.run(once=True)
        assert runner.gave_up
    assert site.states(sound) == {"completed"}
    assert site.counts()["queued"] == 3


async def test_attempts_run_out_and_the_creator_is_told(site):
    tasks = site.give(1)
    async with FakeLLM([rule(Down(), by="order")]) as llm:
        async with site.runner(llm, rules=Rules(attempts=3, first_delay=0.01)) as runner, asyncio.timeout(20):
            await runner.run(once=True)
        assert len(llm.requests) == 3
    assert site.states(tasks) == {"failed"}
    assert [one["kind"] for one in site.tool("notifications_poll")["notifications"]] == ["task_failed"]


# Fairness and caps


class Slow:
    """Counts how many of each model's conversations are open at once."""

    def __init__(self) -> None:
        self.open, self.most = {}, {}

    async def __call__(self, heard):
        if heard.turns:
            return "Done."
        self.open[heard.model] = self.open.get(heard.model, 0) + 1
        self.most[heard.model] = max(self.most.get(heard.model, 0), self.open[heard.model])
        await asyncio.sleep(0.1)
        self.open[heard.model] -= 1
        return closing(heard)


async def test_an_agent_with_a_long_queue_does_not_delay_another(site):
    site.give(12)
    (quick,) = site.give(1, "helper")
    replies = [rule(Slow(), by="order", model="m"), rule(closing, by="order")]
    async with FakeLLM(replies) as llm, site.working(llm, concurrent=2):
        await site.until(lambda: site.states([quick]) == {"completed"})
        assert site.counts()["done"] <= 4


@pytest.mark.parametrize(
    ("pace", "most"), [({"per_agent": 1}, 1), ({"per_agent": 2}, 2), ({"provider": 1}, 1)], ids=str
)
async def test_caps_hold(site, pace, most):
    slow = Slow()
    site.give(6)
    async with FakeLLM([rule(slow, by="order")]) as llm, site.working(llm, concurrent=6, **pace):
        await site.until(lambda: site.counts()["done"] == 6)
    assert slow.most == {"m": most}


# Waking and leases


async def test_new_work_begins_long_before_the_next_look(site):
    async with FakeLLM([rule(closing, by="order")]) as llm, site.working(llm, poll_seconds=60.0):
        for _ in range(3):
            await asyncio.sleep(0.15)
            begun, known = time.monotonic(), len(llm.requests)
            await asyncio.to_thread(site.give)
            await site.until(lambda known=known: len(llm.requests) > known)
            assert time.monotonic() - begun < 5.0


async def test_a_lease_is_kept_while_its_work_is_slow_and_while_the_team_ends(site):
    (task,) = site.give()
    replies = rule(reply("slow", latency=1.0, calls=[call("task_update", task_id=task, state="completed")]), "Done.")
    async with FakeLLM([replies]) as llm:
        async with site.working(llm, lease_seconds=0.3) as runner:
            await site.until(lambda: llm.requests)
            runner.stop()
        (done,) = deliveries.listing(site.board, "done")
    assert (done["attempts"], done["outcome"]) == (1, "success")
