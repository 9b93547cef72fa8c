"""How the fake LLM server speaks OpenAI's Responses API. What it refuses stands in `responses_rules.py`.

It keeps no response: a conversation is what stands in the request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from officellm.codec import dumps
from officellm.messages import Usage
from officellm.testing.replies import ScriptedCall, ScriptedReply
from officellm.testing.wires.completions import CREATED, JSON, SSE
from officellm.testing.wires.openai import OpenAISpeaker
from officellm.testing.wires.responses_items import item_id
from officellm.testing.wires.responses_rules import complain
from officellm.testing.wires.speaker import (
    Answer,
    Heard,
    Said,
    Trouble,
    listed,
    mapped,
    pieces_of,
    said_text,
    signature_of,
    text_of,
)

#: Its errors, its key and its list of models are those of the whole vendor.
_OPENAI = OpenAISpeaker()
#: What a request asks for under `include`, to get thoughts that it can send back.
_ENCRYPTED = "reasoning.encrypted_content"
_SYSTEM = ("system", "developer")

Event = dict[str, Any]


class ResponsesSpeaker:
    """`POST .../responses`, streamed and not."""

    name = "responses"

    def listens_to(self, path: str) -> bool:
        """Any path that ends in `/responses`."""
        return path.endswith("/responses")

    def hear(self, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Mapping[str, Any]) -> Heard:
        """The request in neutral terms."""
        items = _items(body)
        told = [said_text(item.get("content")) for item in items if item.get("role") in _SYSTEM]
        return Heard(
            wire=self.name,
            model=text_of(body.get("model", "")),
            stream=body.get("stream") is True,
            system="\n".join(filter(None, [said_text(body.get("instructions")), *told])),
            said=tuple(_said(items)),
            tools=tuple(text_of(mapped(one).get("name", "")) for one in listed(body.get("tools"))),
            body=body,
            headers=headers,
        )

    def complain(self, heard: Heard) -> Trouble | None:
        """What OpenAI would refuse."""
        return complain(heard.body)

    def say(self, heard: Heard, reply: ScriptedReply) -> Answer:
        """A response, or its events from `response.created` to the one that holds the whole of it."""
        whole = _response(heard, reply)
        if heard.stream:
            return _streamed(_events(whole, reply))
        return Answer((dumps(whole),), JSON)

    def refuse(self, trouble: Trouble) -> Answer:
        """As everywhere at OpenAI."""
        return _OPENAI.refuse(trouble)

    def refuse_in_200(self, heard: Heard, trouble: Trouble) -> Answer:
        """A response that failed; in a stream, an `error` before the event that says so."""
        error = {"code": "server_error", "message": trouble.message}
        begun = _head(heard, "in_progress")
        failed = {**begun, "status": "failed", "error": error}
        if not heard.stream:
            return Answer((dumps(failed),), JSON)
        event = {"type": "error", "error": {"type": "server_error", **error, "param": None}}
        return _streamed([*_opening(begun), event, {"type": "response.failed", "response": failed}])

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
        """The bearer token, or Azure's header."""
        return _OPENAI.key(headers, query)

    def list_models(self, path: str, headers: Mapping[str, str], models: Sequence[str]) -> Answer | None:
        """None: the wire of chat completions lists OpenAI's models."""
        return None


