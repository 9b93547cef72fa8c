"""How a team polls: what wakes it, how often it looks, how much it does at once, how long it keeps what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from officellm import Limits
from officellm_team.team.dispatch import Rules

LEASE_SECONDS = 60.0
#: Agents are heard of, and leases looked after, at least so often.
HEARTBEAT_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Of one process, but for `per_agent`, which holds over all processes of a board.

    `max_iterations` ends the team after so many looks at the board, 0 never.
    """

    kinds: Sequence[str]
    poll_seconds: float = 5.0
    concurrent: int = 4
    per_agent: int | None = None
    max_iterations: int = 0
    limits: Limits = Limits()  # noqa: RUF009 - frozen
    rules: Rules = Rules()  # noqa: RUF009 - frozen
    #: How long a model is left alone whose provider refuses the key, or has no credit.
    setup_rules: Rules = Rules(first_delay=60.0, longest=1800.0)  # noqa: RUF009 - frozen
    lease_seconds: float = LEASE_SECONDS

    @property
    def beat_seconds(self) -> float:
        """A lease is renewed three times before it would end."""
        return min(self.lease_seconds / 3, HEARTBEAT_SECONDS)
