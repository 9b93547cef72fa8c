"""Follows the events of a streamed response: deltas are for display, the facts come with the last event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from officellm import (
    CallDelta,
    Delta,
    ReasoningDelta,
    Reply,
    StreamEvent,
    TextDelta,
    argument_text,
    as_mapping,
    as_sequence,
    as_text,
    cut_short,
    decode_json,
)
from officellm_provider_openai_responses.reply import message_text, refuse_errors, reply_of

_LAST = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
_REASONING = frozenset({"response.reasoning_summary_text.delta", "response.reasoning_text.delta"})


class ResponseStream:
    """`StreamParser` for the Responses API. Items are known by their id; an index is only what some servers send."""

    def __init__(self, model: str, names: Mapping[str, str]) -> None:
        self._model = model
        self._names = names
        self._reply: Reply | None = None
        self._items: list[Mapping[str, Any]] = []
        self._calls: dict[str | int, _ShownCall] = {}
        self._count = 0
        self._shown: list[str] = []
        self._thought: Any = None

    def feed(self, event: StreamEvent) -> list[Delta]:
        """Deltas to show for this event. Raises `FaultError` for an error inside the stream."""
        name, data = event
        data = data.strip()
        if self._reply is not None or not data or data == "[DONE]":
            return []
        payload = decode_json(data)
        if name == "error" and isinstance(payload, dict):
            payload = {"type": "error", **payload}
        payload = refuse_errors(payload)
        kind = as_text(payload.get("type")) or name
        if kind == "response.output_text.delta":
            return self._text(as_text(payload.get("delta")))
        if kind in _REASONING:
            return self._reasoning(payload)
        if kind == "response.function_call_arguments.delta":
            return self._arguments(payload)
        if kind == "response.output_item.added":
            return self._begun(payload)
        if kind == "response.output_item.done":
            return self._done(payload)
        return self._finished(as_mapping(payload.get("response"))) if kind in _LAST else []

    def finish(self) -> Reply:
        """The whole reply. Raises `FaultError` for a stream that was cut."""
        if self._reply is None:
            raise cut_short()
        return self._reply

    def _text(self, text: str) -> list[Delta]:
        if not text:
            return []
        self._shown.append(text)
        return [TextDelta(text)]

    def _reasoning(self, payload: Mapping[str, Any]) -> list[Delta]:
        text = as_text(payload.get("delta"))
        place = *_keys(payload)[-1:], payload.get("summary_index"), payload.get("content_index")
        begins_another = self._thought not in (None, place)
        self._thought = place
        if not text:
            return []
        return [ReasoningDelta(f"\n\n{text}" if begins_another else text)]

    def _begun(self, payload: Mapping[str, Any]) -> list[Delta]:
        item = as_mapping(payload.get("item"))
        if item.get("type") != "function_call":
            return []
        call_id, name = str(item.get("call_id") or item.get("id") or ""), as_text(item.get("name"))
        self._count += 1
        call = _ShownCall(self._count - 1, call_id, self._names.get(name, name))
        self._calls.update(dict.fromkeys(_keys(payload), call))
        return [call.delta(argument_text(item.get("arguments")))]

    def _arguments(self, payload: Mapping[str, Any]) -> list[Delta]:
        call, text = self._call_of(payload), as_text(payload.get("delta"))
        return [call.delta(text)] if call is not None and text else []

    def _done(self, payload: Mapping[str, Any]) -> list[Delta]:
        """A whole item: kept, and shown where the server sent no pieces of it."""
        item = as_mapping(payload.get("item"))
        self._items.append(item)
        call = self._call_of(payload)
        if call is None or item.get("type") != "function_call":
            return self._begun(payload)
        return [] if call.has_arguments else [call.delta(argument_text(item.get("arguments")))]

    def _call_of(self, payload: Mapping[str, Any]) -> _ShownCall | None:
        for key in _keys(payload):
            if key in self._calls:
                return self._calls[key]
        return None

    def _finished(self, response: Mapping[str, Any]) -> list[Delta]:
        output = [item for item in as_sequence(response.get("output")) if isinstance(item, dict)]
        if self._items and (not output or (message_text(self._items) and not message_text(output))):
            # Some gateways leave the output of the last event empty; what was shown is not lost with it.
            response = {**response, "output": self._items}
        self._reply = reply_of(response, self._model, self._names)
        shown = "".join(self._shown)
        text = self._reply.message.text
        return self._text(text[len(shown) :]) if text.startswith(shown) else []


class _ShownCall:
    """A call as far as it was shown."""

    def __init__(self, position: int, id: str, name: str) -> None:
        self._position = position
        self._id = id
        self._name = name
        self.has_arguments = False

    def delta(self, text: str) -> CallDelta:
        self.has_arguments = self.has_arguments or bool(text)
        return CallDelta(self._position, self._id, self._name, text)


def _keys(payload: Mapping[str, Any]) -> list[str | int]:
    """What names the item of an event, best first: llama.cpp sends no index, and some gateways a new id each time."""
    id, index = payload.get("item_id") or as_mapping(payload.get("item")).get("id"), payload.get("output_index")
    if isinstance(id, str) and isinstance(index, int):
        return [id, index]
    return [key for key in (id, index) if isinstance(key, (str, int))]
