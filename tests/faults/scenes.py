"""One agent over real HTTP, on any wire, streamed or not; and a server that sends whatever bytes it is told to."""

import asyncio
import contextlib
import json

import pytest

from officellm import Agent, Host, Limits, Office
from officellm.testing import FakeClock, FakeLLM, rule

WIRES = ("openai", "anthropic", "gemini")
every_wire = pytest.mark.parametrize("wire", WIRES)
both_ways = pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
streams = pytest.mark.parametrize("streamed", [True], ids=["streamed"])


def add(a: int, b: int = 2) -> str:
    """Add."""
    return str(a + b)


def ping() -> str:
    """Ping."""
    return "pong"


def providers(llm, wire):
    """A team file's providers: `p` speaks the wire."""
    formats = {"openai": "openai_compat"}
    return {"p": {"format": formats.get(wire, wire), "base_url": getattr(llm, f"{wire}_url")}}


async def run(office, streamed=False):
    """The result and the events of one run."""
    events = []
    if not streamed:
        return await office.run("go", listener=events.append), events
    async with office.stream("go") as watched:
        events = [event async for event in watched]
    return watched.result, events


async def play(
    replies, wire, streamed=False, *, tools=(add, ping), limits=None, clock=None, guards=(), on_limit="stop"
):
    """The result, the requests and the events of one agent whose model gives these replies. No request was illegal."""
    office = {"limits": limits or Limits(), "clock": clock or FakeClock(), "host": Host(plugins=guards, discover=False)}
    async with FakeLLM([rule(*replies, by="order")]) as llm:
        agent = Agent("a", model="p:m", instructions="You do.", tools=tools, on_limit=on_limit)
        async with Office(agent, providers=providers(llm, wire), **office) as made:
            result, events = await run(made, streamed)
    assert llm.refusals == []
    assert {record.stream for record in llm.requests} == {streamed}
    return result, llm.requests, events


def answers(record):
    """The tool results that a request holds, in order."""
    return [one.text for one in record.heard.said if one.role == "tool"]


class Liar:
    """A server of raw bytes. Each request is handed to the next of `acts` (the last one again and again)."""

    def __init__(self, *acts):
        self.acts = acts
        self.requests = []
        self.heads = []
        self._open = set()

    @property
    def url(self):
        """A base url for chat completions."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error):
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader, writer):
        task = asyncio.current_task()
        self._open.add(task)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line)
            self.heads.append(head.decode("latin-1"))
            self.requests.append(json.loads(await reader.readexactly(length)))
            await self.acts[min(len(self.requests), len(self.acts)) - 1](writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


def sends(head, body=b"", *, length=True):
    """An act: these header lines, with the body's true length unless there is another one, and the body."""

    async def act(writer):
        lines = [head.encode("latin-1"), b"Connection: close", *([b"Content-Length: %d" % len(body)] if length else [])]
        writer.write(b"\r\n".join(lines) + b"\r\n\r\n" + body)
        await writer.drain()

    return act


def says(text="fine"):
    """An act: a good chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    body = json.dumps({"choices": [choice], "usage": usage}).encode()
    return sends("HTTP/1.1 200 OK\r\nContent-Type: application/json", body)


def office_at(url, *, limits=None, clock=None, **block):
    """An office of one agent without tools, whose provider is at this url."""
    block = {"format": "openai_compat", "base_url": url, **block}
    return Office(
        Agent("a", model="p:m"), providers={"p": block}, limits=limits or Limits(), clock=clock or FakeClock()
    )
