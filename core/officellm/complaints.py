"""Says in words what `transcript.legal` would repair: what some vendor would refuse in a history, and where."""

from __future__ import annotations

from collections.abc import Sequence

from officellm.messages import Assistant, Message, System, ToolCall, ToolResult, User
from officellm.transcript import legal_name


def complaints(messages: Sequence[Message]) -> list[str]:
    """One line for each thing; empty exactly where `legal` changes nothing."""
    reader = _Reader()
    for place, message in enumerate(messages):
        reader.read(f"messages[{place}]", message, first=place == 0)
    return reader.ended()


def odd_names(messages: Sequence[Message]) -> list[str]:
    """Tool names that some vendor refuses; every wire format sends an alias, so nothing must be repaired."""
    names = {call.name: None for message in messages if isinstance(message, Assistant) for call in message.calls}
    return [f"the tool name {name!r} is sent as {legal_name(name)!r}" for name in names if legal_name(name) != name]


class _Reader:
    def __init__(self) -> None:
        self._found: list[str] = []
        self._ids: set[str] = set()
        self._waiting: list[ToolCall] = []
        self._waiting_at = ""
        self._begun = False

    def ended(self) -> list[str]:
        self._close()
        if not self._begun:
            self._found.append("messages: there is no user message")
        return self._found

    def read(self, at: str, message: Message, *, first: bool) -> None:
        if isinstance(message, ToolResult):
            self._result(at, message)
            return
        self._close()
        if isinstance(message, System):
            if not first:
                self._found.append(f"{at}: a system message that is not the first message")
            return
        if isinstance(message, Assistant):
            self._reply(at, message)
        self._begin(at, message)

    def _begin(self, at: str, message: Message) -> None:
        if not self._begun and not isinstance(message, User):
            self._found.append(f"{at}: the first message after the system's is not the user's")
        self._begun = True

    def _reply(self, at: str, message: Assistant) -> None:
        if not message.calls and message.native is None and not message.text.strip():
            self._found.append(f"{at}: an empty reply")
        for place, call in enumerate(message.calls):
            if not call.id:
                self._found.append(f"{at}.calls[{place}]: a call of {call.name!r} without an id")
            elif call.id in self._ids:
                self._found.append(f"{at}.calls[{place}]: the id {call.id!r} is in use already")
            self._ids.add(call.id)
        self._waiting, self._waiting_at = list(message.calls), at

    def _result(self, at: str, result: ToolResult) -> None:
        place = next((n for n, call in enumerate(self._waiting) if call.id == result.call_id), None)
        if place is None:
            self._found.append(f"{at}: a result for {result.call_id!r}, which is no open call of the reply before it")
            self._begin(at, result)
            return
        call = self._waiting.pop(place)
        if place:
            self._found.append(f"{at}: the result of {call.id!r} is not in the order of the calls")
        elif call.name != result.name:
            self._found.append(f"{at}: a result of {result.name!r} for a call of {call.name!r}")

    def _close(self) -> None:
        for call in self._waiting:
            self._found.append(f"{self._waiting_at}: the call {call.id!r} of {call.name!r} has no result")
        self._waiting = []
