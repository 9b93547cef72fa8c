"""Tools of agents: what functions receive, and what models read of what they return."""

import asyncio
import threading
import time

import pytest
from pydantic import BaseModel

from officellm import Context, Limits, Office, ToolError, ToolSpec, tool
from officellm.testing import call, calls, scripted

from .reading import boss, last_result, results, unanswered, users, worker


async def answer_to(function, *made, limits=None):
    """What the model reads after it made these calls in one turn."""
    model = scripted([calls(*made), "end"])
    result = await worker(model, tools=[function]).run(task="t")
    return [one.content for one in results(model.requests[1])], result


async def test_a_function_receives_what_the_model_wrote():  # case 7
    got = []

    def web_search(query: str, limit: int = 5) -> str:
        """Find pages."""
        got.append((query, limit))
        return "hits"

    texts, _ = await answer_to(web_search, call("web_search", query="topic X", limit=5))
    assert (got, texts) == ([("topic X", 5)], ["hits"])
    assert type(got[0][1]) is int


async def test_defaults_are_applied():  # case 8
    got = []

    def web_search(query: str, limit: int = 5) -> str:
        """Find pages."""
        got.append(limit)
        return "hits"

    await answer_to(web_search, call("web_search", query="t"))
    assert got == [5]


async def test_a_sync_tool_does_not_block_an_async_one():  # case 9
    ready = threading.Event()

    def blocking() -> str:
        """Wait in a thread for the other tool."""
        return "released" if ready.wait(5) else "stuck"

    async def releasing() -> str:
        """Release the other tool."""
        await asyncio.sleep(0.01)
        ready.set()
        return "done"

    model = scripted([calls(call("blocking"), call("releasing")), "end"])
    await worker(model, tools=[blocking, releasing]).run(task="t")
    assert [one.content for one in results(model.requests[1])] == ["released", "done"]


async def test_a_sequential_tool_runs_alone():  # section 6, 21
    running, most = set(), []

    @tool(sequential=True)
    async def alone(n: int) -> str:
        """Run alone."""
        running.add(n)
        most.append(len(running))
        await asyncio.sleep(0.01)
        running.discard(n)
        return str(n)

    texts, _ = await answer_to(alone, *(call("alone", n=n) for n in range(3)))
    assert (texts, most) == (["0", "1", "2"], [1, 1, 1])


async def test_a_tool_that_raises_is_an_error_that_names_it():  # case 19
    def save() -> str:
        """Save."""
        raise ValueError("kaput")

    (text,), result = await answer_to(save, call("save"))
    assert result.success
    for part in ("save", "ValueError", "kaput"):
        assert part in text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    "raised", [SystemExit(3), KeyboardInterrupt(), StopIteration(), asyncio.CancelledError()], ids=repr
)
@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_whatever_a_tool_raises_the_run_goes_on(raised, kind):  # section 6, 14
    def plain() -> str:
        """Fail."""
        raise raised

    async def waiting() -> str:
        """Fail."""
        raise raised

    function = plain if kind == "sync" else waiting
    texts, result = await answer_to(function, call(function.__name__), call(function.__name__, {}))
    assert result.success
    assert all(text.startswith("Error: tool") for text in texts)


async def test_one_tool_that_raises_leaves_its_sibling_alone():  # R10
    async def good() -> str:
        """Work."""
        await asyncio.sleep(0.02)
        return "value"

    def bad() -> str:
        """Fail."""
        raise RuntimeError("no")

    model = scripted([calls(call("bad"), call("good")), "end"])
    await worker(model, tools=[good, bad]).run(task="t")
    first, second = results(model.requests[1])
    assert (first.is_error, second.content, second.is_error) == (True, "value", False)


async def test_an_error_text_that_a_tool_returns_passes_unchanged():  # case 20
    def lookup() -> str:
        """Look up."""
        return "Error: no such page"

    texts, _ = await answer_to(lookup, call("lookup"))
    assert texts == ["Error: no such page"]


async def test_a_tools_own_words_reach_the_model_as_they_are():  # section 6, 11
    def lookup() -> str:
        """Look up."""
        raise ToolError("Give at least one word.")

    texts, _ = await answer_to(lookup, call("lookup"))
    assert texts == ["Give at least one word."]


class Page(BaseModel):
    title: str


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, None]}, '{"a":[1,null]}'),
        (Page(title="T"), '{"title":"T"}'),
        (None, "(no output)"),
        ("", "(no output)"),
    ],
    ids=["dict", "model", "none", "empty"],
)
async def test_what_a_tool_returns_is_always_text(value, text):  # case 40
    def give():
        """Give."""
        return value

    assert (await answer_to(give, call("give")))[0] == [text]


