"""The scripted model: a provider in this process that plays replies and records its requests. No HTTP here."""

from __future__ import annotations

import asyncio
import copy
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from officellm.errors import ConfigError, OfficeError, ProviderError
from officellm.messages import (
    Assistant,
    CallDelta,
    Delta,
    Finished,
    ReasoningDelta,
    Reply,
    Request,
    System,
    TextDelta,
    ToolCall,
    Usage,
)
from officellm.testing.faults import fault_named
from officellm.testing.replies import ReplyLike, ScriptedReply, as_reply
from officellm.testing.script import ScriptExhausted
from officellm.testing.wires.speaker import pieces_of
from officellm.wire import Fault, FaultError

#: A reply, an exception or a fault to raise, or a function (also async) that gets the request and returns one of these.
Step = ReplyLike | Fault | BaseException | Callable[[Request], Any]
#: Whose replies: a part of the system text, or a function of the request. The empty text is anyone.
Key = str | Callable[[Request], bool]


class ScriptedModel:
    """A `Provider` that plays its replies in order, whoever asks; `requests` holds a copy of each request it got."""

    name = "scripted"
    #: The model's name in requests and results.
    model = "scripted"

    def __init__(self, steps: Mapping[Key, Sequence[Step]]) -> None:
        self.requests: list[Request] = []
        self._left = {key: list(played) for key, played in steps.items()}
        self._lock = threading.Lock()
        for played in self._left.values():
            for step in played:
                if not callable(step) and not isinstance(step, (Fault, BaseException)):
                    as_reply(step)

    @property
    def left(self) -> int:
        """How many replies have not been asked for."""
        return sum(len(played) for played in self._left.values())

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Deltas of the next reply, the last one `Finished`. Raises `ScriptExhausted` where there is none."""
        with self._lock:
            self.requests.append(_copy(request))
            number = len(self.requests)
            step = self._next(request, number)
        said = await _said(step, request)
        if said.latency:
            await asyncio.sleep(said.latency)
        _raise_fault(said)
        finished = Finished(_reply(said.as_said(), request, number))
        if request.stream:
            for delta in _deltas(finished.reply):
                yield delta
        yield finished

    def _next(self, request: Request, number: int) -> Step:
        system = "\n".join(message.text for message in request.messages if isinstance(message, System))
        for key, played in self._left.items():
            if not (key in system if isinstance(key, str) else key(request)):
                continue
            if not played:
                raise ScriptExhausted(f"the script has no reply left, and request {number} came{_whose(key)}")
            step = played[0]
            if not (isinstance(step, ScriptedReply) and step.repeat and len(played) == 1):
                played.pop(0)
            return step
        raise ScriptExhausted(f"the script has no replies for request {number}: system text {system[:80]!r}")


def scripted(
    steps: Sequence[Step] | None = None, *, by_agent: Mapping[Key, Sequence[Step]] | None = None
) -> ScriptedModel:
    """A model that gives these replies: `Agent(..., model=scripted([call("search", query="x"), "done"]))`.

    `by_agent` has a list for each agent, named by a part of its instructions or by a function of the request; with
    both, `steps` are for anyone else. A fault is raised as `ProviderError`, as are `TimeoutError` and `OSError`; any
    other exception is raised as it is, like a defect of a provider.
    """
    if isinstance(steps, str):
        raise ConfigError(f"scripted() takes a list of replies, not the text {steps!r}")
    lists: dict[Key, Sequence[Step]] = dict(by_agent or {})
    if steps is not None:
        lists[""] = steps
    return ScriptedModel(lists)


def _whose(key: Key) -> str:
    return f" (replies for {key!r})" if key else ""


def _copy(request: Request) -> Request:
    # `on_retry` belongs to the caller's run: copying it would copy the run.
    return copy.deepcopy(replace(request, on_retry=None))


async def _said(step: Step, request: Request) -> ScriptedReply:
    if callable(step) and not isinstance(step, BaseException):
        made = step(request)
        step = await made if inspect.isawaitable(made) else made
    if isinstance(step, FaultError):
        step = step.fault
    if isinstance(step, Fault):
        raise ProviderError("scripted", step)
    if isinstance(step, BaseException):
        raise _as_raised(step)
    return as_reply(step)  # type: ignore[arg-type]


def _as_raised(error: BaseException) -> BaseException:
    if isinstance(error, OSError) and not isinstance(error, OfficeError):
        kind: Any = "timeout" if isinstance(error, TimeoutError) else "network"
        return ProviderError("scripted", Fault(kind, str(error) or type(error).__name__, None, retryable=True))
    return error


def _raise_fault(said: ScriptedReply) -> None:
    if said.fault is None:
        return
    known = fault_named(said.fault.name)
    if known.family == "error" or (known.family == "body" and not known.delivers):
        raise ProviderError("scripted", known.as_fault(said.fault.params))


def _reply(said: ScriptedReply, request: Request, number: int) -> Reply:
    calls = tuple(
        ToolCall.parse(f"call_{number}_{index}" if one.id is None else one.id, one.name, one.raw)
        for index, one in enumerate(said.calls, 1)
    )
    refused = said.ending == "refused"
    counts = said.usage or Usage(complete=False)
    return Reply(
        Assistant("" if refused else said.text, calls, said.reasoning),
        said.ending,
        replace(counts, requests=1, complete=said.usage is not None),
        raw_stop=said.ending,
        model=request.model,
        id=f"scripted-{number}",
        refusal=(said.text or "refused") if refused else None,
    )


def _deltas(reply: Reply) -> list[Delta]:
    made: list[Delta] = [ReasoningDelta(piece) for piece in pieces_of(reply.message.reasoning)]
    made += [TextDelta(piece) for piece in pieces_of(reply.message.text)]
    for index, one in enumerate(reply.message.calls):
        made += [CallDelta(index, one.id, one.name, piece) for piece in pieces_of(one.raw) or [""]]
    return made
