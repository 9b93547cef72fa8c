"""One delivery worked through by its agent, and what becomes of the delivery and of its task."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from officellm import ConfigError, Fault, Limits, Office, Result, StopReason, Task, in_thread
from officellm_team.board import deliveries, tasks
from officellm_team.board.caller import Caller
from officellm_team.board.deliveries import Delivery
from officellm_team.board.errors import BoardError
from officellm_team.board.store import Board
from officellm_team.team.words import NOT_CLOSED, printable, prompt_of

log = logging.getLogger("officellm")

Trouble = Literal["", "passing", "setup"]
#: Faults that a person must mend: no key, no right, no credit, no such model. The work is not to blame.
_SETUP = ("auth", "quota")
#: Ends of a task that need nothing more of its agent.
_CLOSED = ("completed", "failed", "cancelled", "blocked")

Terminal = str


@dataclass(slots=True, kw_only=True)
class Dispatched:
    """How one dispatch ended. `terminal` is a stop reason, or `stale`, `poison`, `not_closed`, `lost`."""

    delivery: Delivery
    terminal: Terminal
    turns: int = 0
    tool_calls: int = 0
    seconds: float = 0.0
    error: str | None = None
    #: What became of the delivery.
    became: Literal["done", "queued", "dead", "released", "lost"] = "done"
    #: What is wrong with the model, where the work is not to blame: it passes, or somebody must mend it.
    trouble: Trouble = ""
    #: How long the provider asked to be left alone, in seconds.
    retry_after: float = 0.0
    results: list[Result] = field(default_factory=list)

    def line(self) -> str:
        """The summary line of a dispatch."""
        one = self.delivery
        text = f"  [{one.agent_id}] notif={one.id} terminal={self.terminal} turns={self.turns} "
        text += f"tool_calls={self.tool_calls} elapsed={self.seconds:.1f}s"
        return f"{text} error={printable(' '.join(self.error.split())[:160])}" if self.error else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How often a delivery is tried, and how long it waits: doubled each time, up to `longest` seconds."""

    attempts: int = 6
    first_delay: float = 5.0
    longest: float = 300.0

    def delay(self, attempts: int, jitter: float) -> float:
        """Seconds before the next attempt; `jitter` in [0, 1) takes up to a fifth away."""
        grown = self.first_delay * 2.0 ** max(0, attempts - 1)
        return min(grown, self.longest) * (1 - jitter / 5)


