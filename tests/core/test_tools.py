"""Functions as tools: how they are marked, run and told of the run."""

import asyncio
import contextvars
import functools
import threading

import pytest

from officellm import Agent, Context, Limits, Task, Tool, is_tool, tool
from officellm.testing import call, scripted


def plain(a: int, b: int = 2) -> int:
    """Add."""
    return a + b


async def waiting(a: int, b: int = 2) -> int:
    """Add."""
    await asyncio.sleep(0)
    return a + b


class Adder:
    """Adds what it was made with."""

    def __init__(self, base):
        self.base = base

    def add(self, a: int) -> int:
        """Add."""
        return self.base + a

    async def __call__(self, a: int) -> int:
        """Add."""
        return self.base + a


def returns_awaitable(a: int) -> object:
    """Add."""
    return waiting(a)


@pytest.mark.parametrize(
    ("function", "arguments", "value"),
    [
        (plain, {"a": 1, "b": 2}, 3),
        (waiting, {"a": 1, "b": 2}, 3),
        (Adder(10).add, {"a": 1}, 11),
        (Adder(10), {"a": 1}, 11),
        (returns_awaitable, {"a": 1}, 3),
    ],
    ids=["function", "async function", "method", "callable object", "function that returns an awaitable"],
)
async def test_any_callable_runs(function, arguments, value):
    made = Tool(function)
    assert await made.run(made.validate(arguments)) == value


def test_a_marked_function_stays_a_function():
    @tool(name="adding", description="Adds numbers", timeout=3, sequential=True, idempotent=True, max_chars=10)
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    assert add(1, 2) == 3
    assert is_tool(add)
    assert not is_tool(plain)
    made = Tool(add)
    assert (made.name, made.spec.description) == ("adding", "Adds numbers")
    options = made.options
    assert (options.timeout, options.sequential, options.idempotent, options.max_chars) == (3, True, True, 10)


def test_the_bare_mark_needs_no_brackets():
    @tool
    def add(a: int) -> int:
        """Add."""
        return a

    assert is_tool(add)
    assert Tool(add).name == "add"


def test_a_function_without_words_is_described_by_its_name():
    def get_all_pages() -> str:
        return ""

    assert Tool(get_all_pages).spec.description == "get all pages"


async def test_a_sync_tool_runs_beside_the_loop_with_the_callers_context_variables():
    variable = contextvars.ContextVar("variable", default="unset")
    variable.set("mine")

    def look() -> tuple[str, bool]:
        """Look."""
        return variable.get(), threading.current_thread() is threading.main_thread()

    assert await Tool(look).run({}) == ("mine", False)


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(2), KeyboardInterrupt()], ids=repr)
async def test_what_a_sync_tool_raises_is_raised(error):
    def fail() -> str:
        """Fail."""
        raise error

    with pytest.raises(type(error)) as raised:
        await Tool(fail).run({})
    assert raised.value is error


def keys_of(seen):
    async def note(context: Context, n: int) -> str:
        """Note."""
        seen.append((context.idempotency_key, context.call_id, context.run_id))
        return "ok"

    return note


async def test_each_call_of_a_run_has_its_own_key():
    seen = []
    model = scripted([call("note", n=1), call("note", n=1), call("note", n="\ud800"), call("note", n=2), "end"])
    result = await Agent("a", model=model, tools=[keys_of(seen)]).run(task="t")
    assert result.success
    assert len({key for key, _, _ in seen}) == len(seen) == 3
    assert {run for _, _, run in seen} == {result.run_id}


async def test_a_context_knows_the_deadline_and_what_the_caller_gave():
    seen = []

    def look(context: Context) -> str:
        """Look."""
        seen.append(context)
        context.emit("said outside")
        return "ok"

    task = Task(title="t")
    await Agent("a", model=scripted([call("look"), "end"]), tools=[look]).run(
        task, deps=[1], limits=Limits(max_seconds=50)
    )
    (context,) = seen
    assert (context.agent, context.deps, context.task) == ("a", [1], task)
    assert context.deadline is not None
    assert "emit" not in repr(context)


def test_wrapped_functions_keep_their_signature():
    @functools.wraps(plain)
    def wrapper(*args, **kwargs):
        return plain(*args, **kwargs)

    made = Tool(wrapper)
    assert list(made.spec.parameters["properties"]) == ["a", "b"]
    assert made.validate({"a": "1"}) == {"a": 1, "b": 2}
