"""The fake LLM server: one loopback HTTP server that speaks every wire, plays a script and records what it was sent."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import Any

from aiohttp import web

from officellm.codec import dumps, loads
from officellm.errors import ConfigError
from officellm.testing.answers import Sending, sending
from officellm.testing.background import start_in_thread
from officellm.testing.record import Record
from officellm.testing.scriptfile import read_script
from officellm.testing.wires.anthropic import AnthropicSpeaker
from officellm.testing.wires.bedrock import BedrockSpeaker
from officellm.testing.wires.bedrock_invoke import BedrockInvokeSpeaker
from officellm.testing.wires.cohere import CohereSpeaker
from officellm.testing.wires.gemini import GeminiSpeaker
from officellm.testing.wires.mistral import MistralSpeaker
from officellm.testing.wires.ollama import OllamaSpeaker
from officellm.testing.wires.openai import OpenAISpeaker
from officellm.testing.wires.responses import ResponsesSpeaker
from officellm.testing.wires.speaker import Answer, Heard, Speaker, Trouble

#: The wires that the server speaks unless told otherwise: the first that listens to a path answers.
SPEAKERS: tuple[Speaker, ...] = (
    AnthropicSpeaker(),
    GeminiSpeaker(),
    CohereSpeaker(),
    MistralSpeaker(),
    OllamaSpeaker(),
    ResponsesSpeaker(),
    BedrockSpeaker(),
    BedrockInvokeSpeaker(),
    OpenAISpeaker(),
)


class FakeLLM:
    """`async with FakeLLM(script) as llm:` serves until the block is left; `llm.requests` records what came.

    `script` is what `read_script` takes. `strict` refuses what the vendors refuse. With a `key`, any other is a 401.
    """

    def __init__(
        self,
        script: Any,
        *,
        strict: bool = True,
        key: str | None = None,
        models: Sequence[str] = ("fake-model",),
        speakers: Sequence[Speaker] = SPEAKERS,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.script = read_script(script)
        self.requests: list[Record] = []
        self.strict = strict
        self.key = key
        self.models = tuple(models)
        self.speakers = tuple(speakers)
        self.host = host
        self.port = port
        self._started = time.monotonic()
        self._runner: web.ServerRunner | None = None
        self._closing = asyncio.Event()

    @property
    def url(self) -> str:
        """The root, such as `http://127.0.0.1:1234`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def openai_url(self) -> str:
        """The base url of the OpenAI wire."""
        return f"{self.url}/v1"

    @property
    def anthropic_url(self) -> str:
        """The base url of the Anthropic wire."""
        return f"{self.url}/v1"

    @property
    def gemini_url(self) -> str:
        """The base url of the Gemini wire."""
        return f"{self.url}/v1beta"

    @property
    def cohere_url(self) -> str:
        """The base url of the Cohere wire."""
        return f"{self.url}/cohere"

    @property
    def mistral_url(self) -> str:
        """The base url of the Mistral wire."""
        return f"{self.url}/mistral/v1"

    @property
    def ollama_url(self) -> str:
        """The base url of the Ollama wire."""
        return self.url

    @property
    def responses_url(self) -> str:
        """The base url of OpenAI's Responses wire."""
        return f"{self.url}/v1"

    @property
    def bedrock_url(self) -> str:
        """The base url of both of Bedrock's wires."""
        return self.url

    @property
    def refusals(self) -> list[str]:
        """Why requests were refused: by the vendor's rules, or because the script had no reply."""
        return [one.outcome for one in self.requests if one.outcome.startswith("refused: ")]

    def reset(self) -> None:
        """Forget the requests and start the script again."""
        self.requests.clear()
        self.script.reset()

    async def __aenter__(self) -> FakeLLM:
        # `handler_cancellation`: a client that leaves is noticed at once, also in a `hang`.
        server = web.Server(self._handle, handler_cancellation=True, access_log=None)
        self._runner = web.ServerRunner(server, shutdown_timeout=1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.host, self.port)
        try:
            await site.start()
        except OSError as error:
            await self._runner.cleanup()
            raise ConfigError(f"cannot listen on {self.host}:{self.port}: {error.strerror or error}") from None
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._closing.set()
        if self._runner is not None:
            await self._runner.cleanup()

    @classmethod
    @contextlib.contextmanager
    def in_thread(cls, script: Any, **options: Any) -> Iterator[FakeLLM]:
        """The server in a thread of its own, for tests that are not async or start other processes."""
        llm = cls(script, **options)
        with contextlib.ExitStack() as stack:
            start_in_thread(llm, stack)
            yield llm

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.path
        if request.method == "GET":
            return self._get(request)
        if request.method == "POST" and path == "/reset":
            self.reset()
            return _json({"reset": True})
        speaker = next((one for one in self.speakers if one.listens_to(path)), None)
        if request.method != "POST" or speaker is None:
            return _json({"error": {"message": f"no wire listens to {request.method} {path}", "code": 404}}, 404)
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = _object(await request.content.read())  # `request.read()` refuses a megabyte
        if body is None:
            return await _send(
                request, speaker.refuse(Trouble(400, "We could not parse the JSON body of your request."))
            )
        heard = speaker.hear(path, dict(request.query), headers, body)
        record = Record(path, heard, time.monotonic() - self._started)
        self.requests.append(record)
        try:
            return await self._respond(request, speaker, heard, record)
        except asyncio.CancelledError:
            record.outcome = "left"
            raise
        except ConnectionError:
            record.outcome = "left"
            return web.Response()

    async def _respond(
        self, request: web.BaseRequest, speaker: Speaker, heard: Heard, record: Record
    ) -> web.StreamResponse:
        trouble = self._trouble(speaker, heard, request)
        if trouble is None:
            try:
                reply = await self.script.choose(heard)
            except (AssertionError, ConfigError) as error:
                # Also an assertion in a function of the script: retrying would hide it.
                trouble = Trouble(400, f"the script has no reply for this request: {error}", "script")
        if trouble is not None:
            record.outcome = f"refused: {trouble.message}"
            return await _send(request, speaker.refuse(trouble))
        if reply.latency:
            await self._wait(reply.latency)
        response = await self._play(request, sending(speaker, heard, reply))
        record.outcome = f"fault {reply.fault_name}" if reply.fault else "answered"
        return response

    def _trouble(self, speaker: Speaker, heard: Heard, request: web.BaseRequest) -> Trouble | None:
        if self.key is not None and speaker.key(heard.headers, dict(request.query)) != self.key:
            return Trouble(401, "Incorrect API key provided.", "invalid_api_key")
        return speaker.complain(heard) if self.strict else None

    def _get(self, request: web.BaseRequest) -> web.Response:
        if request.path == "/requests":
            return _json({"count": len(self.requests), "requests": [one.to_dict() for one in self.requests]})
        headers = {name.lower(): value for name, value in request.headers.items()}
        for speaker in self.speakers:
            listing = speaker.list_models(request.path, headers, self.models)
            if listing is not None:
                return web.Response(body=listing.pieces[0], headers={"content-type": listing.content_type})
        return _json({"error": {"message": f"nothing at GET {request.path}", "code": 404}}, 404)

    async def _wait(self, seconds: float) -> None:
        """Wait, but not longer than the server lives."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), seconds)

    async def _play(self, request: web.BaseRequest, plan: Sending) -> web.StreamResponse:
        if plan.silence:
            await self._wait(plan.silence)
        if plan.ending == "break":
            _cut(request)
            return web.Response()
        if plan.ending == "whole" and not plan.size:
            return await _send(request, plan.answer)
        answer = plan.answer
        response = _response(answer)
        if not answer.streamed:
            response.content_length = sum(len(piece) for piece in answer.pieces)
        await response.prepare(request)
        pieces = answer.pieces
        if plan.size:
            joined = b"".join(pieces)
            pieces = tuple(joined[start : start + plan.size] for start in range(0, len(joined), plan.size))
        elif not answer.streamed:
            await response.write(pieces[0])
            _cut(request)
            return response
        for piece in pieces:
            await response.write(piece)
            if plan.delay:
                await self._wait(plan.delay)
        await response.write_eof()
        return response


def _response(answer: Answer) -> web.StreamResponse:
    return web.StreamResponse(status=answer.status, headers={**answer.headers, "content-type": answer.content_type})


async def _send(request: web.BaseRequest, answer: Answer) -> web.StreamResponse:
    if not answer.streamed:
        headers = {**answer.headers, "content-type": answer.content_type}
        return web.Response(body=answer.pieces[0], status=answer.status, headers=headers)
    response = _response(answer)
    await response.prepare(request)
    for piece in answer.pieces:
        await response.write(piece)
    await response.write_eof()
    return response


def _json(value: Any, status: int = 200) -> web.Response:
    return web.Response(body=dumps(value), status=status, headers={"content-type": "application/json"})


def _object(body: bytes) -> dict[str, Any] | None:
    """The JSON object in a body; None where there is none, or one with numbers that JSON cannot send back."""
    try:
        value = loads(body)
        dumps(value)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _cut(request: web.BaseRequest) -> None:
    if request.transport is not None:
        request.transport.abort()
