"""What the fake LLM server sends for a scripted reply, faults applied: which bytes, and how they leave. No I/O here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from officellm.testing.faults import fault_named
from officellm.testing.replies import ScriptedFault, ScriptedReply
from officellm.testing.wires.eventstream import EVENT_STREAM, cut_payload
from officellm.testing.wires.speaker import Answer, Heard, Speaker, Trouble

_HTML = (
    b"<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head>"
    b"<body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body></html>\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """An answer and how it leaves: as it is; after a `silence`, which ends in a `break` of the connection; in pieces of
    `size` bytes, `delay` seconds apart.

    `ending`: `whole`; `early` (a stream just ends, a whole body breaks off); `break` (the connection is reset).
    """

    answer: Answer
    ending: Literal["whole", "early", "break"] = "whole"
    silence: float = 0.0
    size: int = 0
    delay: float = 0.0


def sending(speaker: Speaker, heard: Heard, reply: ScriptedReply) -> Sending:
    """What to send for `reply`, and how."""
    said = reply.as_said()
    fault = reply.fault
    if fault is None:
        return Sending(answer=speaker.say(heard, said))
    known = fault_named(fault.name)
    if known.family == "error":
        code = fault.name if fault.name in ("quota", "context_overflow") else None
        message = known.message(fault.params)
        return Sending(answer=speaker.refuse(Trouble(known.status, message, code, retry_after=fault["retry_after"])))
    if known.family == "body":
        return _SPOILT[fault.name](speaker, heard, said, fault)
    return Sending(answer=speaker.say(heard, said))


Spoil = Callable[[Speaker, Heard, ScriptedReply, ScriptedFault], Sending]


def _error_in_200(speaker: Speaker, heard: Heard, said: ScriptedReply, fault: ScriptedFault) -> Sending:
    return Sending(answer=speaker.refuse_in_200(heard, Trouble(529, fault["message"])))


def _html_body(speaker: Speaker, heard: Heard, said: ScriptedReply, fault: ScriptedFault) -> Sending:
    return Sending(answer=Answer((_HTML,), "text/html", int(fault["status"])))


def _empty_body(speaker: Speaker, heard: Heard, said: ScriptedReply, fault: ScriptedFault) -> Sending:
    answer = speaker.say(heard, said)
    return Sending(answer=Answer((b"",), answer.content_type, int(fault["status"])))


def _malformed_json(speaker: Speaker, heard: Heard, said: ScriptedReply, fault: ScriptedFault) -> Sending:
    answer = speaker.say(heard, said)
    middle = (len(answer.pieces) - 1) // 2
    piece = answer.pieces[middle]
    if answer.content_type == EVENT_STREAM:
        cut = cut_payload(piece)
    else:
        text = piece.rstrip()
        # The event still ends with its blank line: only its JSON is broken.
        cut = text[: len(text) * 2 // 3] + piece[len(text) :]
    return Sending(answer=replace(answer, pieces=(*answer.pieces[:middle], cut, *answer.pieces[middle + 1 :])))


def _dropped_stream(speaker: Speaker, heard: Heard, said: ScriptedReply, fault: ScriptedFault) -> Sending:
    answer = speaker.say(heard, said)
    if not answer.streamed:
        body = answer.pieces[0]
        return Sending(answer=replace(answer, pieces=(body[: len(body) // 2], body[len(body) // 2 :])), ending="early")
    after = int(fault["after"])
    kept = min(after, answer.unfinished) if after >= 0 else (answer.unfinished + 1) // 2
    return Sending(answer=replace(answer, pieces=answer.pieces[:kept]), ending="early")


def _dropped_connection(speaker: Speaker, heard: Heard, said: ScriptedReply, fault: ScriptedFault) -> Sending:
    return Sending(answer=speaker.say(heard, said), ending="break")


def _slow_bytes(speaker: Speaker, heard: Heard, said: ScriptedReply, fault: ScriptedFault) -> Sending:
    return Sending(answer=speaker.say(heard, said), size=max(1, int(fault["size"])), delay=fault["delay"])


def _hang(speaker: Speaker, heard: Heard, said: ScriptedReply, fault: ScriptedFault) -> Sending:
    return Sending(answer=speaker.say(heard, said), ending="break", silence=fault["seconds"])


_SPOILT: dict[str, Spoil] = {
    "dropped_connection": _dropped_connection,
    "dropped_stream": _dropped_stream,
    "empty_body": _empty_body,
    "error_in_200": _error_in_200,
    "hang": _hang,
    "html_body": _html_body,
    "malformed_json": _malformed_json,
    "slow_bytes": _slow_bytes,
}
