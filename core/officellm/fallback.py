"""Asks other models, in order, where one fails. Retries are each provider's own matter."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Literal, get_args

from officellm.errors import ProviderError
from officellm.messages import Delta, Finished, Reply, Request, Usage
from officellm.protocols import Provider
from officellm.wire import Fault

#: `error`: the request failed, for a reason that another model need not have. `refused`: the model or a filter of its
#: service refused. `bad_reply`: the reply is empty or broken.
FallbackOn = Literal["error", "refused", "bad_reply"]
FALLBACK_ON: tuple[FallbackOn, ...] = get_args(FallbackOn)


class Fallback:
    """`Provider` over several models. The first that answers well is the answer; nothing shown is ever taken back."""

    def __init__(self, models: Sequence[tuple[Provider, str]], on: Sequence[FallbackOn] = ("error",)) -> None:
        self._models = tuple(models)
        self._on = frozenset(on)

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Deltas of one reply. Raises the `ProviderError` of the last model, which names what was tried before.

        `request.model` becomes the model that is asked: prices and messages follow it. Replies that were not used
        count in the usage.
        """
        tried: list[str] = []
        unused = Usage()
        for place, (provider, model) in enumerate(self._models):
            request.model = model
            last = place + 1 == len(self._models)
            shown = False
            try:
                async with aclosing(provider.stream(request)) as deltas:  # type: ignore[type-var]
                    async for delta in deltas:
                        if not isinstance(delta, Finished):
                            shown = True
                            yield delta
                            continue
                        usage = unused + delta.reply.usage
                        why = None if shown or last else self._flaw(delta.reply)
                        if why is not None:
                            unused = usage
                            self._tell(request, tried, Fault("malformed", why))
                            break
                        yield Finished(replace(delta.reply, usage=usage)) if tried else delta
                    else:
                        return
            except ProviderError as error:
                if shown or last or not self._may_follow(error.fault):
                    raise _naming(error, tried) from error
                self._tell(request, tried, error.fault, error.attempts)

    def _flaw(self, reply: Reply) -> str | None:
        """Why the next model is asked in spite of a reply; None for one that is kept."""
        if reply.stop == "refused":
            return "the model refused" if "refused" in self._on else None
        broken = reply.stop == "error" or not (reply.message.text.strip() or reply.message.calls)
        if broken and reply.stop != "pause" and "bad_reply" in self._on:
            return f"the reply is empty or broken ({reply.raw_stop or reply.stop})"
        return None

    def _may_follow(self, fault: Fault) -> bool:
        if fault.kind == "refused":
            return "refused" in self._on
        # A request that is wrong or too long stays so; a model that is not there is the model's matter.
        request_shaped = fault.kind in ("bad_request", "context_overflow") and fault.status != 404
        return "error" in self._on and not request_shaped

    def _tell(self, request: Request, tried: list[str], fault: Fault, attempts: int = 1) -> None:
        tried.append(f"{request.model}: {fault.kind if fault.kind != 'malformed' else fault.message}")
        if request.on_retry is not None:
            request.on_retry(attempts, fault, 0.0)


def _naming(error: ProviderError, tried: Sequence[str]) -> ProviderError:
    """The same error; with what was tried before, where anything was."""
    if not tried:
        return error
    fault = replace(error.fault, message=f"{error.fault.message} (before that {'; '.join(tried)})")
    return ProviderError(error.provider, fault, attempts=error.attempts, partial=error.partial)
