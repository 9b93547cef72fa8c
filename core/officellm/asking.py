"""Model requests that are no agent's: a router's, a planner's. Metered and counted like any other, under a label."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from officellm import events as ev
from officellm.errors import ConfigError
from officellm.messages import Reply, Request
from officellm.protocols import Provider, Spend
from officellm.run import Run, Tally

if TYPE_CHECKING:
    from officellm.office import Office
    from officellm.roster import Setups


class Asking:
    """Of one run."""

    def __init__(self, office: Office, run: Run, setups: Setups) -> None:
        self._office = office
        self._run = run
        self._setups = setups
        self._tallies: dict[str, Tally] = {}
        self._asked: dict[str, int] = {}

    async def ask(self, request: Request, *, label: str, model: str | None = None) -> Reply:
        """The reply. An empty `request.model` means `model`, or without it the first agent's.

        Raises `ConfigError`, `LimitReached`, `ProviderError`.
        """
        run = self._run
        turn = self._asked[label] = self._asked.get(label, 0) + 1
        tally = self._tallies.setdefault(label, Tally(run, label))
        provider, name = self._provider(request.model or model, label)
        variable = missing_key(provider)
        if variable is not None:
            raise ConfigError(f"{label}: the environment variable {variable} is not set")
        retries = run.limits.provider_retries
        request = replace(
            request, model=name, deadline=run.deadline, retries=request.retries if retries is None else retries
        )
        spend = Spend(kind="request", scope=label, agent=label, turn=turn)
        reply = await run.ask(provider, request, spend, tally)
        run.events.emit(
            ev.ModelReply,
            agent=label,
            span=label,
            turn=turn,
            text=reply.message.text,
            calls=len(reply.message.calls),
            stop=reply.stop,
            usage=reply.usage,
        )
        return reply

    def _provider(self, wanted: str | None, label: str) -> tuple[Provider, str]:
        """A model that was named; or the first agent's, with its fallbacks."""
        office = self._office
        if wanted:
            return office.providers.resolve(wanted, owner=label)
        first = self._setups.get(office.entry or next(iter(office.roster)))
        return first.provider, first.model


def missing_key(provider: Provider) -> str | None:
    """The variable that should hold this provider's key and does not."""
    missing = getattr(provider, "missing_key", None)
    return missing() if missing is not None else None
