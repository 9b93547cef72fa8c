"""Runs a workflow: one loop starts what is ready and decides what follows, each time something has ended."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from officellm.messages import Usage
from officellm.results import AgentResult, StopReason
from officellm.workflows.asked import asked
from officellm.workflows.nodes import ACCEPT, Node, NodeContext, NodeResult, NodeState
from officellm.workflows.progress import Progress
from officellm.workflows.work import NodeWork, failure_of, value_of

if TYPE_CHECKING:
    from officellm.protocols import Desk
    from officellm.tasks import Task
    from officellm.workflows.workflow import Workflow

_Working = asyncio.Task[AgentResult]


class WorkflowRun:
    """One run of a workflow; the definition is never changed."""

    def __init__(self, workflow: Workflow, task: Task, desk: Desk) -> None:
        self._workflow = workflow
        self._task = task
        self._desk = desk
        self._nodes = workflow.shape.nodes
        self._progress = Progress(workflow.shape)
        self._results = self._progress.results
        self._ready = deque(self._progress.begin())
        self._running: dict[str, tuple[_Working, NodeWork, float]] = {}
        self._ended: deque[str] = deque()
        #: Tasks that were cancelled as nobody waits for them any more.
        self._leaving: set[_Working] = set()
        self._returned: dict[str, tuple[NodeResult, ...]] = {}
        self._wake: asyncio.Future[None] | None = None
        #: The node that ended the workflow before its end.
        self._stopper: str | None = None

    async def go(self) -> AgentResult:
        """The final node's result. Raises cancellation, and `ConfigError` where nothing was sent."""
        try:
            self._start()
            while self._running:
                await self._something_ended()
                while self._ended and self._stopper is None:
                    self._settle(self._ended.popleft())
                if self._stopper is not None:
                    break
                self._start()
        finally:
            await self._stop()
        return self._outcome()

    def _start(self) -> None:
        """Start what is ready, as far as there is room."""
        most = self._workflow.max_concurrency
        while self._ready and (most is None or len(self._running) < most):
            id = self._ready.popleft()
            result = self._results[id]
            if result.state is not NodeState.PENDING:
                continue  # cancelled by a quorum while it waited for room
            node = self._nodes[id]
            result.rounds += 1
            context = self._context(node, result.rounds)
            if node.when is not None and not self._allowed(node, context):
                continue
            work = NodeWork(self._workflow, node, self._desk, context, self._returned.get(id, ()))
            result.state = NodeState.RUNNING
            self._desk.report(result)
            task = asyncio.create_task(work.go())
            self._running[id] = task, work, self._desk.clock.monotonic()
            task.add_done_callback(lambda task, id=id: self._done(id, task))  # type: ignore[misc]

    def _done(self, id: str, task: _Working) -> None:
        if task in self._leaving:
            return
        self._ended.append(id)
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def _something_ended(self) -> None:
        if not self._ended:
            self._wake = asyncio.get_running_loop().create_future()
            await self._wake
            self._wake = None

    def _context(self, node: Node, round: int) -> NodeContext:
        outcomes = {id: self._results[id] for id in node.after}
        return NodeContext(
            id=node.id,
            task=self._task,
            input=self._desk.prompt,
            results={id: one.value for id, one in outcomes.items() if one.state is NodeState.COMPLETED},
            outcomes=outcomes,
            round=round,
            deps=self._desk.deps,
        )

    def _allowed(self, node: Node, context: NodeContext) -> bool:
        """Ask the node's condition; a node that it refuses, or where it fails, is at its end."""
        assert node.when is not None
        result = self._results[node.id]
        try:
            if asked("when", node.when, context):
                return True
        except Exception as error:  # noqa: BLE001 - the user's function: its failure is the node's
            self._take(result, failure_of(error))
        else:
            self._progress.skip(node.id)
        result.rounds -= 1
        self._close(node.id)
        return False

    def _settle(self, id: str) -> None:
        """A node's task has ended: keep its result, and decide what follows."""
        task, work, started = self._running.pop(id)
        result = self._results[id]
        ended = task.result()  # raises a `ConfigError`, and a defect of ours
        self._count(result, work, started)
        self._take(result, ended)
        content = self._nodes[id].back is None or id in self._progress.left or result.state is not NodeState.COMPLETED
        if content or not self._sent_back(id, work.accepted):
            self._close(id)

    def _count(self, result: NodeResult, work: NodeWork, started: float) -> None:
        """Add what one round of a node took."""
        result.seconds += self._desk.clock.monotonic() - started
        result.attempts += work.attempts
        result.inside = work.inside
        if work.usage.requests:
            result.usage = result.usage + work.usage

    def _take(self, result: NodeResult, ended: AgentResult) -> None:
        result.ended = ended
        result.text = ended.content
        result.agent = ended.agent or result.agent
        if ended.success:
            result.state, result.value = NodeState.COMPLETED, value_of(ended)
        else:
            result.state, result.error, result.error_type = NodeState.FAILED, ended.error, ended.error_type

    def _sent_back(self, id: str, accepted: bool) -> bool:
        """Whether the work of this node goes round again."""
        node, result = self._nodes[id], self._results[id]
        back = node.back
        assert back is not None
        if back.until == ACCEPT:
            content = accepted
        else:
            context = self._context(node, result.rounds)
            known = replace(
                context,
                results={**context.results, id: result.value},
                outcomes={**context.outcomes, id: result},
            )
            try:
                content = bool(asked("until", back.until, known))
            except Exception as error:  # noqa: BLE001 - the user's function: its failure is the node's
                self._take(result, replace(failure_of(error), content=result.text))
                return False
        if content:
            return False
        if result.rounds >= back.rounds:
            if back.on_exhausted == "fail":
                said = f"not accepted after {result.rounds} round{'s' if result.rounds > 1 else ''}"
                result.state, result.error, result.error_type = NodeState.FAILED, said, "NotAccepted"
            return False
        self._desk.report(result)
        drafts = [self._results[name] for name in dict.fromkeys((back.to, id))]
        self._returned[back.to] = tuple(replace(one) for one in drafts)
        self._rewind(id)
        return True

    def _rewind(self, id: str) -> None:
        """Begin the region of a way back anew; what a quorum left at work there must not end in the next round."""
        region = self._workflow.shape.regions[id]
        for name in region:
            if name in self._running:
                self._drop(name)
        self._ready = deque(name for name in self._ready if name not in region)
        self._ready.extend(self._progress.rewind(id))

    def _close(self, id: str) -> None:
        """A node is at its end: tell, and see what follows."""
        result = self._results[id]
        self._desk.report(result)
        if result.state is NodeState.FAILED:
            fatal = result.ended is not None and result.ended.ends_run
            if fatal or self._workflow.fail_fast or self._nodes[id].on_error == "fail_fast":
                self._stopper = id
                return
        moves = self._progress.end(id)
        for name in moves.skipped:
            self._desk.report(self._results[name])
        for name in moves.surplus:
            self._leave(name)
        self._ready.extend(moves.ready)

    def _leave(self, id: str) -> None:
        """Stop a node that nobody waits for any more; one that has ended in the same moment keeps its own end."""
        if id in self._ended:
            return
        result = self._results[id]
        result.state = NodeState.CANCELLED
        result.error = "enough others had completed"
        if id in self._running:
            self._drop(id)
        self._desk.report(result)

    def _drop(self, id: str) -> None:
        """Cancel the task of a node, whatever it still says."""
        task, work, started = self._running.pop(id)
        self._leaving.add(task)
        task.cancel()
        if id in self._ended:
            self._ended.remove(id)
        self._count(self._results[id], work, started)

    async def _stop(self) -> None:
        """Nothing is left at work, and every node has an end."""
        self._keep()
        left = {task for task, _, _ in self._running.values()}
        for task in left:
            task.cancel()
        left |= self._leaving
        cancelled: asyncio.CancelledError | None = None
        while any(not task.done() for task in left):
            try:
                await asyncio.wait(left)
            except asyncio.CancelledError as error:  # again, while we wait: the nodes still have to end first
                cancelled = error
        for task in left:
            if not task.cancelled():
                task.exception()  # seen: an error in the last moment is not a second outcome
        for id, result in self._results.items():
            if not result.state.ended:
                result.state = NodeState.CANCELLED
                result.error = f"{self._stopper} failed" if self._stopper is not None else "the run was cancelled"
                if id in self._running:
                    self._count(result, *self._running[id][1:])
                self._desk.report(result)
        self._running.clear()
        if cancelled is not None:
            raise cancelled

    def _keep(self) -> None:
        """Keep the results of nodes that have ended, and were not looked at before the workflow did."""
        for id in self._ended:
            task, work, started = self._running[id]
            if task.cancelled() or task.exception() is not None:
                continue
            del self._running[id]
            self._count(self._results[id], work, started)
            self._take(self._results[id], task.result())
            self._desk.report(self._results[id])

    def _outcome(self) -> AgentResult:
        final = self._workflow.final
        if self._stopper is not None:
            return self._failure(self._results[self._stopper], f"node {self._stopper!r} failed")
        if final is None:
            for result in self._results.values():
                if result.state is NodeState.FAILED and self._nodes[result.id].on_error != "continue":
                    return self._failure(result, f"node {result.id!r} failed")
            return AgentResult(agent="", stop_reason=StopReason.SUCCESS, usage=self._usage())
        result = self._results[final]
        if result.state is NodeState.COMPLETED and result.ended is not None:
            return replace(result.ended, content=result.text, usage=self._usage())
        return self._failure(result, f"the final node {final!r} {_verb(result)}")

    def _usage(self) -> Usage:
        return sum((result.usage for result in self._results.values() if result.usage.requests), Usage())

    def _failure(self, result: NodeResult, what: str) -> AgentResult:
        """The run's failure: it ends for the reason for which the node that is to blame ended."""
        blamed = self._results[result.cause] if result.cause else result
        ended = blamed.ended
        reason = StopReason.FAILED if ended is None or ended.success else ended.stop_reason
        return AgentResult(
            agent=blamed.agent,
            stop_reason=reason,
            content=blamed.text,
            error=f"{what}: {result.error}" if result.error else what,
            error_type=result.error_type or "NodeFailed",
            usage=self._usage(),
            messages=() if ended is None else ended.messages,
            ends_run=ended is not None and ended.ends_run,
        )


def _verb(result: NodeResult) -> str:
    if result.state is NodeState.SKIPPED and not result.cause:
        return "was skipped: its condition did not hold, or nothing that it waited for ran"
    return "failed" if result.state is NodeState.FAILED else f"was {result.state}"
