"""A fast scripted server of chat completions, on asyncio alone, so that the client is what is measured.

The script stands in the first user message: `SCRIPT: call add {"a": 1, "b": 2}; say done`, a step a turn. A path that
starts with `/wait/50/` answers after 50 ms. Prints its port.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any


def reply(body: dict[str, Any]) -> bytes:
    """The completion for the conversation's next step."""
    messages = body["messages"]
    prompt = next(message["content"] for message in messages if message["role"] == "user")
    steps = prompt.split("SCRIPT: ", 1)[1].split("; ")
    done = sum(message["role"] == "assistant" for message in messages)
    words = steps[done]
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if words.startswith("say "):
        message["content"] = words[4:]
    else:
        message["tool_calls"] = []
        for index, call in enumerate(words.split(" & ")):
            _, name, arguments = call.split(" ", 2)
            arguments = arguments.replace("<sep>", "; ")
            function = {"name": name, "arguments": arguments}
            message["tool_calls"].append({"id": f"call_{done}_{index}", "type": "function", "function": function})
    finish = "tool_calls" if "tool_calls" in message else "stop"
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps(
        {"id": "x", "object": "chat.completion", "model": "fake", "choices": [choice], "usage": usage}
    ).encode()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, kept alive."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            path = head.split(" ", 2)[1]
            length = int(next(line for line in head.lower().split("\r\n") if line.startswith("content-length:"))[15:])
            body = json.loads(await reader.readexactly(length))
            if path.startswith("/wait/"):
                await asyncio.sleep(int(path.split("/")[2]) / 1000)
            answer = reply(body)
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(answer)
                + answer
            )
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    """Serve until the parent goes away."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=2048, limit=1 << 22)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
