"""Folds Gemini's parts, whole or streamed, into one neutral reply. Nothing here knows about requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    argument_text,
    as_mapping,
    as_sequence,
    as_text,
    classify_payload,
    cut_short,
    decode_json,
    malformed,
    whole_number,
)

NAME = "gemini"

_STOPS: dict[str, Stop] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "pause",
    **dict.fromkeys(
        (
            *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"),
            *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "IMAGE_OTHER", "NO_IMAGE"),
        ),
        "refused",
    ),
    # The model's own mistake: paid for, so it is a reply with its usage and not a fault.
    **dict.fromkeys(
        (
            *("MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"),
            *("MISSING_THOUGHT_SIGNATURE", "OTHER"),
        ),
        "error",
    ),
}
#: Old Vertex endpoints send the number; beyond these the two services count differently.
_NUMBERED = {1: "STOP", 2: "MAX_TOKENS", 3: "SAFETY", 4: "RECITATION", 5: "OTHER"}
#: Reasons for which calls in the reply are not the reply's point.
_FINAL = ("length", "refused")


class GeminiFold:
    """Adds up one or many `GenerateContentResponse` objects: a stream sends each part once, in order."""

    def __init__(self, model: str, tool_name: Callable[[str], str]) -> None:
        self._model = model
        self._tool_name = tool_name
        #: The parts to send back; a list is the pieces of one plain text.
        self._parts: list[dict[str, Any] | list[str]] = []
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[ToolCall] = []
        self._usage: dict[str, Any] = {}
        self._finish: Any = None
        self._finish_message = ""
        self._block: Mapping[str, Any] = {}
        self._answered = False
        self._id = ""
        self._version = ""

    @property
    def finished(self) -> bool:
        """Whether a reason to stop was sent."""
        return self._finish is not None or bool(self._block)

    def add(self, response: Mapping[str, Any]) -> list[Delta]:
        """What this response adds for show. Raises `FaultError` for an error."""
        if response.get("error"):
            raise FaultError(classify_payload(response))
        usage = as_mapping(response.get("usageMetadata"))
        if None in usage.values():
            usage = {key: value for key, value in usage.items() if value is not None}
        self._usage.update(usage)
        self._id = as_text(response.get("responseId")) or self._id
        self._version = as_text(response.get("modelVersion")) or self._version
        feedback = response.get("promptFeedback")
        if isinstance(feedback, dict) and feedback.get("blockReason"):
            self._block = feedback
        candidates = as_sequence(response.get("candidates"))
        if not candidates:
            return []
        self._answered = True
        candidate = as_mapping(candidates[0])
        if candidate.get("finishReason") is not None:
            self._finish = candidate["finishReason"]
            self._finish_message = as_text(candidate.get("finishMessage"))
        parts = as_sequence(as_mapping(candidate.get("content")).get("parts"))
        deltas: list[Delta] = []
        for part in parts:
            if isinstance(part, dict) and (delta := self._part(part)) is not None:
                deltas.append(delta)
        return deltas

    def reply(self) -> Reply:
        """The whole reply. Raises `FaultError` where there was neither an answer nor a reason for none."""
        if not self._answered and not self._block:
            raise malformed("the reply has neither candidates nor a reason why not")
        unfinished = self._block and self._finish is None
        stop: Stop = "refused" if unfinished else _stop(self._finish, bool(self._calls))
        blocked = as_text(self._block.get("blockReason"))
        raw_stop = self._finish if self._finish is not None else blocked or None
        refusal = self._finish_message or as_text(self._block.get("blockReasonMessage")) or f"blocked: {raw_stop}"
        return Reply(
            Assistant(
                text="".join(self._text),
                calls=tuple(self._calls),
                reasoning="".join(self._reasoning),
                native=self._native(),
                origin=(NAME, self._model),
            ),
            stop,
            _usage(self._usage),
            raw_stop=None if raw_stop is None else str(raw_stop),
            raw_usage=self._usage or None,
            model=self._version or None,
            id=self._id or None,
            refusal=refusal if stop == "refused" else None,
        )

    def _part(self, part: Mapping[str, Any]) -> Delta | None:
        call = part.get("functionCall")
        if isinstance(call, dict):
            return self._call(part, call)
        text = as_text(part.get("text"))
        signed = "thoughtSignature" in part
        if part.get("thought") is True:
            if signed:
                self._parts.append(dict(part))
            if text:
                self._reasoning.append(text)
            return ReasoningDelta(text) if text else None
        if "text" not in part:
            self._parts.append(dict(part))  # code that the vendor ran, its output, an image
        elif text or signed:
            self._text_part(part, text)
        return TextDelta(text) if text else None

    def _text_part(self, part: Mapping[str, Any], text: str) -> None:
        self._text.append(text)
        if len(part) > 1:
            self._parts.append(dict(part))
            return
        # A stream cuts a text anywhere; only a part with a signature must stay as it was.
        last = self._parts[-1] if self._parts else None
        if isinstance(last, list):
            last.append(text)
        else:
            self._parts.append([text])

    def _call(self, part: Mapping[str, Any], call: Mapping[str, Any]) -> Delta:
        given = as_text(call.get("id"))
        arguments = call.get("args")
        if arguments is not None and not isinstance(arguments, (str, dict)):
            arguments = argument_text(arguments)
        made = ToolCall.parse(
            given,
            self._tool_name(as_text(call.get("name"))),
            {} if arguments is None else arguments,
            {"id": given} if given else None,
        )
        self._parts.append({**part, "functionCall": {}})
        self._calls.append(made)
        return CallDelta(len(self._calls) - 1, made.id, made.name, made.raw)

    def _native(self) -> list[dict[str, Any]] | None:
        """The parts to send back, in order, without the fields that `calls` hold; None where all of them are plain."""
        if all(isinstance(part, list) or part.keys() == {"functionCall"} for part in self._parts):
            return None
        return [{"text": "".join(part)} if isinstance(part, list) else part for part in self._parts]


class GeminiStream:
    """Folds the events of one streamed reply; there is no last event, so a reason to stop ends it."""

    def __init__(self, fold: GeminiFold) -> None:
        self._fold = fold

    def feed(self, event: StreamEvent) -> list[Delta]:
        """What this event adds for show. Raises `FaultError` for an error inside the stream."""
        _, data = event
        if data.strip() == "[DONE]":  # some gateways add it
            return []
        deltas: list[Delta] = []
        for response in responses(data):
            deltas += self._fold.add(response)
        return deltas

    def finish(self) -> Reply:
        """The whole reply. Raises `FaultError` where the stream ended before the reply did."""
        if not self._fold.finished:
            raise cut_short()
        return self._fold.reply()


def responses(data: str | bytes) -> list[Mapping[str, Any]]:
    """The responses of a body or an event: one, or a list where a stream was sent as one JSON array."""
    value = decode_json(data)
    if isinstance(value, dict):
        return [value]
    if not isinstance(value, list) or not value or not all(isinstance(response, dict) for response in value):
        raise malformed("the reply is not a JSON object")
    return value


def _stop(raw: object, has_calls: bool) -> Stop:
    """A call counts because it is there: the API says STOP with calls, and more than that with an unknown tool's."""
    name = _NUMBERED.get(raw, "") if isinstance(raw, int) else str(raw or "STOP")
    stop = _STOPS.get(name, "other")
    return "tool_calls" if has_calls and stop not in _FINAL else stop


def _usage(raw: Mapping[str, Any]) -> Usage:
    """Thoughts and tool prompts are counted apart from output and input, and a counter of zero is left out."""
    prompt, thoughts = whole_number(raw.get("promptTokenCount")), whole_number(raw.get("thoughtsTokenCount")) or 0
    read = (prompt or 0) + (whole_number(raw.get("toolUsePromptTokenCount")) or 0)
    return Usage(
        input=read,
        output=(whole_number(raw.get("candidatesTokenCount")) or 0) + thoughts,
        cached=min(whole_number(raw.get("cachedContentTokenCount")) or 0, read),
        reasoning=thoughts,
        requests=1,
        complete=prompt is not None,
    )
