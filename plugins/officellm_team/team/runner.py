"""The rolling scheduler of a polling team: claims work as soon as there is room, keeps leases alive, ends cleanly."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.exc import OperationalError

from officellm import Agent, Office, in_thread
from officellm_team.board import deliveries
from officellm_team.board.deliveries import Delivery
from officellm_team.board.store import Board
from officellm_team.team import presence
from officellm_team.team.dispatch import Dispatch, Dispatched, shielded
from officellm_team.team.pace import Pace
from officellm_team.team.pauses import Pauses
from officellm_team.team.wake import Wake, wake_of

log = logging.getLogger("officellm")

#: How long a runner that was told to stop waits for work in hand, before it gives it back.
DRAIN_SECONDS = 20.0


@dataclass(slots=True)
class _Work:
    """A delivery in hand, with the model that it asks."""

    delivery: Delivery
    model: str
    begun: float
    #: When the lease ends, as far as this process knows.
    leased_until: float


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
        self._working: dict[asyncio.Task[Dispatched], _Work] = {}
        self._pauses = self._new_pauses()
        self._stopping = asyncio.Event()
        self._ended = asyncio.Event()
        self._leaving = asyncio.Event()
        self._replaced: tuple[Office, Pace] | None = None
        #: Offices that came by `replace`: ours to close, once the work that they began is done.
        self._brought: list[Office] = []
        self.handled = 0
        #: Whether it ended with work left for models that wait for a person.
        self.gave_up = False

    def _new_pauses(self) -> Pauses:
        clock = self._office.clock
        return Pauses(clock.monotonic, clock.jitter, self._pace.rules, self._pace.setup_rules)

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
        self._brought.append(office)
        self._ended.set()

    async def run(self, *, once: bool = False) -> None:
        """Work until told to stop; with `once` until nothing is left. Agents are offline afterwards."""
        await in_thread(lambda: presence.register(self._board, self._office.agents))
        wake = wake_of(self._board)
        keeping = asyncio.create_task(self._keep_alive())
        try:
            await self._loop(wake, once=once)
        finally:
            await shielded(self._end(keeping))
            await shielded(wake.close())

    async def _loop(self, wake: Wake, *, once: bool) -> None:
        looks = 0
        while not self._stopping.is_set():
            self._ended.clear()
            if self._replaced is not None:
                self._office, self._pace = self._replaced
                self._replaced = None
                self._pauses = self._new_pauses()
                await in_thread(lambda: presence.register(self._board, self._office.agents))
            try:
                done = await self._look(once=once)
            except OperationalError as error:
                log.error("the board cannot be reached: %s", error.orig)
                done = False
            looks += 1
            if done or looks == self._pace.max_iterations:
                break
            await self._wait(wake)

    async def _look(self, *, once: bool) -> bool:
        """Begin all that may begin; whether nothing is left that this team can do, where it works `once`."""
        claimed = await self._claim()
        if claimed or self._working:
            return False
        orphans = await in_thread(lambda: deliveries.requeue_orphans(self._board))
        if not once or orphans:
            return False
        stuck = {agent.name for agent in self._office.agents.values() if self._pauses.needs_setup(_model_of(agent))}
        if await self._left(set(self._office.agents) - stuck):
            return False
        self.gave_up = await self._left(stuck)
        return True

    async def _claim(self) -> bool:
        """Begin what is due while there is room, one by one, for the agents with the least in hand first."""
        agents, claimed = dict(self._office.agents), False
        while len(self._working) < self._pace.concurrent and not self._stopping.is_set():
            busy = Counter(work.model for work in self._working.values())
            free = [name for name, one in agents.items() if self._pauses.may(_model_of(one), busy[_model_of(one)])]
            if not free:
                break
            in_hand = Counter(work.delivery.agent_id for work in self._working.values())
            least = min(in_hand[name] for name in free)
            idlest = [name for name in free if in_hand[name] == least]
            found = await in_thread(lambda names=idlest: self._claimed(names))  # type: ignore[misc]
            for delivery in found:
                self._start(delivery)
                claimed = True
            if not found:
                agents = {name: one for name, one in agents.items() if name not in idlest}
        return claimed

    def _claimed(self, names: Sequence[str]) -> list[Delivery]:
        pace = self._pace
        return deliveries.claim(
            self._board,
            runner=self.name,
            agents=names,
            kinds=pace.kinds,
            lease_seconds=pace.lease_seconds,
            per_agent=pace.per_agent,
        )

    async def _left(self, names: Collection[str]) -> bool:
        """Whether something waits for a later attempt, or for another runner's lease."""
        if not names:
            return False
        agents = list(names)
        counts = await in_thread(lambda: deliveries.counts(self._board, agents=agents, kinds=self._pace.kinds))
        return bool(counts["queued"] or counts["leased"])

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
        now = self._office.clock.monotonic()
        model = _model_of(self._office.agents[delivery.agent_id])
        self._working[task] = _Work(delivery, model, now, now + self._pace.lease_seconds)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[Dispatched]) -> None:
        work = self._working.pop(task)
        delivery = work.delivery
        self._ended.set()
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self.handled += 1
            self._tell(task.result().line())
            self._learn(work, task.result())
        else:
            # A defect of ours: the delivery's lease expires, and it is tried again, a bounded number of times.
            log.error("dispatch of notification %s failed", delivery.id, exc_info=error)
            self._tell(f"  [{delivery.agent_id}] notif={delivery.id} terminal=dispatch_exception error={error!r:.160}")

    def _learn(self, work: _Work, done: Dispatched) -> None:
        seconds = self._pauses.ended(work.model, work.begun, done)
        if seconds is None:
            return
        who = [agent.name for agent in self._office.agents.values() if _model_of(agent) == work.model]
        if done.trouble == "setup":
            said = (
                "the model %s cannot be used: %s. Work for %s waits at least %.0f s; mend it, then SIGHUP or restart."
            )
            log.error(said, work.model, done.error, ", ".join(who), seconds)
        else:
            log.warning("the model %s fails: %s. It is asked again in %.0f s.", work.model, done.error, seconds)

    async def _wait(self, wake: Wake) -> None:
        """Until the board changed, work in hand ended, the team is to stop, or it is time to look again."""
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
        while not await _within(self._pace.beat_seconds, self._leaving):
            for task, work in list(self._working.items()):
                if not await self._renew(work):
                    task.cancel()
            try:
                await in_thread(lambda: presence.beat(self._board, self._office.agents))
            except Exception:
                log.exception("the board could not be told that this runner lives")

    async def _renew(self, work: _Work) -> bool:
        """Whether the lease holds: also for as long as it was given where the board cannot be asked."""
        one, now, seconds = work.delivery, self._office.clock.monotonic(), self._pace.lease_seconds
        try:
            held = await in_thread(lambda: deliveries.renew(self._board, one.id, one.token, seconds))
        except Exception:
            log.exception("the lease of notification %s could not be renewed", one.id)
            return self._office.clock.monotonic() < work.leased_until
        work.leased_until = now + seconds
        return held

    async def _end(self, keeping: asyncio.Task[None]) -> None:
        """Give work in hand its time, while its leases are kept, then give it back; agents are offline."""
        working = list(self._working)
        if working:
            await asyncio.wait(working, timeout=self._drain if self._stopping.is_set() else None)
            for task in working:
                task.cancel()
            await asyncio.gather(*working, return_exceptions=True)
        self._leaving.set()
        await asyncio.wait([keeping])
        await in_thread(lambda: presence.leave(self._board, self._office.agents))
        for office in self._brought:
            await office.aclose()


def _model_of(agent: Agent) -> str:
    """What agents share that ask one model."""
    return agent.model if isinstance(agent.model, str) else agent.name


async def _within(seconds: float, event: asyncio.Event) -> bool:
    """Whether it happens in this time."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
    return event.is_set()
