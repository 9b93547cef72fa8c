"""Reads Ollama's replies, whole or folded from a stream into the whole form: one reading for both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from officellm import (
    Assistant,
    CallDelta,
    Delta,
    FaultError,
    ReasoningDelta,
    Reply,
    Stop,
    StreamEvent,
    TextDelta,
    ToolCall,
    Usage,
    as_mapping,
    as_sequence,
    as_text,
    classify_payload,
    cut_short,
    decode_object,
    malformed,
    whole_number,
)
from officellm_provider_ollama.messages import NAME

_STOPS: dict[str, Stop] = {"": "stop", "stop": "stop", "load": "stop", "unload": "stop", "length": "length"}


def refuse_errors(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The body or line, which has no error in it. Raises `FaultError` for any other."""
    if body.get("error"):
        raise FaultError(classify_payload(body))
    return body


def reply_of(body: Mapping[str, Any], model: str, names: Mapping[str, str]) -> Reply:
    """The reply in a whole body. `names` leads from tool aliases back. Raises `FaultError` where there is none."""
    return _reply(body, model, names, [_call(entry) for entry in _entries(body)])


def _reply(body: Mapping[str, Any], model: str, names: Mapping[str, str], found: Sequence[ToolCall]) -> Reply:
    if not isinstance(body.get("message"), dict) and not isinstance(body.get("response"), str):
        raise malformed("the reply has no message")
    calls = tuple(replace(call, name=names[call.name]) if call.name in names else call for call in found)
    finish = as_text(body.get("done_reason"))
    sent, made = whole_number(body.get("prompt_eval_count")), whole_number(body.get("eval_count"))
    stop = _STOPS.get(finish, "other")
    return Reply(
        Assistant(_text(body), calls, _thinking(body), origin=(NAME, model)),
        "tool_calls" if calls and stop in ("stop", "other") else stop,
        # The server leaves the prompt's count out where it had the prompt in its cache.
        Usage(input=sent or 0, output=made or 0, requests=1, complete=sent is not None and made is not None),
        raw_stop=finish or None,
        raw_usage={key: value for key, value in body.items() if key.endswith(("_count", "_duration"))} or None,
        model=as_text(body.get("model")) or None,
    )


class OllamaStream:
    """`StreamParser` for `/api/chat`, and for `/api/generate`, whose lines have `response` in place of a message."""

    def __init__(self, model: str, names: Mapping[str, str]) -> None:
        self._model = model
        self._names = names
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._calls: list[ToolCall] = []
        self._last: Mapping[str, Any] | None = None

    def feed(self, event: StreamEvent) -> list[Delta]:
        """Deltas to show for this line. Raises `FaultError` for an error inside the stream."""
        line = refuse_errors(decode_object(event.data))
        deltas: list[Delta] = []
        if thought := _thinking(line):
            self._thoughts.append(thought)
            deltas.append(ReasoningDelta(thought))
        if text := _text(line):
            self._texts.append(text)
            deltas.append(TextDelta(text))
        for entry in _entries(line):
            call = _call(entry)
            deltas.append(CallDelta(len(self._calls), call.id, call.name, call.raw))
            self._calls.append(call)
        if line.get("done") is True:
            self._last = line
        return deltas

    def finish(self) -> Reply:
        """The whole reply. Raises `FaultError` for a stream that was cut."""
        if self._last is None:
            raise cut_short()
        message = {"content": "".join(self._texts), "thinking": "".join(self._thoughts)}
        return _reply({**self._last, "message": message}, self._model, self._names, self._calls)


def _text(body: Mapping[str, Any]) -> str:
    message = body.get("message")
    return as_text(message.get("content")) if isinstance(message, dict) else as_text(body.get("response"))


def _thinking(body: Mapping[str, Any]) -> str:
    message = body.get("message")
    return as_text((message if isinstance(message, dict) else body).get("thinking"))


def _entries(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    entries = as_sequence(as_mapping(body.get("message")).get("tool_calls"))
    return [entry for entry in entries if isinstance(entry, dict)]


def _call(entry: Mapping[str, Any]) -> ToolCall:
    """Arguments are an object; a proxy may make them a text. Older servers send no id."""
    function = as_mapping(entry.get("function"))
    arguments = function.get("arguments")
    raw = arguments if isinstance(arguments, (str, dict)) else None
    return ToolCall.parse(as_text(entry.get("id")), as_text(function.get("name")), raw)
