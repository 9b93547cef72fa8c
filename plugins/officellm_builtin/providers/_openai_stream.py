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
    classify_http,
    cut_short,
    malformed,
    parse_arguments,
)
from officellm_builtin.providers._openai_reply import (
    argument_text,
    decoded,
    mapping,
    reasoning_text,
    refuse_errors,
    reply_of,
    sequence,
    string,
)
from officellm_builtin.providers._think_tags import ThoughtSplitter


class OpenAIStream:
    """`StreamParser` for chat completions, with all that compatible servers do differently."""

    def __init__(self, model: str, names: Mapping[str, str], *, think_tags: bool = False) -> None:
        self._splitter = ThoughtSplitter() if think_tags else None
        self._model = model
        self._names = names
        self._done = False
        self._body: dict[str, Any] = {}
        self._choice: Any = None
        self._finish: str | None = None
        self._texts: dict[str, list[str]] = {}
        self._content: list[dict[str, Any]] = []
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
        chunk = refuse_errors(decoded(data))
        for key in ("id", "model"):
            if chunk.get(key) and key not in self._body:
                self._body[key] = chunk[key]
        for usage in (chunk.get("usage"), mapping(chunk.get("x_groq")).get("usage")):
            if isinstance(usage, dict):
                self._body["usage"] = usage
        deltas: list[Delta] = []
        for choice in sequence(chunk.get("choices")):
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
        if self._content:
            message["content"] = self._content
        if self._details.entries:
            message["reasoning_details"] = self._details.entries
        message["tool_calls"] = self._calls.entries()
        choice = {"message": message, "finish_reason": self._finish}
        return reply_of(
            {**self._body, "choices": [choice]}, self._model, self._names, think_tags=self._splitter is not None
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
            delta = mapping(choice.get("message"))
        thought = reasoning_text(delta)
        if thought:
            deltas.append(ReasoningDelta(thought))
        for key in ("reasoning_content", "reasoning", "refusal"):
            if isinstance(delta.get(key), str):
                self._texts.setdefault(key, []).append(delta[key])
        self._add_content(delta.get("content"), deltas)
        if isinstance(delta.get("extra_content"), dict):
            self._kept["extra_content"] = delta["extra_content"]
        for detail in sequence(delta.get("reasoning_details")):
            if isinstance(detail, dict):
                self._details.add(detail)
        if delta.get("tool_calls") or delta.get("function_call"):
            deltas.extend(self._calls.add(call) for call in self._call_deltas(delta))

    @staticmethod
    def _call_deltas(delta: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = [call for call in sequence(delta.get("tool_calls")) if isinstance(call, dict)]
        legacy = delta.get("function_call")
        if not found and isinstance(legacy, dict) and (legacy.get("name") or legacy.get("arguments")):
            return [{"index": 0, "function": legacy}]
        return found

    def _add_content(self, content: object, deltas: list[Delta]) -> None:
        if isinstance(content, str):
            if self._content:
                self._add_part({"type": "text", "text": content}, deltas)
            elif content:
                self._texts.setdefault("content", []).append(content)
                deltas.extend(self._shown(content))
        for part in sequence(content):
            if isinstance(part, dict):
                if not self._content and self._texts.get("content"):
                    self._content.append({"type": "text", "text": "".join(self._texts["content"])})
                self._add_part(part, deltas)

    def _shown(self, text: str) -> list[Delta]:
        if self._splitter is None:
            return [TextDelta(text)]
        return [ReasoningDelta(piece) if thought else TextDelta(piece) for thought, piece in self._splitter.feed(text)]

    def _add_part(self, part: Mapping[str, Any], deltas: list[Delta]) -> None:
        """Content in parts: a part of the last one's type goes on where that one ended."""
        text = string(part.get("text")) if part.get("type") == "text" else ""
        thought = "".join(string(mapping(piece).get("text")) for piece in sequence(part.get("thinking")))
        if text:
            deltas.append(TextDelta(text))
        if thought:
            deltas.append(ReasoningDelta(thought))
        last = self._content[-1] if self._content else {}
        if text and last.get("type") == "text":
            last["text"] += text
        elif thought and last.get("type") == "thinking":
            last["thinking"] = [{"type": "text", "text": last["thinking"][0]["text"] + thought}]
        elif thought:
            self._content.append({**part, "thinking": [{"type": "text", "text": thought}]})
        elif text or part.get("type") not in ("text", "thinking"):
            self._content.append(dict(part))


class _Details:
    """Joins the fragments of `reasoning_details`: same index and type are one entry, whose text adds up."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []

    def add(self, part: Mapping[str, Any]) -> None:
        for entry in reversed(self.entries):
            if self._same(entry, part):
                break
        else:
            self.entries.append(dict(part))
            return
        for key, value in part.items():
            if key in ("text", "summary", "data") and isinstance(value, str):
                entry[key] = string(entry.get(key)) + value
            elif value or key not in entry:
                entry[key] = value

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
        function = mapping(delta.get("function"))
        call_id = str(delta["id"]) if delta.get("id") not in (None, "") else ""
        name, text = string(function.get("name")), argument_text(function.get("arguments"))
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
