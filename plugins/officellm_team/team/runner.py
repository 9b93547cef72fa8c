"""The rolling scheduler of a polling team: claims work as soon as there is room, keeps leases alive, ends cleanly."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from officellm import Agent, Limits, Office, in_thread
from officellm_team.board import agents, deliveries
from officellm_team.board.caller import Caller
from officellm_team.board.deliveries import Delivery
from officellm_team.board.store import Board
from officellm_team.team.dispatch import Dispatch, Dispatched, Rules, shielded
from officellm_team.team.wake import Wake

log = logging.getLogger("officellm")

#: A lease is renewed three times before it would expire.
LEASE_SECONDS = 60.0
HEARTBEAT_SECONDS = 20.0
#: How long a runner that was told to stop waits for work in hand, before it gives it back.
DRAIN_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How a team polls: what wakes it, how often it looks, how much it does at once.

    `max_iterations` ends the team after so many looks at the board, 0 never.
    """

    kinds: Sequence[str]
    poll_seconds: float = 5.0
    concurrent: int = 4
    per_agent: int | None = None
    max_iterations: int = 0
    limits: Limits = Limits()  # noqa: RUF009 - frozen
    rules: Rules = Rules()  # noqa: RUF009 - frozen


class TeamRunner:
    """One process of a team. Any number of them may work on one board."""

    def __init__(
        self,
        office: Office,
        board: Board,
        pace: Pace,
        *,
        tell: Callable[[str], None],
        listener: Callable[[Any], None] | None = None,
        drain_seconds: float = DRAIN_SECONDS,
    ) -> None:
        self.name = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
        self._office = office
        self._board = board
        self._pace = pace
        self._tell = tell
        self._listener = listener
        self._drain = drain_seconds
        self._working: dict[asyncio.Task[Dispatched], Delivery] = {}
        self._stopping = asyncio.Event()
        self._ended = asyncio.Event()
        self._replaced: tuple[Office, Pace] | None = None
        self.handled = 0

    @property
    def stopping(self) -> bool:
        """Whether it was told to stop."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """Claim nothing more; end once the work in hand is done or given back."""
        self._stopping.set()

    def replace(self, office: Office, pace: Pace) -> None:
        """Go on with another team from the next claim on; work in hand ends as it began."""
        self._replaced = office, pace
        self._ended.set()

    async def run(self, *, once: bool = False) -> None:
        """Work until told to stop; with `once` until nothing is left. Agents are offline afterwards."""
        await self._register()
        wake = Wake(self._board)
        keeping = asyncio.create_task(self._keep_alive())
        try:
            await self._loop(wake, once=once)
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            await shielded(self._end())
            wake.close()

    async def _loop(self, wake: Wake, *, once: bool) -> None:
        looks = 0
        while not self._stopping.is_set():
            if self._replaced is not None:
                self._office, self._pace = self._replaced
                self._replaced = None
                await self._register()
            claimed = await self._claim()
            looks += 1
            for delivery in claimed:
                self._start(delivery)
            if self._pace.max_iterations and looks >= self._pace.max_iterations:
                break
            if not claimed and not self._working:
                orphans = await in_thread(lambda: deliveries.requeue_orphans(self._board))
                if once and not orphans and not await self._left():
                    break
            if not claimed or len(self._working) >= self._pace.concurrent:
                await self._wait(wake)

    async def _claim(self) -> list[Delivery]:
        room = self._pace.concurrent - len(self._working)
        if room <= 0:
            return []
        names = list(self._office.agents)
        return await in_thread(
            lambda: deliveries.claim(
                self._board,
                runner=self.name,
                agents=names,
                kinds=self._pace.kinds,
                lease_seconds=LEASE_SECONDS,
                limit=room,
                per_agent=self._pace.per_agent,
            )
        )

    async def _left(self) -> bool:
        """Whether something waits for a later attempt, or for another runner's lease."""
        names = list(self._office.agents)
        counts = await in_thread(lambda: deliveries.counts(self._board, agents=names, kinds=self._pace.kinds))
        return bool(counts.get("queued") or counts.get("leased"))

    def _start(self, delivery: Delivery) -> None:
        dispatch = Dispatch(
            self._office,
            self._board,
            delivery,
            limits=self._pace.limits,
            rules=self._pace.rules,
            listener=self._listener,
        )
        task = asyncio.create_task(dispatch.go())
        self._working[task] = delivery
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[Dispatched]) -> None:
        delivery = self._working.pop(task)
        self._ended.set()
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self.handled += 1
            self._tell(task.result().line())
        else:
            # A defect of ours: the delivery's lease expires, and it is tried again, a bounded number of times.
            log.error("dispatch of notification %s failed", delivery.id, exc_info=error)
            self._tell(f"  [{delivery.agent_id}] notif={delivery.id} terminal=dispatch_exception error={error!r:.160}")

    async def _wait(self, wake: Wake) -> None:
        """Until the board changed, work in hand ended, the team is to stop, or it is time to look again."""
        self._ended.clear()
        waits = [
            asyncio.create_task(wake.changed(self._pace.poll_seconds)),
            asyncio.create_task(self._ended.wait()),
            asyncio.create_task(self._stopping.wait()),
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def _keep_alive(self) -> None:
        """Heartbeats and leases: work whose lease is lost is cancelled, as another process may have it."""
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            try:
                await in_thread(self._heartbeat)
                for task, delivery in list(self._working.items()):
                    if not await in_thread(lambda one=delivery: self._renewed(one)):  # type: ignore[misc]
                        task.cancel()
            except Exception:
                log.exception("the board could not be told that this runner lives")

    def _heartbeat(self) -> None:
        for name in self._office.agents:
            agents.heartbeat(self._board, Caller(name))

    def _renewed(self, delivery: Delivery) -> bool:
        return deliveries.renew(self._board, delivery.id, delivery.token, LEASE_SECONDS)

    async def _register(self) -> None:
        members: list[Agent] = list(self._office.agents.values())

        def register() -> None:
            for agent in members:
                model = agent.model if isinstance(agent.model, str) else ""
                agents.register(
                    self._board,
                    Caller(agent.name),
                    role=agent.role,
                    capabilities=list(agent.capabilities),
                    metadata={"model": model},
                )

        await in_thread(register)

    async def _end(self) -> None:
        """Give work in hand its time, then give it back; agents are offline."""
        working = list(self._working)
        if working:
            await asyncio.wait(working, timeout=self._drain if self._stopping.is_set() else None)
            for task in working:
                task.cancel()
            await asyncio.gather(*working, return_exceptions=True)
        names = list(self._office.agents)

        def leave() -> None:
            for name in names:
                agents.offline(self._board, Caller(name))

        await in_thread(leave)
