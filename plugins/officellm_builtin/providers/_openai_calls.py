"""Sorts the fragments of streamed calls, which compatible servers mark in all sorts of ways, into whole calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from officellm import CallDelta, argument_text, as_mapping, as_text, parse_arguments

#: What opens and closes in JSON. Within a text only its end counts, and what is escaped is neither.
_MARKS = re.compile(r'["{}\[\]]|\\.', re.DOTALL)
#: Texts of this many characters are read as often as one likes.
_SHORT = 16


class _Nesting:
    """Follows a JSON object that comes in pieces, reading each once: whether its last brace has come, and no more."""

    def __init__(self) -> None:
        self.closed = False
        self._spoiled = False
        self._depth = 0
        self._in_text = False
        self._escape = ""

    def add(self, piece: str) -> None:
        """Take one piece in."""
        end = 0
        if not self.closed and not self._spoiled:
            piece = self._escape + piece
            end = self._follow(piece)
        if self.closed and piece[end:].strip():
            self.closed, self._spoiled = False, True

    def _follow(self, piece: str) -> int:
        """Where the object ends; its end where it does not."""
        end = 0
        for mark in _MARKS.finditer(piece):
            end, char = mark.end(), mark[0]
            if char == '"':
                self._in_text = not self._in_text
            elif not self._in_text and char[0] != "\\":
                self._depth += 1 if char in "{[" else -1
                if self._depth <= 0:
                    self.closed = True
                    return end
        self._escape = "\\" if piece[end:].endswith("\\") else ""
        return len(piece)


class _Call:
    """One call as far as it was read."""

    def __init__(self, position: int) -> None:
        self.position = position
        self.id = ""
        self.name = ""
        self.parts: list[str] = []
        self.extra: Mapping[str, Any] | None = None
        self._nesting = _Nesting()
        self._followed = 0
        self._size = 0

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def is_complete(self) -> bool:
        """Whether the arguments so far are one whole object, and not merely absent."""
        # Asked for fragment after fragment by some servers' habits: the text must not be read each time.
        for part in self.parts[self._followed :]:
            self._nesting.add(part)
            self._size += len(part)
        self._followed = len(self.parts)
        if self._size > _SHORT and not self._nesting.closed:
            return False
        text = self.text
        return bool(text.strip()) and parse_arguments(text)[0] is not None


class CallFold:
    """Sorts fragments of calls. An index is a hint: servers leave it out, repeat it and begin anywhere."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._at: dict[Any, _Call] = {}

    def add(self, delta: Mapping[str, Any]) -> CallDelta:
        """Take one fragment in; returns what to show of it."""
        function = as_mapping(delta.get("function"))
        given = delta.get("id")
        call_id = "" if given is None else str(given)
        name, text = as_text(function.get("name")), argument_text(function.get("arguments"))
        index = delta.get("index")
        key = index if isinstance(index, (int, str)) else None
        call = self._at.get(key) if key is not None else (self._calls[-1] if self._calls else None)
        # A fragment with neither id nor name goes on with the last call.
        if call is None or ((call_id or name) and _opens(call, call_id, name, text, indexed=key is not None)):
            call = _Call(len(self._calls))
            self._calls.append(call)
        if key is not None:
            self._at[key] = call
        call.id = call.id or call_id
        call.name = call.name or name
        if isinstance(delta.get("extra_content"), dict):
            call.extra = delta["extra_content"]
        if text and (text[0] != "{" or not _repeats(call, text)):
            call.parts.append(text)
        else:
            text = ""
        return CallDelta(call.position, call.id, call.name, text)

    def entries(self) -> list[dict[str, Any]]:
        """The calls as a whole body has them, in order of appearance."""
        return [
            {"id": call.id, "function": {"name": call.name, "arguments": call.text}, "extra_content": call.extra}
            for call in self._calls
        ]


def _opens(call: _Call, call_id: str, name: str, text: str, *, indexed: bool) -> bool:
    """Whether a fragment in the place of `call` begins another call."""
    new_id = bool(call_id and call.id and call_id != call.id)
    if name and call.name:
        if new_id or name != call.name or not (indexed or call_id):
            return True
        # Repeated with every fragment by some servers; but nothing goes on after arguments that are whole.
        return text.lstrip()[:1] == "{" and call.is_complete() and not _repeats(call, text)
    # Some servers make up a new id for every fragment: without a name it must follow a finished call.
    return new_id and call.is_complete() and text.lstrip()[:1] in ("", "{")


def _repeats(call: _Call, text: str) -> bool:
    """Whether a fragment is the finished arguments once more: a closing summary, or a repeated delta."""
    if not call.parts or text[:1] != "{" or text[-1:] != "}":
        return False
    return call.is_complete() and parse_arguments(text)[0] == parse_arguments(call.text)[0]
