"""Output items, events and bodies as the vendor writes them, and a checker of request bodies."""

from __future__ import annotations

import json
import re
from typing import Any

from officellm_provider_openai_responses import OpenAIResponses

from officellm import Message, Reply, Request, SseDecoder, User

BASE = "https://h/v1"
MODEL = "gpt-5"
WIRE = OpenAIResponses()
USAGE = {
    "input_tokens": 20,
    "input_tokens_details": {"cached_tokens": 16},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 2},
    "total_tokens": 27,
}

Json = dict[str, Any]


def reasoning(id: str = "rs_1", encrypted: str | None = "gAAAA==", **fields: Any) -> Json:
    return {"id": id, "type": "reasoning", "summary": [], "encrypted_content": encrypted, **fields}


def message(text: str, id: str = "msg_1", **fields: Any) -> Json:
    parts = [{"type": "output_text", "text": text, "annotations": []}]
    return {"id": id, "type": "message", "role": "assistant", "status": "completed", "content": parts, **fields}


def function_call(call_id: str, name: str, arguments: Any = "{}", id: str = "fc_1", **fields: Any) -> Json:
    head = {"id": id, "type": "function_call", "status": "completed"}
    return {**head, "call_id": call_id, "name": name, "arguments": arguments, **fields}


def response(*output: Json, **fields: Any) -> Json:
    return {"id": "resp_1", "object": "response", "status": "completed", "model": MODEL, "output": [*output], **fields}


def whole(*output: Json, **fields: Any) -> bytes:
    return json.dumps(response(*output, **fields)).encode()


def sse(*events: Json) -> bytes:
    """Events as the vendor frames them."""
    lines = [f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events]
    return "".join(lines).encode()


def streamed(*output: Json, last: str = "response.completed", **fields: Any) -> list[Json]:
    """The events of a whole stream; texts and arguments come in pieces of five characters, padded at will."""
    events: list[Json] = [{"type": kind, "response": response(status="in_progress")} for kind in _FIRST]
    for index, item in enumerate(output):
        place = {"output_index": index, "item_id": item.get("id")}
        events.append({"type": "response.output_item.added", "output_index": index, "item": _empty(item)})
        if item["type"] == "function_call":
            kind, text = "response.function_call_arguments", item["arguments"]
        elif item["type"] == "message":
            kind, text = "response.output_text", "".join(part.get("text", "") for part in item["content"])
        else:
            kind, text = "response.reasoning_summary_text", "".join(part["text"] for part in item.get("summary", ()))
        for at in range(0, len(text), 5):
            events.append({"type": f"{kind}.delta", **place, "delta": text[at : at + 5], "obfuscation": "x7Kq"})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    return [*events, {"type": last, "response": response(*output, **fields)}]


_FIRST = ("response.created", "response.in_progress")


def _empty(item: Json) -> Json:
    return {**item, **{"function_call": {"arguments": ""}, "message": {"content": []}}.get(item["type"], {})}


def read_stream(body: bytes, request: Request, wire: OpenAIResponses = WIRE) -> tuple[list[Any], Reply]:
    """The deltas and the reply of a streamed body. Raises `FaultError`."""
    events, parser = SseDecoder(), wire.stream_parser(request)
    deltas = [delta for event in (*events.feed(body), *events.close()) for delta in parser.feed(event)]
    return deltas, parser.finish()


def reply_to(*output: Json, model: str = MODEL, **fields: Any) -> Reply:
    return WIRE.parse(whole(*output, **fields), Request(model=model, messages=()))


def sent(*messages: Message, wire: OpenAIResponses = WIRE, **fields: Any) -> Json:
    """The body of a request with this history."""
    request = Request(**{"model": MODEL, "messages": messages or (User("hi"),), **fields})
    body: Json = json.loads(wire.build(request, BASE).body)
    return body


_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
_FOLLOWERS = ("message", "function_call", "web_search_call")


def check_legal(body: Json) -> None:
    """Fails where the vendor would refuse the body."""
    items = body["input"]
    assert items, "the input is empty"
    if "instructions" in body:
        assert body["instructions"].strip()
    waiting: list[str] = []
    answered: set[str] = set()
    for place, item in enumerate(items):
        kind = item.get("type", "user")
        if kind == "function_call_output":
            assert waiting, "an output without a call"
            assert item["call_id"] == waiting.pop(0)
            assert isinstance(item["output"], str)
        elif kind == "user":
            assert not waiting, "words between a call and its output"
            _check_user(item)
        elif kind == "function_call":
            _check_call(item, answered)
            waiting.append(item["call_id"])
        elif kind == "message":
            assert item["role"] == "assistant"
            assert item["content"]
            assert any(part.get("text", "").strip() or part.get("refusal") for part in item["content"])
        elif kind == "reasoning":
            assert item.get("encrypted_content") or item.get("content") or body["store"]
            _check_pair(item, items[place + 1 :])
        else:
            assert kind == "web_search_call"
    assert not waiting, "a call without an output"


def _check_user(item: Json) -> None:
    assert item["role"] == "user"
    content = item["content"]
    if isinstance(content, str):
        return
    assert content
    for part in content:
        if part["type"] == "input_text":
            assert part["text"]
        elif part["type"] == "input_image":
            assert isinstance(part["image_url"], str)
        else:
            assert part["type"] == "input_file"
            assert ("file_url" in part) != ("file_data" in part and "filename" in part)


def _check_call(item: Json, seen: set[str]) -> None:
    assert item["call_id"] not in seen, "one id for two calls"
    assert 0 < len(item["call_id"]) <= 64
    seen.add(item["call_id"])
    assert _NAME.fullmatch(item["name"])
    assert isinstance(json.loads(item["arguments"]), dict)


def _check_pair(item: Json, after: list[Json]) -> None:
    follower = next((one for one in after if one.get("type") != "reasoning"), {})
    assert follower.get("type") in _FOLLOWERS, "reasoning without its required following item"
    assert ("id" in item) == ("id" in follower), "one of two ids that are tied together"
