"""Folds the chunks of a streamed chat completion into the body that the same reply would have had unstreamed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from officellm import (
    CallDelta,
    Delta,
    FaultError,
    ReasoningDelta,
    Reply,
    StreamEvent,
    TextDelta,
    argument_text,
    as_mapping,
    as_sequence,
    as_text,
    classify_http,
    cut_short,
    decode_json,
    malformed,
    parse_arguments,
)
from officellm_builtin.providers._openai_reply import reasoning_text, refuse_errors, reply_of
from officellm_builtin.providers._think_tags import ThoughtSplitter

#: Fields of a reasoning detail whose fragments add up.
_GROWING = ("text", "summary", "data")


class OpenAIStream:
    """`StreamParser` for chat completions, with all that compatible servers do differently."""

    def __init__(self, origin: tuple[str, str], names: Mapping[str, str], *, think_tags: bool = False) -> None:
        self._splitter = ThoughtSplitter() if think_tags else None
        self._origin = origin
        self._names = names
        self._done = False
        self._body: dict[str, Any] = {}
        self._choice: Any = None
        self._finish: str | None = None
        self._texts: dict[str, list[str]] = {}
        self._content = _Content()
        self._kept: dict[str, Any] = {}
        self._details = _Details()
        self._calls = CallFold()

    def feed(self, event: StreamEvent) -> list[Delta]:
        """Deltas to show for this event. Raises `FaultError` for an error inside the stream."""
        data = event.data.strip()
        if self._done:
            return []
        if data == "[DONE]":
            self._done = True
            return []
        if event.name == "error":
            raise FaultError(classify_http(200, {}, data.encode("utf-8", "replace")))
        chunk = refuse_errors(decode_json(data))
        for key in ("id", "model"):
            if chunk.get(key) and key not in self._body:
                self._body[key] = chunk[key]
        for usage in (chunk.get("usage"), as_mapping(chunk.get("x_groq")).get("usage")):
            if isinstance(usage, dict):
                self._body["usage"] = usage
        deltas: list[Delta] = []
        for choice in as_sequence(chunk.get("choices")):
            if isinstance(choice, dict) and self._is_ours(choice):
                self._read(choice, deltas)
        return deltas

    def finish(self) -> Reply:
        """The whole reply. Raises `FaultError` for a stream that was cut."""
        if not self._done and not self._finish:
            raise cut_short()
        if self._choice is None:
            raise malformed("the stream has no choices")
        message: dict[str, Any] = {key: "".join(parts) for key, parts in self._texts.items()} | self._kept
        if content := self._content.entries():
            message["content"] = content
        if details := self._details.entries():
            message["reasoning_details"] = details
        message["tool_calls"] = self._calls.entries()
        choice = {"message": message, "finish_reason": self._finish}
        return reply_of(
            {**self._body, "choices": [choice]}, self._origin, self._names, think_tags=self._splitter is not None
        )

    def _is_ours(self, choice: Mapping[str, Any]) -> bool:
        """Whether the choice belongs to the first answer: only one is ever asked for, gateways may send more."""
        index = choice.get("index") or 0
        if self._choice is None:
            self._choice = index
        return bool(self._choice == index)

    def _read(self, choice: Mapping[str, Any], deltas: list[Delta]) -> None:
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and (finish or self._finish is None):
            self._finish = finish
        if isinstance(choice.get("usage"), dict):
            self._body["usage"] = choice["usage"]
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            delta = as_mapping(choice.get("message"))
        thought = reasoning_text(delta)
        if thought:
            deltas.append(ReasoningDelta(thought))
        for key in ("reasoning_content", "reasoning", "refusal"):
            if isinstance(delta.get(key), str):
                self._texts.setdefault(key, []).append(delta[key])
        self._add_content(delta.get("content"), deltas)
        if isinstance(delta.get("extra_content"), dict):
            self._kept["extra_content"] = delta["extra_content"]
        for detail in as_sequence(delta.get("reasoning_details")):
            if isinstance(detail, dict):
                self._details.add(detail)
        if delta.get("tool_calls") or delta.get("function_call"):
            deltas.extend(self._calls.add(call) for call in self._call_deltas(delta))

    @staticmethod
    def _call_deltas(delta: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        calls = as_sequence(delta.get("tool_calls"))
        found: list[Mapping[str, Any]] = [call for call in calls if isinstance(call, dict)]
        legacy = delta.get("function_call")
        if not found and isinstance(legacy, dict) and (legacy.get("name") or legacy.get("arguments")):
            return [{"index": 0, "function": legacy}]
        return found

    def _add_content(self, content: object, deltas: list[Delta]) -> None:
        if isinstance(content, str):
            if self._content.in_parts:
                deltas.extend(self._content.add({"type": "text", "text": content}))
            elif content:
                self._texts.setdefault("content", []).append(content)
                deltas.extend(self._shown(content))
        for part in as_sequence(content):
            if isinstance(part, dict):
                if not self._content.in_parts and self._texts.get("content"):
                    self._content.add({"type": "text", "text": "".join(self._texts["content"])})
                deltas.extend(self._content.add(part))

    def _shown(self, text: str) -> list[Delta]:
        if self._splitter is None:
            return [TextDelta(text)]
        return [ReasoningDelta(piece) if thought else TextDelta(piece) for thought, piece in self._splitter.feed(text)]


class _Content:
    """Content in parts: a part of the last one's type goes on where that one ended."""

    def __init__(self) -> None:
        #: Each part as it began, and the pieces of its text or thought.
        self._parts: list[tuple[dict[str, Any], list[str]]] = []

    @property
    def in_parts(self) -> bool:
        """Whether there is a part."""
        return bool(self._parts)

    def add(self, part: Mapping[str, Any]) -> list[Delta]:
        """What this part adds for show."""
        text = as_text(part.get("text")) if part.get("type") == "text" else ""
        thought = "".join(as_text(as_mapping(piece).get("text")) for piece in as_sequence(part.get("thinking")))
        last, pieces = self._parts[-1] if self._parts else ({}, [])
        if text and last.get("type") == "text":
            pieces.append(text)
        elif thought and last.get("type") == "thinking":
            pieces.append(thought)
        elif text or thought or part.get("type") not in ("text", "thinking"):
            self._parts.append((dict(part), [thought or text]))
        shown: list[Delta] = [TextDelta(text)] if text else []
        return [*shown, ReasoningDelta(thought)] if thought else shown

    def entries(self) -> list[dict[str, Any]]:
        """The parts as a whole body has them."""
        return [_joined(part, "".join(pieces)) for part, pieces in self._parts]