def _items(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    given = body.get("input")
    return [{"role": "user", "content": given}] if isinstance(given, str) else [mapped(one) for one in listed(given)]


def _said(items: Sequence[Mapping[str, Any]]) -> Iterator[Said]:
    """The turns: what the model made, one item after the other, is one turn."""
    turn: list[Mapping[str, Any]] = []
    for item in items:
        kind, role = item.get("type", "message"), item.get("role")
        if role == "assistant" or (kind != "message" and not text_of(kind).endswith("_output")):
            turn.append(item)
            continue
        if turn:
            yield _turn(turn)
            turn = []
        if kind != "message":
            yield Said("tool", said_text(item.get("output")))
        elif role == "user":
            yield Said("user", said_text(item.get("content")))
    if turn:
        yield _turn(turn)


def _turn(items: Sequence[Mapping[str, Any]]) -> Said:
    text = "".join(said_text(item.get("content")) for item in items if item.get("role") == "assistant")
    calls = [
        {name: item.get(name) for name in ("call_id", "name", "arguments")}
        for item in items
        if item.get("type") == "function_call"
    ]
    return Said("assistant", text + (text_of(calls) if calls else ""))


def _head(heard: Heard, status: str) -> dict[str, Any]:
    """A response without output: what was asked stands in it."""
    body = heard.body
    return {
        "id": f"resp_{heard.mark()}",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "metadata": mapped(body.get("metadata")),
        "model": heard.model,
        "output": [],
        "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None, **mapped(body.get("reasoning"))},
        "service_tier": "default",
        "store": body.get("store") is not False,
        "temperature": body.get("temperature", 1.0),
        "text": {"format": {"type": "text"}, **mapped(body.get("text"))},
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": listed(body.get("tools")),
        "top_p": body.get("top_p", 1.0),
        "truncation": "disabled",
        "usage": None,
    }


def _response(heard: Heard, reply: ScriptedReply) -> dict[str, Any]:
    made = _head(heard, "completed")
    if reply.ending == "length":
        made |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    elif reply.ending == "refused" and not reply.text:
        made |= {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
    elif reply.ending == "error":
        error = {"code": "server_error", "message": "The model produced invalid content."}
        made |= {"status": "failed", "error": error}
    made["output"] = _output(heard, reply, made["status"])
    made["usage"] = _usage(reply.usage) if reply.usage else None
    return made


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.total,
    }


def _output(heard: Heard, reply: ScriptedReply, status: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.reasoning:
        thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": reply.reasoning}]}
        if _ENCRYPTED in listed(heard.body.get("include")):
            thought["encrypted_content"] = signature_of(reply.reasoning)
        items.append(thought)
    if reply.text:
        items.append({"type": "message", "status": "completed", "content": [_part(reply)], "role": "assistant"})
    items += [_call(heard, one, index) for index, one in enumerate(reply.calls)]
    if items and status == "incomplete" and "status" in items[-1]:
        items[-1]["status"] = "incomplete"
    mark, thinks = heard.mark(), bool(reply.reasoning)
    return [{"id": item_id(item["type"], mark, index, thinks), **item} for index, item in enumerate(items)]


def _part(reply: ScriptedReply) -> dict[str, Any]:
    if reply.ending == "refused":
        return {"type": "refusal", "refusal": reply.text}
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": reply.text}


def _call(heard: Heard, one: ScriptedCall, index: int) -> dict[str, Any]:
    return {
        "type": "function_call",
        "status": "completed",
        "arguments": None if one.arguments is None else one.raw,
        "call_id": f"call_{heard.mark(20)}{index:02d}" if one.id is None else one.id,
        "name": one.name,
    }


def _opening(begun: Mapping[str, Any]) -> Iterator[Event]:
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}


def _events(whole: Mapping[str, Any], reply: ScriptedReply) -> Iterator[Event]:
    yield from _opening(
        {**whole, "status": "in_progress", "error": None, "incomplete_details": None, "output": [], "usage": None}
    )
    for index, item in enumerate(whole["output"]):
        place = {"item_id": item["id"], "output_index": index}
        begun = {**item, **{name: [] for name in ("content", "summary") if name in item}}
        if item.get("arguments"):
            begun["arguments"] = ""
        if "status" in item:
            begun["status"] = "in_progress"
        yield {"type": "response.output_item.added", "output_index": index, "item": begun}
        yield from _EVENTS_OF[item["type"]](item, place)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{whole['status']}", "response": whole}


def _thought_events(item: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[Event]:
    (part,) = item["summary"]
    at, start = {**place, "summary_index": 0}, "response.reasoning_summary"
    yield {"type": f"{start}_part.added", **at, "part": {**part, "text": ""}}
    for piece in pieces_of(part["text"]):
        yield {"type": f"{start}_text.delta", **at, "delta": piece}
    yield {"type": f"{start}_text.done", **at, "text": part["text"]}
    yield {"type": f"{start}_part.done", **at, "part": part}


def _message_events(item: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[Event]:
    (part,) = item["content"]
    at = {**place, "content_index": 0}
    # A part that is not a refusal is `output_text`, and its text stands under `text`.
    name = "refusal" if part["type"] == "refusal" else "text"
    more: Event = {} if name == "refusal" else {"logprobs": []}
    yield {"type": "response.content_part.added", **at, "part": {**part, name: ""}}
    for piece in pieces_of(part[name]):
        yield {"type": f"response.{part['type']}.delta", **at, "delta": piece, **more}
    yield {"type": f"response.{part['type']}.done", **at, name: part[name], **more}
    yield {"type": "response.content_part.done", **at, "part": part}


def _call_events(item: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[Event]:
    for piece in pieces_of(item["arguments"] or ""):
        yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
    yield {"type": "response.function_call_arguments.done", **place, "arguments": item["arguments"]}


_EVENTS_OF = {"reasoning": _thought_events, "message": _message_events, "function_call": _call_events}


def _streamed(events: Iterable[Event]) -> Answer:
    every = [{**event, "sequence_number": number} for number, event in enumerate(events)]
    pieces = [b"event: " + one["type"].encode() + b"\ndata: " + dumps(one) + b"\n\n" for one in every]
    # The last one alone says that the reply is whole.
    return Answer(tuple(pieces), SSE, streamed=True, unfinished=len(every) - 1)
