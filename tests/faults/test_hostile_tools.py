"""Tools that do whatever code can do to the loop that runs them: the model reads an error, and the run goes on."""

import asyncio
import sys
import threading

import pytest

from officellm import FatalToolError, Limits, StopReason, ToolError, tool
from officellm.testing import call, calls

from .scenes import answers, ping, play


class Speechless(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class SpeechlessExit(BaseException):
    def __str__(self):
        raise SystemExit(9)


class SpeechlessToolError(ToolError):
    def __str__(self):
        raise RuntimeError("no words")


def raising(kind, *values):
    def tool() -> str:
        raise kind(*values)

    async def async_tool() -> str:
        raise kind(*values)

    return tool, async_tool


async def cancels_itself() -> str:
    asyncio.current_task().cancel()
    await asyncio.sleep(0)
    return "never"


async def cancels_itself_and_returns() -> str:
    asyncio.current_task().cancel()
    return "late"


async def awaits_a_cancelled_task() -> str:
    task = asyncio.ensure_future(asyncio.sleep(30))
    task.cancel()
    await task
    return "never"


async def fails_in_a_group() -> str:
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.sleep(30))
        raise ValueError("in a group")


def goes_round():
    circle = {}
    circle["self"] = circle
    return circle


def goes_deep():
    value = []
    for _ in range(5000):
        value = [value]
    return value


HOSTILE = {
    "exit": raising(sys.exit, 3),
    "interrupt": raising(KeyboardInterrupt),
    "end of a generator": raising(GeneratorExit),
    "end of an iterator": raising(StopAsyncIteration),
    "cancelled": raising(asyncio.CancelledError),
    "no memory": raising(MemoryError),
    "speechless": raising(Speechless),
    "speechless exit": raising(SpeechlessExit),
    "speechless tool error": raising(SpeechlessToolError),
    "cancels itself": (cancels_itself, cancels_itself_and_returns),
    "awaits a cancelled task": (awaits_a_cancelled_task,),
    "fails in a group": (fails_in_a_group,),
    "returns an exception": (lambda: ValueError("x"),),
    "returns a circle": (goes_round,),
    "returns what is too deep": (goes_deep,),
    "returns a module": (lambda: sys,),
}
CASES = [
    pytest.param(function, id=f"{name} {number}")
    for name, made in HOSTILE.items()
    for number, function in enumerate(made)
]


@pytest.mark.parametrize("function", CASES)
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside"])
async def test_the_model_reads_an_error_and_the_run_goes_on(function, beside):
    function.__name__, function.__doc__ = "odd", "Be odd."
    first = calls(call("odd"), call("ping")) if beside else call("odd")
    before = asyncio.current_task().cancelling()
    result, requests, _ = await play([first, "end"], "openai", tools=[function, ping])
    assert (result.content, result.stop_reason) == ("end", StopReason.SUCCESS)
    odd, *rest = answers(requests[1])
    assert odd.startswith("Error")
    assert rest == (["pong"] if beside else [])
    assert asyncio.current_task().cancelling() == before


@pytest.mark.parametrize("sleeps", [False, True], ids=["async", "sync"])
async def test_a_tool_that_hangs_is_given_up(sleeps):
    over = threading.Event()

    async def waits() -> str:
        """Wait."""
        await asyncio.Event().wait()
        return "never"

    def blocks() -> str:
        """Block."""
        over.wait(10)
        return "late"

    tool = blocks if sleeps else waits
    limits = Limits(tool_timeout=0.05)
    first = calls(call(tool.__name__), call("ping"))
    result, requests, _ = await play([first, "end"], "openai", tools=[tool, ping], limits=limits)
    over.set()
    assert result.content == "end"
    assert answers(requests[1]) == [f"Error: tool {tool.__name__!r} did not answer within 0.05 s", "pong"]


async def test_a_fatal_error_without_words_still_ends_the_run():
    class Speechless(FatalToolError):
        def __str__(self):
            raise RuntimeError("no words")

    def odd() -> str:
        """Be odd."""
        raise Speechless

    result, requests, _ = await play([call("odd"), "never"], "openai", tools=[odd])
    assert (result.stop_reason, result.error_type, len(requests)) == (StopReason.FAILED, "FatalToolError", 1)


@pytest.mark.parametrize("depth", [99, 101, 940, 965, 990, 100_000])
@pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
async def test_arguments_of_any_depth_are_run_or_refused(depth, streamed):
    def keep(x: list) -> str:
        """Keep."""
        return "kept"

    deep = call("keep", '{"x":' + "[" * depth + "]" * depth + "}")
    result, requests, _ = await play([deep, "end"], "openai", streamed, tools=[keep])
    kept = "kept" if depth < 100 else "Error: 'keep' was not run: the arguments are nested too deeply"
    assert (result.content, answers(requests[1])) == ("end", [kept])


@pytest.mark.parametrize("wire", ["openai", "anthropic", "gemini"])
async def test_a_thousand_calls_of_one_reply_are_each_run_once_within_the_budget(wire):
    ran = []

    def note(n: int) -> str:
        """Note."""
        ran.append(n)
        return str(n)

    many = calls(*[call("note", n=number) for number in range(1000)])
    result, requests, _ = await play([many, "end"], wire, tools=[note])
    assert (result.content, answers(requests[1])) == ("end", [str(number) for number in range(1000)])
    assert sorted(ran) == list(range(1000))
    ran.clear()
    result, requests, _ = await play([many], wire, tools=[note], limits=Limits(max_tool_calls=10))
    assert (len(ran), result.usage.tool_calls, len(requests)) == (10, 10, 1)


async def test_a_body_of_megabytes_is_sent_without_a_warning():
    def much() -> str:
        """Give much."""
        return "x" * 3_000_000

    result, requests, _ = await play([call("much"), "end"], "openai", tools=[tool(max_chars=4_000_000)(much)])
    assert (result.content, len(answers(requests[1])[0])) == ("end", 3_000_000)
