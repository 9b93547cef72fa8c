"""Whole runs over HTTP: a block chooses this provider, the model asks for a tool, and its result is answered."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from officellm import Agent, Office, TextDeltaEvent

CONTENT_TYPE = "application/x-ndjson"


def line(done=False, **message):
    end = {"done_reason": "stop", "prompt_eval_count": 20, "eval_count": 7} if done else {}
    return json.dumps({"message": {"role": "assistant", "content": "", **message}, "done": done, **end}) + "\n"


FUNCTION = {"name": "tide", "arguments": {"place": "Sylt"}}
CALL = (line(tool_calls=[{"function": FUNCTION}]) + line(done=True)).encode()
ANSWER = (line(content="At 6, ") + line(content="bring boots.") + line(done=True)).encode()


@contextmanager
def serving(*replies):
    """A server that gives these bodies in turn; yields its address, and the requests as they come."""
    left, sent = list(replies), []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            sent.append((self.path, json.loads(body)))
            answer = left.pop(0)
            self.send_response(200)
            self.send_header("content-type", CONTENT_TYPE if sent[-1][1].get("stream") else "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", sent
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def tide(place: str) -> str:
    """When the tide is low at a place."""
    return f"Low tide at {place}: 6"


def run(office):
    """The result, and the text as it was shown."""

    async def watched():
        async with office.stream("When is low tide at Sylt?") as stream:
            texts = [event.text async for event in stream if isinstance(event, TextDeltaEvent)]
        return stream.result, "".join(texts)

    return asyncio.run(watched())


@pytest.mark.parametrize("block", ["ollama", "mine"])
def test_a_tool_is_called_and_its_result_answered_over_streams(block):
    with serving(CALL, ANSWER) as (url, sent):
        agent = Agent("guide", model=f"{block}:some-model", tools=[tide])
        office = Office(agent, providers={block: {"format": "ollama", "base_url": url}})
        result, shown = run(office)

    assert result.content == "At 6, bring boots."
    assert shown == "At 6, bring boots."
    assert (result.usage.requests, result.usage.total_tokens, result.usage.complete) == (2, 54, True)
    assert [path for path, _ in sent] == ["/api/chat"] * 2
    assert "Low tide at Sylt: 6" in json.dumps(sent[1][1]["messages"][-1])


def test_the_preset_of_that_name_stays_what_it_is(monkeypatch):
    reply = {"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}
    with serving(json.dumps(reply).encode()) as (url, sent):
        monkeypatch.setenv("OLLAMA_BASE_URL", url)
        result = Office(Agent("guide", model="ollama:some-model", settings={"seed": 7})).run_sync("Hi")

    assert result.content == "Hello"
    assert (sent[0][0], sent[0][1]["seed"]) == ("/v1/chat/completions", 7)
