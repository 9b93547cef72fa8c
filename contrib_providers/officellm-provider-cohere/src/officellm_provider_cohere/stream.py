"""Folds Cohere's stream events into the body that the same reply would have had unstreamed."""

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
    as_mapping,
    as_text,
    classify_payload,
    cut_short,
    decode_object,
)
from officellm_provider_cohere.reply import reply_of


class CohereStream:
    """`StreamParser` for `/v2/chat`. Citations and events of unknown type are passed over."""

    def __init__(self, model: str, names: Mapping[str, str]) -> None:
        self._model = model
        self._names = names
        self._body: dict[str, Any] = {}
        self._plan: list[str] = []
        self._parts = _Parts()
        self._calls = _Calls()

    def feed(self, event: StreamEvent) -> list[Delta]:
        """Deltas to show for this event. Raises `FaultError` for an error inside the stream."""
        name, data = event
        if data.strip() == "[DONE]":
            return []
        payload = decode_object(data)
        kind = payload.get("type")
        delta = as_mapping(payload.get("delta"))
        if name == "error" or kind == "error" or payload.get("error") or delta.get("error"):
            raise FaultError(classify_payload(payload if payload.get("error") or not delta.get("error") else delta))
        if not isinstance(kind, str) and (payload.get("message") or payload.get("detail")):
            raise FaultError(classify_payload(payload))
        message, index = as_mapping(delta.get("message")), payload.get("index")
        if kind in ("content-start", "content-delta"):
            return self._parts.add(index, as_mapping(message.get("content")), opens=kind == "content-start")
        if kind in ("tool-call-start", "tool-call-delta"):
            return self._calls.add(index, message.get("tool_calls"), opens=kind == "tool-call-start")
        if kind == "tool-plan-delta":
            return self._planned(as_text(message.get("tool_plan")))
        if kind == "message-start":
            self._body["id"] = payload.get("id")
        elif kind == "message-end":
            self._body |= {"finish_reason": delta.get("finish_reason"), "usage": delta.get("usage")}
        return []

    def finish(self) -> Reply:
        """The whole reply. Raises `FaultError` for a stream that was cut."""
        if "finish_reason" not in self._body:
            raise cut_short()
        message = {
            "content": self._parts.entries(),
            "tool_plan": "".join(self._plan),
            "tool_calls": self._calls.entries(),
        }
        return reply_of({**self._body, "message": message}, self._model, self._names)

    def _planned(self, text: str) -> list[Delta]:
        if not text:
            return []
        self._plan.append(text)
        return [ReasoningDelta(text)]


class _Parts:
    """The content's parts, in the order in which they were opened."""

    def __init__(self) -> None:
        self._found: list[tuple[str, list[str]]] = []
        self._at: dict[str, tuple[str, list[str]]] = {}

    def add(self, index: object, content: Mapping[str, Any], *, opens: bool) -> list[Delta]:
        kind = "thinking" if "thinking" in content or content.get("type") == "thinking" else "text"
        text = as_text(content.get(kind))
        if not text and not opens:
            return []
        part = self._at.get(str(index))
        if opens or part is None or part[0] != kind:
            part = self._at[str(index)] = (kind, [])
            self._found.append(part)
        if not text:
            return []
        part[1].append(text)
        return [ReasoningDelta(text) if kind == "thinking" else TextDelta(text)]

    def entries(self) -> list[dict[str, Any]]:
        return [{"type": kind, kind: "".join(texts)} for kind, texts in self._found if texts]


class _Call:
    """One call as far as it was read."""

    def __init__(self, position: int, id: str, name: str) -> None:
        self.position = position
        self.id = id
        self.name = name
        self.arguments: list[str] = []


class _Calls:
    """The calls, in the order in which they were opened."""

    def __init__(self) -> None:
        self._found: list[_Call] = []
        self._at: dict[str, _Call] = {}

    def add(self, index: object, entry: object, *, opens: bool) -> list[Delta]:
        """`entry` is one object, and a list of one where a gateway took the name `tool_calls` at its word."""
        if isinstance(entry, list):
            entry = entry[0] if entry else None
        call_entry = as_mapping(entry)
        function = as_mapping(call_entry.get("function"))
        id, name = as_text(call_entry.get("id")), as_text(function.get("name"))
        text = as_text(function.get("arguments"))
        call = self._at.get(str(index))
        if opens or call is None:
            call = self._at[str(index)] = _Call(len(self._found), id, name)
            self._found.append(call)
        call.id, call.name = call.id or id, call.name or name
        call.arguments.append(text)
        return [CallDelta(call.position, call.id, call.name, text)]

    def entries(self) -> list[dict[str, Any]]:
        return [
            {"id": call.id, "function": {"name": call.name, "arguments": "".join(call.arguments)}}
            for call in self._found
        ]
