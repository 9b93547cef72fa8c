"""The window over a history: the task, the newest turn, whole pairs, in order."""

import pytest
from hypothesis import given, settings, strategies as st

from officellm import Assistant, System, ToolCall, ToolResult, User
from officellm.history import window


def is_whole(messages):
    """Whether every call is followed by exactly its results."""
    open_ids = []
    for message in messages:
        if isinstance(message, ToolResult):
            if message.call_id not in open_ids:
                return False
            open_ids.remove(message.call_id)
        elif open_ids:
            return False
        elif isinstance(message, Assistant):
            open_ids = [call.id for call in message.calls]
    return not open_ids


def turn(number, count):
    made = tuple(ToolCall(f"{number}.{n}", "look", {}) for n in range(count))
    answered = [ToolResult(one.id, "look", "seen") for one in made]
    return [Assistant(f"t{number}", made), *answered] if count else [User(f"u{number}")]


@settings(max_examples=200, deadline=None)
@given(
    before=st.lists(st.integers(0, 3), max_size=6),
    after=st.lists(st.integers(0, 5), max_size=8),
    size=st.integers(4, 20),
    system=st.booleans(),
)
def test_a_window_keeps_the_task_the_newest_turn_and_the_order(before, after, size, system):
    task = User("the task")
    past = [message for n, count in enumerate(before) for message in turn(n, count)]
    newer = [turn(100 + n, count) for n, count in enumerate(after)]
    history = [*([System("s")] if system else []), *past, task, *(message for one in newer for message in one)]
    sent = window(history, size, task)
    places = [next(i for i, message in enumerate(history) if message is one) for one in sent]
    assert places == sorted(set(places))
    assert task in sent
    assert not system or sent[0] == System("s")
    assert is_whole(sent)
    newest = newer[-1] if newer else []
    assert all(any(message is one for one in sent) for message in newest)
    assert len(sent) <= max(size, len(newest) + 1 + system)
    if len(history) <= size:
        assert sent is history


@pytest.mark.parametrize("size", [None, 4, 9])
def test_a_history_that_fits_is_the_same_object(size):
    history = [System("s"), User("task"), *turn(1, 1)]
    assert window(history, size) is history


def test_what_comes_before_the_task_never_begins_with_an_answer_to_nothing():
    task = User("task")
    sent = window([User("old"), Assistant("answer"), task, *turn(1, 0)], 3, task)
    assert [message.text for message in sent] == ["task", "u1"]


def test_without_a_task_the_first_user_message_is_kept():
    history = [User("first"), *(message for n in range(5) for message in turn(n, 1))]
    sent = window(history, 5)
    assert sent[0] is history[0]
    assert list(sent[1:]) == history[-4:]
