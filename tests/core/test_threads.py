"""Threads for sync tools: as many as there is work, reused, and never in the way of an exit."""

import asyncio
import os
import subprocess
import sys
import threading
import time

import pytest

from officellm.threads import in_thread


async def test_results_and_errors_come_back():
    assert await in_thread(lambda: 5) == 5
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 // 0)


async def test_a_hundred_blocking_functions_run_at_once():
    gate = threading.Barrier(100)
    await asyncio.gather(*(in_thread(lambda: gate.wait(10)) for _ in range(100)))


async def test_threads_are_reused():
    first = await in_thread(threading.get_ident)
    await asyncio.sleep(0.01)
    seen = set()
    for _ in range(20):
        seen.add(await in_thread(threading.get_ident))
        await asyncio.sleep(0)
    assert first in seen
    assert len(seen) < 5


async def test_cancelling_stops_the_wait_and_leaves_the_thread():
    release, ended = threading.Event(), threading.Event()

    def work():
        release.wait(10)
        ended.set()

    task = asyncio.create_task(in_thread(work))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    release.set()
    assert ended.wait(10)


def test_a_thread_whose_loop_is_gone_still_serves():
    release = threading.Event()

    async def give_up():
        task = asyncio.create_task(in_thread(lambda: release.wait(10)))
        await asyncio.sleep(0.01)
        task.cancel()

    asyncio.run(give_up())
    release.set()
    time.sleep(0.05)
    assert asyncio.run(in_thread(lambda: "served")) == "served"


def test_a_tool_that_hangs_does_not_hold_up_the_exit():
    code = (
        "import asyncio, time\n"
        "from officellm.threads import in_thread\n"
        "async def main():\n"
        "    try:\n"
        "        await asyncio.wait_for(in_thread(lambda: time.sleep(60)), 0.05)\n"
        "    except TimeoutError:\n"
        "        print('gave up')\n"
        "asyncio.run(main())\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True)
    assert ran.stdout == "gave up\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_does_not_wait_for_threads_it_does_not_have():
    code = (
        "import asyncio, os, sys\n"
        "from officellm.threads import in_thread\n"
        "async def work():\n"
        "    return await asyncio.wait_for(in_thread(lambda: 7), 5)\n"
        "asyncio.run(work())\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    os._exit(asyncio.run(work()))\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=20, check=False).returncode == 7