async def test_a_huge_result_is_cut_with_a_visible_mark():  # case 40
    def give() -> str:
        """Give."""
        return "x" * 1_000_000

    (text,), _ = await answer_to(give, call("give"))
    assert text.startswith("xxx")
    assert len(text) < 51_000
    assert "950000 of 1000000 characters left out" in text


async def test_a_result_without_a_json_form_is_an_error_and_never_a_repr():  # R40
    def give() -> object:
        """Give."""
        return object()

    (text,), _ = await answer_to(give, call("give"))
    assert text.startswith("Error: tool 'give' failed")
    assert "object at 0x" not in text


async def test_a_slow_tool_is_given_up_after_its_own_time():  # section 6, 22
    @tool(timeout=0.05)
    async def slow() -> str:
        """Sleep."""
        await asyncio.sleep(30)
        return "never"

    started = time.monotonic()
    (text,), result = await answer_to(slow, call("slow"))
    assert time.monotonic() - started < 5
    assert (result.success, text) == (True, "Error: tool 'slow' did not answer within 0.05 s")


async def test_a_tool_may_know_the_run_and_the_model_may_not_forge_it():  # section 6, S5
    seen = []

    def who(context: Context, agent: str = "") -> str:
        """Tell."""
        seen.append((context.agent, context.deps, agent))
        return context.run_id

    model = scripted([call("who", agent="boss"), call("who", context={"agent": "boss"}), "end"])
    result = await worker(model, tools=[who]).run(task="t", deps={"db": 1})
    assert seen == [("research_agent", {"db": 1}, "boss")]
    assert results(model.requests[1])[0].content == result.run_id
    assert "context: unknown argument" in last_result(model)


class Vanishing:
    """A catalog whose tool is gone when it is called."""

    async def tools(self):
        return [ToolSpec("web_search", "Find", {"type": "object", "properties": {}})]

    async def call(self, name, arguments, context):
        raise ToolError(f'Tool "{name}" has no implementation provided.')


async def test_a_tool_that_went_missing_is_an_answer_to_every_call():  # case 22
    model = scripted([calls(call("web_search"), call("web_search")), "end"])
    lead = scripted([call("research_agent", task="x"), "F"])
    office = Office(boss(lead), workers=[worker(model, tools=["web_search"])], catalogs={"web": Vanishing()})
    result = await office.run("hi")
    assert result.success
    assert [one.content for one in results(model.requests[1])] == [
        'Tool "web_search" has no implementation provided.'
    ] * 2
    assert unanswered(model.requests[1].messages) == []


async def test_text_that_spans_lines_reaches_the_worker_unescaped():  # case 30
    helper = scripted(["W"])
    text = 'Line one\nLine "two"\n\tthree'
    lead = scripted([call("research_agent", task="go", context=text), "F"])
    await Office(boss(lead), workers=[worker(helper)]).run("hi")
    assert text in users(helper.requests[0])[0]


async def test_a_tool_that_speaks_is_heard_as_an_event():  # section 8.2
    def say(context: Context) -> str:
        """Speak."""
        context.emit("half way")
        return "ok"

    heard = []
    model = scripted([call("say"), "end"])
    await worker(model, tools=[say]).run(
        task="t", listener=lambda event: heard.append((event.type, getattr(event, "message", "")))
    )
    assert ("warning", "half way") in heard


async def test_a_sync_tool_is_heard_while_it_works_on_the_runs_own_thread():
    go_on = threading.Event()
    heard = []

    def say(context: Context) -> str:
        """Speak, then wait to be heard."""
        context.emit("half way")
        return "heard" if go_on.wait(5) else "not heard"

    def listen(event):
        if event.type == "warning":
            heard.append(threading.get_ident())
            go_on.set()

    model = scripted([call("say"), "end"])
    await worker(model, tools=[say]).run(task="t", listener=listen)
    assert (last_result(model), heard) == ("heard", [threading.get_ident()])


async def test_nothing_is_heard_of_a_run_that_has_ended():
    go_on, done = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    heard = []

    def late(context: Context) -> str:
        """Speak too late."""
        go_on.wait(5)
        context.emit("late")
        loop.call_soon_threadsafe(done.set)
        return "late"

    office = Office(worker(scripted([call("late"), "end"]), tools=[late], limits=Limits(tool_timeout=0.01)))
    await office.run("t", listener=lambda event: heard.append(event.type))
    go_on.set()
    await done.wait()
    assert heard[-1] == "run.end"
