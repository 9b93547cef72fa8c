"""How much of an office runs at once."""

import asyncio

from officellm import Agent, Limits, Office, Request
from officellm.testing import call, calls, scripted


async def test_max_concurrency_caps_the_requests_under_way_at_once() -> None:
    under_way: list[int] = []
    most = 0

    async def answer(request: Request) -> str:
        nonlocal most
        under_way.append(1)
        most = max(most, len(under_way))
        await asyncio.sleep(0.01)
        under_way.pop()
        return "done"

    workers = [Agent(f"w{number}", "Works", model=scripted([answer])) for number in range(6)]
    boss = scripted([calls(*(call(worker.name, task="x") for worker in workers)), "all done"])
    limits = Limits(max_concurrency=2, max_parallel_calls=6)
    result = await Office(Agent("boss", model=boss), workers=workers, limits=limits).run("go")
    assert result.success
    assert most == 2
