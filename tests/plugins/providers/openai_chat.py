"""What the tests of the OpenAI format share: replies and requests in few words."""

from __future__ import annotations

import json

from officellm import Request, User
from officellm.testing.exchanges import play_stream
from officellm_builtin.providers.openai_compat import OpenAICompat, OpenAICompatSettings

REQUEST = Request(model="m", messages=[User("hi")])
STREAM = Request(model="m", messages=[User("hi")], stream=True)
BASE = "http://127.0.0.1/v1"
CALL = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]


def whole(message, finish="stop", **fields):
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return OpenAICompat().parse(json.dumps({"id": "r", "model": "m1", "choices": [choice], **fields}).encode(), REQUEST)


def sse(*chunks, done=True) -> bytes:
    lines = [f"data: {chunk if isinstance(chunk, str) else json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()


def delta(finish=None, **fields):
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def streamed(*chunks, done=True, wire=None):
    return play_stream(wire or OpenAICompat(), sse(*chunks, done=done), STREAM)


def piece(index=None, id=None, name=None, arguments=None):
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    fields = {key: value for key, value in (("index", index), ("id", id)) if value is not None}
    return {**fields, "function": function}


def calls_of(reply):
    return [(call.id, call.name, call.raw if call.problem else call.arguments) for call in reply.message.calls]


def sent(request, base=BASE, **options):
    return json.loads(OpenAICompat(OpenAICompatSettings(**options)).build(request, base).body)


def sent_messages(*messages, model="m", **options):
    return sent(Request(model=model, messages=list(messages)), **options)["messages"]
