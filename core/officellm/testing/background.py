"""Runs an asynchronous server in a thread of its own. What it serves is none of this module's business."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import Any

from officellm.errors import ConfigError


def start_in_thread(server: contextlib.AbstractAsyncContextManager[Any], stack: contextlib.ExitStack) -> None:
    """Serve in a new thread until the stack is closed; raises what kept it from starting."""
    ready = threading.Event()
    failed: list[BaseException] = []
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        try:
            async with server:
                ready.set()
                await stop.wait()
        except ConfigError as error:
            failed.append(error)
        finally:
            ready.set()

    def run() -> None:
        with contextlib.closing(loop):
            loop.run_until_complete(serve())

    thread = threading.Thread(target=run, name="fake-llm", daemon=True)

    def close() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed where the server could not start
            loop.call_soon_threadsafe(stop.set)
        thread.join()

    stack.callback(close)
    thread.start()
    ready.wait()
    if failed:
        raise failed[0]
