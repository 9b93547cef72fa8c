"""The provider: one request answered by the model in this process, on its own thread, stopped when nobody waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from officellm import (
    Assistant,
    Clock,
    Delta,
    Fault,
    FaultError,
    Finished,
    OutputSchema,
    ProviderError,
    Reply,
    Request,
    SystemClock,
    TextDelta,
    ToolMode,
    ToolResult,
    Usage,
    dump_text,
)
from officellm_provider_local import chat
from officellm_provider_local.files import SMOLLM2, model_file
from officellm_provider_local.meaning import Meanings
from officellm_provider_local.model import Counts, Model, load
from officellm_provider_local.quoting import quoted
from officellm_provider_local.settings import LocalSettings

T = TypeVar("T")


class LocalProvider:
    """Chooses by meaning, quotes tool results, and writes whatever else it is asked for.

    What was not written by the model is told apart in the reply: `raw_stop` is `weighed` or `quoted`. Any number of
    runs may share it; the model serves them one after another.
    """

    #: Calls and results of the history are taken as they are.
    reads_results = True

    def __init__(self, name: str, settings: LocalSettings, clock: Clock | None = None) -> None:
        self.name = name
        self.model = settings.model
        self.tool_mode: ToolMode = settings.tool_mode
        self.offer_once = settings.offer_once
        self._settings = settings
        self._clock = clock or SystemClock()
        self._minds: dict[str, Meanings] = {}
        self._models: dict[str, Model] = {}

    def __repr__(self) -> str:
        return f"LocalProvider({self.name!r}, {self.model!r})"

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Deltas of one reply. Raises `ProviderError`, and `ConfigError` for a model that is not there."""
        shown: asyncio.Queue[str | None] = asyncio.Queue()
        work = asyncio.ensure_future(self._reply(request, shown))
        work.add_done_callback(lambda _: shown.put_nowait(None))
        partial: list[str] = []
        try:
            while (piece := await shown.get()) is not None:
                partial.append(piece)
                yield TextDelta(piece)
            try:
                yield Finished(await work)
            except FaultError as error:
                raise ProviderError(self.name, error.fault, partial="".join(partial)) from None
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def _reply(self, request: Request, shown: asyncio.Queue[str | None]) -> Reply:
        """The reply, in time. Raises `FaultError` and `ConfigError`."""
        left = self._settings.timeout
        if request.deadline is not None:
            left = min(left, request.deadline - self._clock.monotonic())
        try:
            async with asyncio.timeout(left):
                model = await self._model(request.model or self.model)
                weighed = self._weighable(request.output)
                results = chat.results_of(request.messages) if self._quotes(request) else []
                if weighed is not None:
                    return await self._weigh(model, request, weighed)
                quotation = await self._quote(model, request, results) if results else None
                return quotation or await self._write(model, request, shown)
        except TimeoutError:
            raise FaultError(Fault("timeout", f"the model did not answer within {left:.3g} s")) from None

    async def _model(self, name: str) -> Model:
        model = self._models.get(name)
        if model is None:
            path, settings = model_file(name), self._settings
            model = await asyncio.to_thread(load, path, settings.threads, settings.context)
            self._models[name] = model
            self._minds[name] = Meanings(model)
        return model

    def _weighable(self, output: OutputSchema | None) -> OutputSchema | None:
        """The wanted choice, where all that the reply must say can be said without writing."""
        if output is None or not output.choices or self._settings.choose == "write":
            return None
        sayable = {output.choice, "reason", "confidence"}
        return output if sayable.issuperset(output.schema.get("required", ())) else None

    def _quotes(self, request: Request) -> bool:
        wanted = self._settings.answer or ("quote" if (request.model or self.model) == SMOLLM2 else "write")
        return wanted == "quote" and request.output is None

    async def _weigh(self, model: Model, request: Request, output: OutputSchema) -> Reply:
        text = chat.question_of(request.messages)
        mind = self._minds[request.model or self.model]
        shares, counts = await _run(model, lambda stop: mind.shares(text, output.choices, stop))
        chosen = max(shares, key=lambda name: shares[name])
        said: dict[str, Any] = {output.choice: chosen}
        properties = output.schema.get("properties", {})
        if "reason" in properties:
            said["reason"] = f"closest in meaning of {len(shares)}"
        if "confidence" in properties:
            said["confidence"] = round(shares[chosen], 3)
        return self._finished(request, dump_text(said), counts, raw_stop="weighed")

    async def _quote(self, model: Model, request: Request, results: list[ToolResult]) -> Reply | None:
        """None where the results hold no sentence."""
        before = list(request.messages).index(results[0])
        question = chat.question_of(request.messages[:before])
        text, counts = await _run(model, lambda stop: quoted(model, question, results, stop))
        return self._finished(request, text, counts, raw_stop="quoted") if text else None

    async def _write(self, model: Model, request: Request, shown: asyncio.Queue[str | None]) -> Reply:
        loop = asyncio.get_running_loop()

        def show(piece: str) -> None:
            loop.call_soon_threadsafe(shown.put_nowait, piece)

        body = chat.body(request, self._settings.settings, self._settings.max_tokens)
        streamed = show if request.stream and request.output is None else None
        written = await _run(model, lambda stop: model.chat(body, stop, streamed))
        return self._finished(request, written.text, written.counts, raw_stop=written.finish)

    def _finished(self, request: Request, text: str, counts: Counts, *, raw_stop: str) -> Reply:
        return Reply(
            Assistant(text),
            "length" if raw_stop == "length" else "stop",
            Usage(input=counts.read, output=counts.written, cached=counts.cached, requests=1),
            raw_stop=raw_stop,
            model=request.model or self.model,
        )


async def _run(model: Model, work: Callable[[threading.Event], T]) -> T:
    """`work` on the model's thread; whoever is cancelled while waiting stops it."""
    stop = threading.Event()
    try:
        return await asyncio.get_running_loop().run_in_executor(model.worker, work, stop)
    finally:
        stop.set()
