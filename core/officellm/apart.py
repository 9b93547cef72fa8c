"""Runs what others wrote in a task of its own, so that it cannot cancel or end who waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from types import CoroutineType
from typing import TypeVar

T = TypeVar("T")


async def apart(work: Awaitable[T]) -> T:
    """What `work` returns or raises. Cancelling the caller cancels it; if it cancels itself, it ends alone."""

    async def kept() -> tuple[T, None] | tuple[None, BaseException]:
        try:
            return await work, None
        except BaseException as error:  # noqa: BLE001 - SystemExit would leave the task, and end the loop
            return None, error

    try:
        value, error = await asyncio.create_task(kept())
    finally:
        if isinstance(work, CoroutineType):
            work.close()  # a task that was cancelled before it began leaves it untouched
    if isinstance(error, GeneratorExit):  # raised as it is, it would look like the end of the caller
        raise RuntimeError("GeneratorExit") from error
    if error is not None:
        raise error
    return value  # type: ignore[return-value]
