"""One sound plugin of each kind, as source text: the mutants are these with one defect written after them."""

from __future__ import annotations

import json
from typing import ClassVar, NamedTuple

from officellm import Kind, Limits, Usage
from officellm.testing.contracts import (
    Bound,
    CatalogContract,
    Exchange,
    InProcessProviderContract,
    LimitPolicyContract,
    OrchestratorContract,
    ProviderContract,
    ProviderOfficeContract,
    RouterContract,
    Suite,
    ToolUse,
)

PROVIDER = """
from officellm import *
from officellm_builtin.providers.openai_compat import OpenAICompat, OpenAICompatSettings
import httpx, itertools, json

class Settings(OpenAICompatSettings):
    pass

class Wire(OpenAICompat):
    pass

class Mine(HttpProvider):
    pass

@hookimpl
def settings_model(kind, name):
    return Settings

@hookimpl
def make_provider(name, settings, http):
    return Mine(name, Wire(settings), settings, http)
"""

PARROT = """
from officellm import *
from pydantic import BaseModel, ConfigDict
import asyncio, json, time

class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")

class Mine:
    pause = 0.005

    def late(self, request):
        return request.deadline is not None and time.monotonic() > request.deadline

    async def stream(self, request):
        text = self.text(request)
        said = []
        for piece in self.pieces(request, text):
            await asyncio.sleep(self.pause)
            if self.late(request):
                raise ProviderError("mutant", Fault("timeout", "too late", None, True))
            said.append(piece)
            if request.stream:
                yield TextDelta(piece)
        calls = self.calls(request)
        message = Assistant("".join(said), calls)
        yield Finished(Reply(message, "tool_calls" if calls else "stop", Usage(input=1, output=1)))

    def pieces(self, request, text):
        return [text[at : at + 4] for at in range(0, len(text), 4)] * request.settings.get("times", 1)

    def text(self, request):
        if request.output is None:
            return next((one.text for one in reversed(request.messages) if isinstance(one, User)), "")
        if request.output.choices:
            return json.dumps({"agent": next(iter(request.output.choices)), "reason": "the first"})
        return json.dumps({"count": 7, "word": "parrot"})

    def calls(self, request):
        if any(isinstance(message, ToolResult) for message in request.messages):
            return ()
        wanted = [tool for tool in request.tools if request.tool_choice in ("auto", "required", tool.name)]
        return tuple(ToolCall(f"call_{tool.name}", tool.name, {}, "{}") for tool in wanted)

@hookimpl
def settings_model(kind, name):
    return Settings

@hookimpl
def make_provider(name, settings, http):
    return Mine()
"""

ROUTER = """
from officellm import *
from pydantic import BaseModel, ConfigDict, SecretStr
import asyncio, itertools, json

class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")
    token: SecretStr | None = None

class Mine:
    def __init__(self, settings, ask):
        self.settings, self.ask = settings, ask

    async def route(self, task, agents):
        names = [agent.name for agent in agents]
        if len(names) == 1:
            return Choice(names[0])
        said = await self.say(task, names)
        return self.read(said, names)

    async def say(self, task, names):
        reply = await self.ask(Request(model="", messages=[System(f"Choose one of {names}"), User(task.prompt())]))
        return reply.message.text

    def read(self, said, names):
        for name in names:
            if f'"{name}"' in said:
                return Choice(name)
        raise RouteError(said, names)

@hookimpl
def settings_model(kind, name):
    return Settings

@hookimpl
def make_router(name, settings, ask):
    return Mine(settings, ask)
"""

ORCHESTRATOR = """
from officellm import *
import asyncio, itertools

class Mine:
    async def work(self, task, desk):
        first = await desk.call(desk.entry)
        if not first.success:
            return first
        return await desk.call("writer", f"Polish: {first.content}", final=True)

@hookimpl
def make_orchestrator(name, settings):
    return Mine()
"""

