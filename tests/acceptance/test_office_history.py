"""Long conversations: whatever the window, the task stays and calls and results stay together."""

from officellm import Assistant, System, ToolResult, User
from officellm.testing import call, calls, scripted

from .reading import unanswered, worker


def look(n: int) -> str:
    """Look."""
    return f"seen {n}"


async def test_every_request_of_a_long_run_holds_instructions_task_and_whole_pairs():  # case 48
    turns = [calls(call("look", n=2 * n), call("look", n=2 * n + 1)) for n in range(12)]
    model = scripted([*turns, "end"])
    agent = worker(model, tools=[look], instructions="You look.", context_window=7)
    assert (await agent.run(task="the task")).content == "end"
    for request in model.requests:
        first, second, *rest = request.messages
        assert (first, "the task" in second.text) == (System("You look."), True)
        assert len(rest) <= 5
        assert unanswered(request.messages) == []
    assert [one.content for one in model.requests[-1].messages if isinstance(one, ToolResult)] == ["seen 22", "seen 23"]


async def test_the_task_of_a_continued_conversation_is_the_newest_one():  # case 48
    earlier = [message for n in range(6) for message in (User(f"old {n}"), Assistant(f"answer {n}"))]
    model = scripted([call("look", n=1), call("look", n=2), call("look", n=3), "end"])
    await worker(model, tools=[look], context_window=4).run(task="the task", history=earlier)
    for request in model.requests:
        assert any("the task" in message.text for message in request.messages if isinstance(message, User))
        assert isinstance(request.messages[0], User)
        assert unanswered(request.messages) == []
