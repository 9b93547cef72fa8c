"""What of a history is sent: the instructions and the task always, then whole turns, the newest first."""

from __future__ import annotations

from collections.abc import Sequence

from officellm.messages import Assistant, Message, System, ToolResult, User


def window(history: Sequence[Message], size: int | None, task: User | None = None) -> Sequence[Message]:
    """At most `size` messages, never a call without its results, never without `task` (the first User by default).

    One turn is an assistant message with its results, or a user message. The newest turn is sent whole, whatever its
    size. The history itself is returned where it fits.
    """
    if size is None or len(history) <= size:
        return history
    turns = _turns(history)
    place = _place_of(task, turns)
    pinned = [index for index, turn in enumerate(turns) if index == place or isinstance(turn[0], System)]
    room = size - len(pinned)
    kept: list[int] = []
    for index in range(len(turns) - 1, -1, -1):
        if index in pinned:
            continue
        if len(turns[index]) > room and index != len(turns) - 1:
            break
        kept.append(index)
        room -= len(turns[index])
    # What came before the task may not begin with a reply whose question was left out.
    while kept and kept[-1] < place and isinstance(turns[kept[-1]][0], Assistant):
        kept.pop()
    return [message for index in sorted([*pinned, *kept]) for message in turns[index]]


def _turns(history: Sequence[Message]) -> list[list[Message]]:
    turns: list[list[Message]] = []
    for message in history:
        if isinstance(message, ToolResult) and turns and isinstance(turns[-1][0], Assistant):
            turns[-1].append(message)
        else:
            turns.append([message])
    return turns


def _place_of(task: User | None, turns: Sequence[Sequence[Message]]) -> int:
    for index, turn in enumerate(turns):
        if turn[0] is task or (task is None and isinstance(turn[0], User)):
            return index
    return -1