CATALOG = """
from officellm import *
import asyncio, itertools

SPEC = ToolSpec("add", "Adds", {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})

class Mine:
    async def tools(self):
        return [SPEC, ToolSpec("echo", "Echoes", {"type": "object", "properties": {"a": {}}})]

    async def call(self, name, arguments, context):
        if name not in ("add", "echo"):
            raise ToolError(f"no tool named {name}")
        if set(arguments) != {"a"}:
            raise ToolError("give a, and nothing else")
        return await self.run(arguments)

    async def run(self, arguments):
        await asyncio.sleep(0)
        return arguments["a"] + 1

@hookimpl
def make_catalog(name, settings, http):
    return Mine()
"""

LIMIT = """
from officellm import *
from pydantic import BaseModel, ConfigDict

class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")
    most: int | None = 3

class Mine:
    def __init__(self, most):
        self.most, self.used = most, 0

    def reserve(self, spend):
        if spend.kind != "request":
            return None
        if self.most is not None and self.used >= self.most:
            raise self.refusal(spend)
        self.used += 1
        return "taken"

    def refusal(self, spend):
        return LimitReached("most", self.used, self.most, "request_budget", agent=spend.agent)

    def settle(self, reservation, spend, spent):
        if reservation is not None and not spent.usage.requests:
            self.used -= 1

@hookimpl
def settings_model(kind, name):
    return Settings

@hookimpl
def make_limit_policy(name, settings, clock):
    return Mine(settings.most)
"""

_USAGE = {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27}


def _whole(message, finish):
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps({"id": "r", "model": "m", "choices": [choice], "usage": _USAGE}).encode()


def _stream(*deltas, finish):
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": _USAGE})
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode() + b"data: [DONE]\n\n"


_CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}
_CALLS = [("call_1", "search", {"q": "x"})]


class ProviderMutant(ProviderContract):
    name = "mutant"
    exchanges = (
        Exchange(name="text", body=_whole({"content": "hello"}, "stop"), text="hello", usage=(20, 7)),
        Exchange(
            name="text",
            streamed=True,
            body=_stream({"content": "hel"}, {"content": "lo"}, finish="stop"),
            text="hello",
            usage=(20, 7),
        ),
        Exchange(
            name="calls",
            body=_whole({"tool_calls": [_CALL]}, "tool_calls"),
            calls=_CALLS,
            stop="tool_calls",
            usage=(20, 7),
        ),
        Exchange(
            name="calls",
            streamed=True,
            body=_stream({"tool_calls": [_CALL]}, finish="tool_calls"),
            calls=_CALLS,
            stop="tool_calls",
            usage=(20, 7),
        ),
    )


class ProviderMutantInAnOffice(ProviderOfficeContract):
    name = "mutant"

    def base_url(self, llm):
        return llm.openai_url


class ParrotMutant(InProcessProviderContract):
    name = "mutant"
    lasting: ClassVar = {"times": 1000}
    patience = 0.5
    examples = 60


class RouterMutant(RouterContract):
    name = "mutant"


class OrchestratorMutant(OrchestratorContract):
    name = "mutant"


class CatalogMutant(CatalogContract):
    name = "mutant"
    uses = (ToolUse(tool="add", arguments={"a": 41}, answer="42"), ToolUse(tool="echo", arguments={"a": 1}, answer="2"))


class LimitMutant(LimitPolicyContract):
    name = "mutant"
    bounds = tuple(
        Bound(
            name=f"most-{most}",
            settings={"most": most},
            spend={"kind": "request", "limits": Limits()},
            usage=Usage(requests=1),
            allowed=most,
            stop_reason="request_budget",
        )
        for most in (0, 1, 3, None)
    )


class Sound(NamedTuple):
    """A plugin that keeps its contract, and the suite that says so."""

    kind: Kind
    source: str
    suite: type[Suite]


SOUND = {
    "provider": Sound(Kind.PROVIDER, PROVIDER, ProviderMutant),
    "provider in an office": Sound(Kind.PROVIDER, PROVIDER, ProviderMutantInAnOffice),
    "provider in this process": Sound(Kind.PROVIDER, PARROT, ParrotMutant),
    "router": Sound(Kind.ROUTER, ROUTER, RouterMutant),
    "orchestrator": Sound(Kind.ORCHESTRATOR, ORCHESTRATOR, OrchestratorMutant),
    "catalog": Sound(Kind.CATALOG, CATALOG, CatalogMutant),
    "limit": Sound(Kind.LIMIT, LIMIT, LimitMutant),
}
