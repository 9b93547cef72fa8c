"""How the fake LLM server speaks Cohere's chat API, version 2. What it refuses stands in `cohere_rules.py`.

What the model says beside calls is its plan. An answer to tool results or documents cites the last result, or the first
document, for its first word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from officellm.codec import dumps
from officellm.messages import Usage
from officellm.testing.replies import ScriptedCall, ScriptedReply
from officellm.testing.wires.cohere_rules import complain
from officellm.testing.wires.completions import JSON, bearer, messages_of, said_in, system_of, tool_names
from officellm.testing.wires.speaker import (
    Answer,
    Heard,
    Trouble,
    listed,
    mapped,
    pieces_of,
    said_text,
    text_of,
    text_within,
)

_SSE = "text/event-stream"
_FINISH = {"stop": "COMPLETE", "tool_calls": "TOOL_CALL", "length": "MAX_TOKENS", "refused": "ERROR_TOXIC"}
_TOO_LONG = (
    "too many tokens: size limit exceeded by 25836 tokens. Try using shorter or fewer inputs. The limit for this model "
    "is 288000 tokens."
)

Event = dict[str, Any]


class CohereSpeaker:
    """`POST .../v2/chat`, streamed and not."""

    name = "cohere"

    def listens_to(self, path: str) -> bool:
        """Any path that ends in `/v2/chat`."""
        return path.endswith("/v2/chat")

    def hear(self, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Mapping[str, Any]) -> Heard:
        """The request in neutral terms."""
        messages = messages_of(body)
        return Heard(
            wire=self.name,
            model=text_of(body.get("model", "")),
            stream=body.get("stream") is True,
            system=system_of(messages),
            said=tuple(said_in(messages, _text)),
            tools=tool_names(body),
            body=body,
            headers=headers,
        )

    def complain(self, heard: Heard) -> Trouble | None:
        """What Cohere would refuse."""
        return complain(heard.body)

    def say(self, heard: Heard, reply: ScriptedReply) -> Answer:
        """A message, or its events from `message-start` to `message-end`, and `[DONE]`."""
        if heard.stream:
            return _streamed(_events(heard, reply))
        return Answer((dumps(_body(heard, reply)),), JSON)

    def refuse(self, trouble: Trouble) -> Answer:
        """`{"id", "message"}`, and `error_type` for a prompt that is too long."""
        headers = {"retry-after": f"{trouble.retry_after:g}"} if trouble.retry_after else {}
        status = 402 if trouble.code == "quota" else trouble.status
        return Answer((dumps(_error(trouble)),), JSON, status, headers)

    def refuse_in_200(self, heard: Heard, trouble: Trouble) -> Answer:
        """The same object as a body; in a stream, a `message-end` that says what went wrong."""
        if not heard.stream:
            return Answer((dumps(_error(trouble)),), JSON)
        ending = {"finish_reason": "ERROR", "error": trouble.message}
        return _streamed([_start(heard), {"type": "message-end", "delta": ending}])

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
        """The bearer token."""
        return bearer(headers)

    def list_models(self, path: str, headers: Mapping[str, str], models: Sequence[str]) -> Answer | None:
        """`GET .../cohere/v1/models`: version 2 has no listing."""
        if not path.endswith("/cohere/v1/models"):
            return None
        about = {"endpoints": ["chat"], "finetuned": False, "context_length": 288_000, "features": ["tools"]}
        return Answer((dumps({"models": [{"name": one, **about} for one in models]}),), JSON)


def _text(message: Mapping[str, Any]) -> str:
    """The text of a message: with the plan of a reply, and what is in the documents of a result."""
    content = message.get("content")
    parts = listed(content)
    documents = [mapped(mapped(part).get("document")).get("data", "") for part in parts if "document" in mapped(part)]
    return text_of(message.get("tool_plan") or "") + said_text(content) + "".join(map(text_within, documents))


def _uuid(heard: Heard) -> str:
    mark = heard.mark(32)
    return "-".join((mark[:8], mark[8:12], mark[12:16], mark[16:20], mark[20:]))


def _error(trouble: Trouble) -> dict[str, Any]:
    if trouble.code == "context_overflow":
        return {"error_type": "TOO_MANY_TOKENS", "id": "officellm", "message": _TOO_LONG}
    return {"id": "officellm", "message": trouble.message}


def _usage(usage: Usage) -> dict[str, Any]:
    """What ran, and what is billed: less, for the vendor's own prompt is free."""
    tokens = {"input_tokens": usage.input, "output_tokens": usage.output}
    made: dict[str, Any] = {
        "billed_units": {"input_tokens": usage.input // 2, "output_tokens": usage.output},
        "tokens": tokens | ({"reasoning_tokens": usage.reasoning} if usage.reasoning else {}),
    }
    return made | ({"cached_tokens": usage.cached} if usage.cached else {})


def _finish(reply: ScriptedReply) -> str:
    return _FINISH.get(reply.ending, reply.ending.upper())


def _content(reply: ScriptedReply) -> list[dict[str, Any]]:
    parts = [{"type": "thinking", "thinking": reply.reasoning}] if reply.reasoning else []
    return parts if reply.calls else [*parts, {"type": "text", "text": reply.text}]


def _call(heard: Heard, one: ScriptedCall, index: int) -> dict[str, Any]:
    id = f"{one.name}_{heard.mark(10)}{index:02d}" if one.id is None else one.id
    arguments = None if one.arguments is None else one.raw
    return {"id": id, "type": "function", "function": {"name": one.name, "arguments": arguments}}


def _citations(heard: Heard, reply: ScriptedReply, part: int) -> list[dict[str, Any]]:
    source = _source(heard)
    said = reply.text.split()
    wanted = text_of(mapped(heard.body.get("citation_options")).get("mode", "")).lower() not in ("off", "disabled")
    if reply.calls or not said or source is None or not wanted:
        return []
    start = reply.text.index(said[0])
    place = {"start": start, "end": start + len(said[0]), "text": said[0]}
    made = {**place, "sources": [source], "type": "TEXT_CONTENT"}
    return [made | ({"content_index": part} if part else {})]


def _source(heard: Heard) -> dict[str, Any] | None:
    """What an answer rests on: the result that came last, or the first document."""
    messages = messages_of(heard.body)
    if messages and messages[-1].get("role") == "tool":
        last = messages[-1]
        return {"type": "tool", "id": f"{last.get('tool_call_id')}:0", "tool_output": {"content": _text(last)}}
    for one in listed(heard.body.get("documents")):
        id = text_of(mapped(one).get("id", "doc:0"))
        data = one if isinstance(one, str) else mapped(one).get("data", "")
        return {"type": "document", "id": id, "document": {"id": id, **(mapped(data) or {"text": text_of(data)})}}
    return None


def _body(heard: Heard, reply: ScriptedReply) -> dict[str, Any]:
    content = _content(reply)
    message: dict[str, Any] = {"role": "assistant"}
    if content:
        message["content"] = content
    if reply.calls:
        if reply.text:
            message["tool_plan"] = reply.text
        message["tool_calls"] = [_call(heard, one, index) for index, one in enumerate(reply.calls)]
    if citations := _citations(heard, reply, len(content) - 1):
        message["citations"] = citations
    made = {"id": _uuid(heard), "message": message, "finish_reason": _finish(reply)}
    return made | ({"usage": _usage(reply.usage)} if reply.usage else {})


def _start(heard: Heard) -> Event:
    empty: dict[str, Any] = {"content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    return {"id": _uuid(heard), "type": "message-start", "delta": {"message": {"role": "assistant", **empty}}}


def _event(kind: str, index: int | None = None, **message: Any) -> Event:
    place = {} if index is None else {"index": index}
    return {"type": kind, **place, **({"delta": {"message": message}} if message else {})}


def _events(heard: Heard, reply: ScriptedReply) -> Iterator[Event]:
    yield _start(heard)
    for index, part in enumerate(_content(reply)):
        kind = part["type"]
        yield _event("content-start", index, content={"type": kind, kind: ""})
        for piece in pieces_of(part[kind]):
            yield _event("content-delta", index, content={kind: piece})
        for number, one in enumerate(_citations(heard, reply, index) if kind == "text" else ()):
            yield _event("citation-start", number, citations=one)
            yield _event("citation-end", number)
        yield _event("content-end", index)
    if reply.calls:
        for piece in pieces_of(reply.text):
            yield _event("tool-plan-delta", tool_plan=piece)
    for position, call in enumerate(reply.calls):
        yield from _call_events(heard, call, position, reply.fault_name)
    ending: dict[str, Any] = {"finish_reason": _finish(reply)}
    yield {"type": "message-end", "delta": ending | ({"usage": _usage(reply.usage)} if reply.usage else {})}


def _call_events(heard: Heard, one: ScriptedCall, position: int, fault: str) -> Iterator[Event]:
    index = {"index_collision": 0, "index_gap": 2 * position + 1}.get(fault, position)
    whole = _call(heard, one, position)
    opening = None if one.arguments is None else ""
    yield _event("tool-call-start", index, tool_calls={**whole, "function": {"name": one.name, "arguments": opening}})
    # No piece at all stands for `{}`.
    for piece in pieces_of(one.raw) if one.raw != "{}" else ():
        delta: dict[str, Any] = {"function": {"arguments": piece}}
        if fault == "repeated_name_deltas":
            delta = {**whole, "function": {"name": one.name, "arguments": piece}}
        yield _event("tool-call-delta", index, tool_calls=delta)
    yield _event("tool-call-end", index)


def _streamed(events: Iterable[Event]) -> Answer:
    every = list(events)
    pieces = [b"event: " + one["type"].encode() + b"\ndata: " + dumps(one) + b"\n\n" for one in every]
    # `message-end` is the last.
    return Answer((*pieces, b"data: [DONE]\n\n"), _SSE, streamed=True, unfinished=len(every) - 1)
