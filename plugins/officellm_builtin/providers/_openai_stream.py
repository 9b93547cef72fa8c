"""Folds the chunks of a streamed chat completion into the body that the same reply would have had unstreamed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from officellm import (
    Delta,
    FaultError,
    ReasoningDelta,
    Reply,
    StreamEvent,
    TextDelta,
    as_mapping,
    as_sequence,
    as_text,
    classify_http,
    cut_short,
    decode_json,
    malformed,
)
from officellm_builtin.providers._openai_calls import CallFold
from officellm_builtin.providers._openai_reply import reasoning_text, refuse_errors, reply_of
from officellm_builtin.providers._think_tags import ThoughtSplitter

#: What most deltas have, and nothing else.
_USUAL = frozenset({"role", "content", "tool_calls"})
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
        self._said: list[str] = []
        self._content = _Content()
        self._kept: dict[str, Any] = {}
        self._details = _Details()
        self._calls = CallFold()

    def feed(self, event: StreamEvent) -> list[Delta]:
        """Deltas to show for this event. Raises `FaultError` for an error inside the stream."""
        name, data = event
        data = data.strip()
        if self._done:
            return []
        if data == "[DONE]":
            self._done = True
            return []
        if name == "error":
            raise FaultError(classify_http(200, {}, data.encode("utf-8", "replace")))
        chunk = refuse_errors(decode_json(data))
        body = self._body
        for key in ("id", "model"):
            if key not in body and chunk.get(key):
                body[key] = chunk[key]
        for counted in (chunk, chunk.get("x_groq")):
            if isinstance(counted, dict) and isinstance(counted.get("usage"), dict):
                body["usage"] = counted["usage"]
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
        if content := self._content.entries() or "".join(self._said):
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
        if not _USUAL.issuperset(delta):
            self._read_more(delta, deltas)
        if content := delta.get("content"):
            self._add_content(content, deltas)
        if delta.get("tool_calls") or delta.get("function_call"):
            for call in self._call_deltas(delta):
                deltas.append(self._calls.add(call))

    def _read_more(self, delta: Mapping[str, Any], deltas: list[Delta]) -> None:
        """What few deltas have beside content and calls."""
        thought = reasoning_text(delta)
        if thought:
            deltas.append(ReasoningDelta(thought))
        for key in ("reasoning_content", "reasoning", "refusal"):
            if isinstance(delta.get(key), str):
                self._texts.setdefault(key, []).append(delta[key])
        if isinstance(delta.get("extra_content"), dict):
            self._kept["extra_content"] = delta["extra_content"]
        for detail in as_sequence(delta.get("reasoning_details")):
            if isinstance(detail, dict):
                self._details.add(detail)

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
                return
            self._said.append(content)
            if self._splitter is None:
                deltas.append(TextDelta(content))
                return
            pieces = self._splitter.feed(content)
            deltas.extend(ReasoningDelta(piece) if thought else TextDelta(piece) for thought, piece in pieces)
        for part in as_sequence(content):
            if isinstance(part, dict):
                if not self._content.in_parts and self._said:
                    self._content.add({"type": "text", "text": "".join(self._said)})
                deltas.extend(self._content.add(part))


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
