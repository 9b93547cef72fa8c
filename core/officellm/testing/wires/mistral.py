"""How the fake LLM server speaks Mistral's chat completions. What it refuses stands in `mistral_rules.py`.

A call comes in one piece, thoughts are parts of the content, and the counts stand on the last chunk unasked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from officellm.codec import dumps
from officellm.messages import Usage
from officellm.testing.replies import ScriptedReply
from officellm.testing.wires.completions import CREATED, FINISH, JSON, CompletionsSpeaker, streamed
from officellm.testing.wires.mistral_rules import complain
from officellm.testing.wires.speaker import Answer, Heard, Trouble, pieces_of

#: Mistral's number for each kind of error that is known to have one.
_NUMBERS = {
    "internal_server_error": "1000",
    "rate_limited": "1300",
    "invalid_request_message_order": "3230",
    "invalid_request_assistant_message": "3240",
    "invalid_function_call": "3280",
}
_SPENT = "Inactive subscription or usage limit reached"
_TOO_LONG = "Prompt contains 40960 tokens and 0 draft tokens, too large for model with 32768 maximum context length"
_PADDING = "abcdefghijklmnopqrstuvwxyz0123456789"


class MistralSpeaker(CompletionsSpeaker):
    """`POST .../mistral/v1/chat/completions`, streamed and not: to be asked before any other that takes this path."""

    name = "mistral"

    def listens_to(self, path: str) -> bool:
        """Any path that ends in `/mistral/v1/chat/completions`."""
        return path.endswith("/mistral/v1/chat/completions")

    def complain(self, heard: Heard) -> Trouble | None:
        """What Mistral would refuse."""
        return complain(heard.body)

    def completion(self, heard: Heard, reply: ScriptedReply) -> dict[str, Any]:
        """The reply as a whole body."""
        message = {"role": "assistant", "tool_calls": _calls(heard, reply) or None, "content": _content(reply)}
        made = {
            **_head(heard, "chat.completion"),
            "choices": [{"index": 0, "finish_reason": _finish(reply), "message": message}],
        }
        return made | ({"usage": _usage(reply.usage)} if reply.usage else {})

    def chunks(self, heard: Heard, reply: ScriptedReply) -> Iterator[dict[str, Any]]:
        """The reply as the events of a stream."""
        head = _head(heard, "chat.completion.chunk")
        for number, delta in enumerate(_deltas(reply)):
            yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}], **_padding(number)}
        calls = _calls(heard, reply, streamed=True)
        last = {"index": 0, "delta": {"tool_calls": calls} if calls else {"content": ""}}
        ending = {**head, "choices": [{**last, "finish_reason": _finish(reply)}]}
        yield ending | ({"usage": _usage(reply.usage)} if reply.usage else {}) | _padding(len(reply.text) + 1)

    def refuse(self, trouble: Trouble) -> Answer:
        """`{"object": "error", ...}`; `{"detail": ...}` for a wrong key, and for a body of the wrong shape a list."""
        headers = {"retry-after": f"{trouble.retry_after:g}"} if trouble.retry_after else {}
        status = 401 if trouble.code == "quota" else trouble.status
        return Answer((dumps(_refusal(trouble)),), JSON, status, headers)

    def refuse_in_200(self, heard: Heard, trouble: Trouble) -> Answer:
        """The object as a body, or as an event after the stream's first chunk."""
        inside = _error(trouble)
        if not heard.stream:
            return Answer((dumps(inside),), JSON)
        delta = {"role": "assistant", "content": ""}
        opening = {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        return streamed([{**_head(heard, "chat.completion.chunk"), **opening}, inside])

    def list_models(self, path: str, headers: Mapping[str, str], models: Sequence[str]) -> Answer | None:
        """`GET .../mistral/v1/models`."""
        if not path.endswith("/mistral/v1/models"):
            return None
        about = {
            "object": "model",
            "created": CREATED,
            "owned_by": "mistralai",
            "capabilities": {"completion_chat": True, "function_calling": True, "vision": True, "fine_tuning": False},
            "type": "base",
        }
        return Answer((dumps({"object": "list", "data": [{"id": one, **about} for one in models]}),), JSON)


def _refusal(trouble: Trouble) -> dict[str, Any]:
    if trouble.code == "quota":
        return {"message": _SPENT, "request_id": "officellm"}
    if trouble.status == 401:
        return {"detail": trouble.message}
    if trouble.status == 422:
        place = (trouble.param or "body").split(".")
        loc = [int(one) if one.isdecimal() else one for one in place]
        return {"detail": [{"type": trouble.code, "loc": loc, "msg": trouble.message}]}
    return _error(trouble)


def _error(trouble: Trouble) -> dict[str, Any]:
    usual = "internal_server_error" if trouble.status >= 500 else "invalid_request_error"
    kind = trouble.code or ("rate_limited" if trouble.status == 429 else usual)
    message = trouble.message
    if kind == "context_overflow":
        kind, message = "invalid_request_message_error", _TOO_LONG
    number = {"code": _NUMBERS.get(kind), "raw_status_code": trouble.status}
    return {"object": "error", "message": message, "type": kind, "param": None, **number}


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input,
        "total_tokens": usage.total,
        "completion_tokens": usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "service_tier": "standard",
    }


def _head(heard: Heard, kind: str) -> dict[str, Any]:
    return {"id": heard.mark(32), "object": kind, "created": CREATED, "model": heard.model}


def _finish(reply: ScriptedReply) -> str:
    return FINISH.get(reply.ending, reply.ending)


def _padding(number: int) -> dict[str, str]:
    """What Mistral puts on most chunks, so that their size does not tell what they hold."""
    return {"p": _PADDING[: number * 7 % len(_PADDING) + 1]} if number else {}


def _thought(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}


def _content(reply: ScriptedReply) -> str | list[dict[str, Any]]:
    if not reply.reasoning:
        return reply.text
    return [_thought(reply.reasoning), *([{"type": "text", "text": reply.text}] if reply.text else [])]


def _deltas(reply: ScriptedReply) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for piece in pieces_of(reply.reasoning):
        yield {"content": [_thought(piece)]}
    for piece in pieces_of(reply.text):
        yield {"content": piece}


def _calls(heard: Heard, reply: ScriptedReply, *, streamed: bool = False) -> list[dict[str, Any]]:
    made = []
    for position, one in enumerate(reply.calls):
        odd = {"index_collision": 0, "index_gap": 2 * position + 1} if streamed else {}
        function = {"name": one.name, "arguments": None if one.arguments is None else one.raw}
        id = f"{heard.mark(7)}{position:02d}" if one.id is None else one.id
        index = odd.get(reply.fault_name, position)
        made.append({"id": id, "type": "function", "function": function, "index": index})
    return made
