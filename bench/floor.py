"""The floor: the same tool loop written by hand on the same HTTP client, without any feature. The practical limit."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
from httpx_aiohttp import AiohttpTransport

ADD = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add two integers.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    },
}


def _task_tool(name: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"task": {"type": "string"}}, "required": ["task"]}
    return {"type": "function", "function": {"name": name, "description": f"Give {name} a task", "parameters": schema}}


class Floor:
    """What `workloads.py` asks of a peer."""

    name = "floor"

    def __init__(self, url: str) -> None:
        self._url = url + "/chat/completions"
        self._client: httpx.AsyncClient | None = None

    async def _chat(self, messages: list[Any], tools: list[Any]) -> dict[str, Any]:
        if self._client is None:
            transport = AiohttpTransport(limits=httpx.Limits(max_connections=1000, max_keepalive_connections=1000))
            self._client = httpx.AsyncClient(transport=transport, timeout=60)
        body = json.dumps({"model": "fake", "messages": messages, "tools": tools}).encode()
        reply = await self._client.post(self._url, content=body, headers={"content-type": "application/json"})
        reply.raise_for_status()
        return json.loads(reply.content)["choices"][0]["message"]

    async def _loop(self, system: str, prompt: str, tools: list[Any], functions: dict[str, Any]) -> str:
        messages: list[Any] = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
        while True:
            message = await self._chat(messages, tools)
            calls = message.get("tool_calls")
            if not calls:
                return message["content"]
            messages.append({"role": "assistant", "content": message["content"], "tool_calls": calls})

            async def answer(call: dict[str, Any]) -> dict[str, Any]:
                value = functions[call["function"]["name"]](**json.loads(call["function"]["arguments"]))
                if asyncio.iscoroutine(value):
                    value = await value
                return {"role": "tool", "tool_call_id": call["id"], "content": str(value)}

            messages.extend(await asyncio.gather(*map(answer, calls)))

    async def tool_loop(self, prompt: str) -> str:
        """One agent, one tool."""
        return await self._loop("You add numbers.", prompt, [ADD], {"add": _add})

    async def manager(self, prompt: str) -> str:
        """A manager and three workers, each with the tool."""

        def worker(name: str) -> Any:
            async def run(task: str) -> str:
                return await self._loop(f"You are {name}.", task, [ADD], {"add": _add})

            return run

        names = ("worker_a", "worker_b", "worker_c")
        tools = [_task_tool(name) for name in names]
        return await self._loop("You manage.", prompt, tools, {name: worker(name) for name in names})

    async def close(self) -> None:
        """Close the client."""
        if self._client is not None:
            await self._client.aclose()


def _add(a: int, b: int) -> int:
    return a + b