class Dispatch:
    """Works one delivery through."""

    def __init__(
        self,
        office: Office,
        board: Board,
        delivery: Delivery,
        *,
        limits: Limits,
        rules: Rules,
        listener: Callable[[Any], None] | None = None,
    ) -> None:
        self._office = office
        self._board = board
        self._delivery = delivery
        self._limits = limits
        self._rules = rules
        self._tools: frozenset[str] = frozenset()
        self._listener = listener
        self._agent = delivery.agent_id
        #: The runner changes tasks as the agent that it works for, with an operator's right.
        self._runner = Caller(delivery.agent_id, operator=True)
        self.done = Dispatched(delivery=delivery, terminal="success")

    async def go(self) -> Dispatched:
        """Work, then acknowledge. Raises cancellation, after the delivery was given back."""
        clock = self._office.clock
        begun = clock.monotonic()
        try:
            await self._work()
        except asyncio.CancelledError:
            self.done.terminal, self.done.became = "cancelled", "released"
            await self._settle(lambda: deliveries.release(self._board, self._delivery.id, self._delivery.token))
            raise
        except BoardError as error:
            if error.code != "stale_lease":
                await self._again("dispatch_exception", str(error))
                return self.done
            self.done.terminal, self.done.became, self.done.error = "lost", "lost", str(error)
        except ConfigError as error:
            self.done.terminal = "dispatch_exception"
            await self._wait_for_setup(str(error))
        except Exception as error:
            # Whatever it is, it concerns this delivery alone: the others go on, and this one is tried a few times more.
            log.exception("the dispatch of notification %s failed", self._delivery.id)
            await self._again("dispatch_exception", f"{type(error).__name__}: {error}")
        finally:
            self.done.seconds = clock.monotonic() - begun
        return self.done

    async def _work(self) -> None:
        delivery = self._delivery
        self._tools = frozenset((await self._office.ready()).get(self._agent).toolset.names())
        if delivery.payload is None:
            await self._bury("poison", f"its payload is no JSON object: {delivery.raw_payload[:80]!r}")
            return
        if delivery.attempts > self._rules.attempts:
            # It never came to an end of its own: it may be what ends the processes that try.
            await self._bury("dispatch_exception", f"given up after {delivery.attempts - 1} attempts without an end")
            return
        task = await self._task()
        if delivery.task_id is not None and not self._is_current(task):
            self.done.terminal = "stale"
            await self._finish("stale")
            return
        result = await self._run(prompt_of(delivery, task, self._tools))
        if result.stop_reason is StopReason.SUCCESS and task is not None:
            result = await self._closed(result)
        if await self._is_providers(result):
            return
        self.done.terminal = str(result.stop_reason) if self.done.terminal == "success" else self.done.terminal
        if result.stop_reason is not StopReason.SUCCESS:
            self.done.error = result.error
            await self._fail_task(str(result.stop_reason), result.error or "")
        await self._finish(self.done.terminal)

    async def _task(self) -> dict[str, Any] | None:
        id = self._delivery.task_id
        if id is None:
            return None
        try:
            return await in_thread(lambda: tasks.get(self._board, self._runner, id))
        except BoardError as error:
            if error.code == "not_found":
                return None
            raise

    def _is_current(self, task: dict[str, Any] | None) -> bool:
        """Whether the work is still wanted of this agent: asked before a token is spent."""
        if task is None:
            return False
        if self._delivery.kind == "task_assigned":
            return task["state"] not in _CLOSED[:3] and task["owner_agent"] == self._agent
        return True

    async def _run(self, prompt: str, before: Result | None = None) -> Result:
        title = f"{self._delivery.kind} {self._delivery.task_id or self._delivery.id}"
        task = Task.of(prompt).model_copy(update={"title": title[:80]})
        result = await self._office.run(
            task,
            agent=self._agent,
            orchestrator="none",
            limits=self._limits,
            history=() if before is None else before.messages,
            listener=self._listener,
        )
        self.done.results.append(result)
        self.done.turns += result.usage.requests
        self.done.tool_calls += result.usage.tool_calls
        return result

    async def _closed(self, result: Result) -> Result:
        """A success must close its task: asked for once more, then the task is marked with the reason."""
        task = await self._open()
        if task is not None and "task_update" in self._tools:
            result = await self._run(NOT_CLOSED.format(id=task["id"], state=task["state"]), result)
            task = None if trouble_of(result) else await self._open()
        if task is not None:
            self.done.terminal = "not_closed"
            self.done.error = "the agent ended without closing its task"
            await self._fail_task("not_closed", self.done.error)
        return result

    async def _open(self) -> dict[str, Any] | None:
        """The task, where it still waits for this agent: open, its own, and not split into tasks that are open."""
        task = await self._task()
        if task is None or task["state"] in _CLOSED or task["owner_agent"] != self._agent:
            return None
        if self._delivery.kind not in ("task_assigned", "handoff"):
            return None
        id = task["id"]
        waiting = await in_thread(lambda: tasks.open_children(self._board, id))
        return None if waiting else task

    async def _is_providers(self, result: Result) -> bool:
        """Whether the model's provider is to blame and not the work, which then goes back to the queue."""
        trouble = trouble_of(result)
        error = result.error or str(result.stop_reason)
        if trouble:
            self.done.terminal, self.done.trouble = str(result.stop_reason), trouble
            self.done.retry_after = (result.fault.retry_after if result.fault else None) or 0.0
        if trouble == "setup":
            await self._wait_for_setup(error)
        elif trouble == "passing":
            await self._again(self.done.terminal, error)
        return bool(trouble)

    async def _wait_for_setup(self, error: str) -> None:
        """Back to its place in the queue, and no attempt counts: the runner leaves the model alone for a while."""
        delivery = self._delivery
        self.done.error, self.done.trouble, self.done.became = error, "setup", "released"
        await self._settle(lambda: deliveries.release(self._board, delivery.id, delivery.token))

    async def _again(self, terminal: str, error: str) -> None:
        """Back to the queue with a growing delay; dead after the last attempt."""
        delivery = self._delivery
        self.done.terminal, self.done.error = terminal, error
        if delivery.attempts >= self._rules.attempts:
            await self._bury(terminal, f"given up after {delivery.attempts} attempts: {error}")
            return
        self.done.became = "queued"
        delay = max(self._rules.delay(delivery.attempts, self._office.clock.jitter()), self.done.retry_after)
        await self._settle(lambda: deliveries.retry_later(self._board, delivery.id, delivery.token, error, delay))

    async def _bury(self, terminal: str, error: str) -> None:
        delivery = self._delivery
        self.done.terminal, self.done.error, self.done.became = terminal, error, "dead"
        await self._settle(lambda: deliveries.bury(self._board, delivery.id, delivery.token, error))

    async def _finish(self, outcome: str) -> None:
        delivery = self._delivery
        await self._settle(lambda: deliveries.finish(self._board, delivery.id, delivery.token, outcome))

    async def _fail_task(self, terminal: str, reason: str) -> None:
        id = self._delivery.task_id
        if id is None or self._delivery.kind != "task_assigned":
            return
        about = {"dispatch_terminal": terminal, "reason": reason[:400], "actor": self._agent}
        await self._settle(lambda: tasks.fail(self._board, self._runner, id, reason=reason, metadata=about))

    async def _settle(self, work: Callable[[], object]) -> None:
        """A change of the board: seen through to its end, also where this dispatch is cancelled meanwhile."""
        await shielded(in_thread(work))


def trouble_of(result: Result) -> Trouble:
    """What is wrong with the provider, where the run failed for that."""
    fault: Fault | None = result.fault
    if result.success or fault is None:
        return ""
    if fault.kind in _SETUP or (fault.kind == "bad_request" and fault.status == 404):
        return "setup"
    return "passing" if fault.retryable else ""


async def shielded(work: Awaitable[Any]) -> Any:
    """Wait for `work` to its end; a cancellation that comes meanwhile is raised after it."""
    inner = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not inner.done():
        try:
            await asyncio.shield(inner)
        except asyncio.CancelledError as error:
            if inner.cancelled():
                raise
            cancelled = error
        except Exception:  # noqa: BLE001 - raised below, from the result
            break
    value = inner.result()
    if cancelled is not None:
        raise cancelled
    return value