def _joined(part: dict[str, Any], said: str) -> dict[str, Any]:
    if part.get("type") == "text":
        return {**part, "text": said}
    return {**part, "thinking": [{"type": "text", "text": said}]} if part.get("thinking") else part


class _Details:
    """Joins the fragments of `reasoning_details`: same index and type are one entry, whose text adds up."""

    def __init__(self) -> None:
        #: Each entry, and the pieces of its texts.
        self._entries: list[tuple[dict[str, Any], dict[str, list[str]]]] = []

    def add(self, part: Mapping[str, Any]) -> None:
        """Take one fragment in."""
        entry, pieces = self._entry(part)
        for key, value in part.items():
            if key in _GROWING and isinstance(value, str):
                pieces.setdefault(key, []).append(value)
            if key not in entry or (value and key not in pieces):
                entry[key] = value

    def entries(self) -> list[dict[str, Any]]:
        """The entries as a whole body has them."""
        return [{**entry, **{key: "".join(texts) for key, texts in pieces.items()}} for entry, pieces in self._entries]

    def _entry(self, part: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, list[str]]]:
        """The entry that the fragment belongs to; a new one where there is none."""
        for entry, pieces in reversed(self._entries):
            if self._same(entry, part):
                return entry, pieces
        fresh: tuple[dict[str, Any], dict[str, list[str]]] = {}, {}
        self._entries.append(fresh)
        return fresh

    @staticmethod
    def _same(entry: Mapping[str, Any], part: Mapping[str, Any]) -> bool:
        if any(entry.get(key) != part.get(key) for key in ("index", "type")):
            return False
        return not (entry.get("id") and part.get("id")) or entry["id"] == part["id"]


class _Call:
    """One call as far as it was read."""

    def __init__(self, position: int) -> None:
        self.position = position
        self.id = ""
        self.name = ""
        self.parts: list[str] = []
        self.extra: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def is_complete(self) -> bool:
        """Whether the arguments so far are one whole object, and not merely absent."""
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
        call_id = str(delta["id"]) if delta.get("id") not in (None, "") else ""
        name, text = as_text(function.get("name")), argument_text(function.get("arguments"))
        index = delta.get("index")
        key = index if isinstance(index, (int, str)) else None
        call = self._at.get(key) if key is not None else (self._calls[-1] if self._calls else None)
        if call is None or _opens(call, call_id, name, text, indexed=key is not None):
            call = _Call(len(self._calls))
            self._calls.append(call)
        if key is not None:
            self._at[key] = call
        call.id = call.id or call_id
        call.name = call.name or name
        if isinstance(delta.get("extra_content"), dict):
            call.extra = delta["extra_content"]
        if text and not _repeats(call, text):
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
