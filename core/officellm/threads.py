"""Threads for sync tools: daemons, reused, as many as there is work, so that a tool that hangs never blocks an exit."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
_Job = tuple[Callable[[], Any], asyncio.AbstractEventLoop, "asyncio.Future[Any]"]

# asyncio's own executor has cpu + 4 threads and is joined at exit: a blocking tool would starve and then hang others.
_idle: list[queue.SimpleQueue[_Job]] = []
_MAX_IDLE = 64
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a fork takes the queues along and leaves their threads behind


def _work(inbox: queue.SimpleQueue[_Job]) -> None:
    while True:
        function, loop, future = inbox.get()
        value: Any = None
        error: BaseException | None = None
        try:
            value = function()
        except BaseException as raised:  # noqa: BLE001 - handed to the waiter, SystemExit included
            error = raised
        if len(_idle) < _MAX_IDLE:
            _idle.append(inbox)
            keep = True
        else:
            keep = False
        # A closed loop has nobody who waits.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, future, value, error)
        del function, future, value, error
        if not keep:
            return


def _settle(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if future.cancelled():
        return
    if error is None:
        future.set_result((True, value))
    else:
        future.set_result((False, error))


async def in_thread(function: Callable[[], T]) -> T:
    """Run `function` in a thread, with this task's context variables. Cancelling stops waiting; the thread goes on."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()
    try:
        inbox = _idle.pop()
    except IndexError:
        inbox = queue.SimpleQueue()
        threading.Thread(target=_work, args=(inbox,), daemon=True, name="officellm-tool").start()
    inbox.put((lambda: context.run(function), loop, future))
    done, value = await future
    if isinstance(value, GeneratorExit) and not done:  # raised as it is, it would look like the end of the caller
        raise RuntimeError("GeneratorExit") from value
    if not done:
        raise value
    return value  # type: ignore[no-any-return]
