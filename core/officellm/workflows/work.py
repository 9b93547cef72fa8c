"""One run of one node: attempts, a fallback, each item of a list. It ends in an agent's result, whatever happened."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from officellm.apart import apart
from officellm.codec import loads
from officellm.errors import ConfigError
from officellm.messages import Usage
from officellm.results import AgentResult, StopReason
from officellm.text import said_by, to_text
from officellm.threads import in_thread
from officellm.tools import Tool
from officellm.workflows.asked import asked
from officellm.workflows.inputs import MAX_CHARS, composed, value_at
from officellm.workflows.nodes import (
    ACCEPT,
    Node,
    NodeContext,
    NodeResult,
    NodeState,
    Runnable,
    agent_of,
    is_orchestrator,
)

if TYPE_CHECKING:
    from officellm.protocols import Desk
    from officellm.workflows.workflow import Workflow

log = logging.getLogger("officellm")

#: Failures that another attempt cannot mend: it would meet the same request, or a budget that is spent.
_FOR_GOOD = (
    StopReason.PROVIDER_ERROR_4XX,
    StopReason.REFUSED,
    StopReason.CONTEXT_OVERFLOW,
    StopReason.REQUEST_BUDGET,
    StopReason.TOOL_CALL_BUDGET,
    StopReason.TOKEN_BUDGET,
    StopReason.COST_BUDGET,
    StopReason.MAX_TRANSFERS,
    StopReason.CANCELLED,
    StopReason.PAUSED,
)
#: Seconds before the first retry; doubled for each further one.
BACKOFF = 0.5


class NodeWork:
    """Works at one node, in one round."""

    def __init__(
        self,
        workflow: Workflow,
        node: Node,
        desk: Desk,
        context: NodeContext,
        returned: Sequence[NodeResult] = (),
    ) -> None:
        self._workflow = workflow
        self._node = node
        self._desk = desk
        self._context = context
        self._returned = returned
        self._final = workflow.final == node.id
        self.attempts = 0
        self.usage = Usage()
        self.accepted = False
        #: Whether the last attempt failed by a node of a workflow inside.
        self.inside = False

    async def go(self) -> AgentResult:
        """How it ended. Raises cancellation, and `ConfigError` where nothing was sent."""
        try:
            if self._node.each is not None:
                return await self._each_item()
            return await self._attempts(self._context, "")
        except ConfigError:
            raise
        except Exception as error:  # noqa: BLE001 - the node's own functions: their failure is the node's
            return failure_of(error)

    async def _attempts(self, context: NodeContext, item: str) -> AgentResult:
        node = self._node
        base = f"{node.id}{item}" if context.round == 1 else f"{node.id}#{context.round}{item}"
        prompt = composed(self._workflow, node, context, self._returned)
        number = 0
        while True:
            key = base if number == 0 else f"{base}~{number + 1}"
            ended = await self._counted(node.run, key, prompt, context)
            pause = BACKOFF * 2**number
            for_good = ended.success or ended.ends_run or ended.stop_reason in _FOR_GOOD
            if for_good or number >= node.retry or not self._time_for(pause):
                break
            await self._desk.clock.sleep(pause)
            number += 1
        if node.fallback is not None and not ended.success and not ended.ends_run:
            return await self._counted(node.fallback, f"{base}~fallback", prompt, context)
        return ended

    async def _counted(self, run: Runnable, key: str, prompt: str, context: NodeContext) -> AgentResult:
        self.attempts += 1
        self.inside = False
        if self._node.each is None:
            self.accepted = False  # said in an attempt that failed, it was of other work
        ended = await self._once(run, key, prompt, context)
        if ended.usage.requests:
            self.usage = self.usage + ended.usage
        return ended

    async def _once(self, run: Runnable, key: str, prompt: str, context: NodeContext) -> AgentResult:
        node, desk = self._node, self._desk
        name = agent_of(run)
        if name is not None:
            return await desk.call(
                name,
                prompt,
                key=key,
                history=() if node.after else desk.history,
                final=self._final,
                output_type=node.output_type,
                tools=self._tools(),
                max_seconds=node.timeout,
            )
        seconds = self._seconds()
        try:
            async with asyncio.timeout(seconds) as timer:
                if is_orchestrator(run):
                    inner = desk.under(key, prompt, final=self._final)
                    ended = await run.work(inner.task, inner)  # type: ignore[union-attr]
                    if not ended.success:
                        self.inside = any(one.state is NodeState.FAILED for one in inner.nodes.values())
                    return ended
                return await _call(run, replace(context, input=prompt))
        except TimeoutError as error:
            if not timer.expired():
                return failure_of(error)
            late = f"node {node.id!r} did not end within {seconds:g} s"
            return AgentResult(agent="", stop_reason=StopReason.TIMEOUT, error=late, error_type="TimeoutError")

    def _seconds(self) -> float | None:
        """What is left for one attempt: the node's own time, and never more than the run's."""
        desk, own = self._desk, self._node.timeout
        if desk.deadline is None:
            return own
        left = max(0.0, desk.deadline - desk.clock.monotonic())
        return left if own is None else min(own, left)

    def _time_for(self, pause: float) -> bool:
        """Whether the run goes on for longer than a pause."""
        desk = self._desk
        return desk.deadline is None or desk.clock.monotonic() + pause < desk.deadline

    def _tools(self) -> Sequence[Tool]:
        if self._node.back is None or self._node.back.until != ACCEPT:
            return ()

        def accept() -> str:
            """Say that the work is good as it is and need not be done again. Then answer as usual."""
            self.accepted = True
            return "Accepted."

        return (Tool(accept),)

    async def _each_item(self) -> AgentResult:
        """Every item, some at once; the value is the list of theirs, in the order of the items."""
        node, context = self._node, self._context
        items = _items(node, context)
        gate = asyncio.Semaphore(node.max_parallel)
        wrong: list[ConfigError] = []

        async def one(index: int) -> AgentResult:
            async with gate:
                try:
                    return await self._attempts(replace(context, item=items[index]), f"[{index}]")
                except Exception as error:  # noqa: BLE001 - as in `go`; raised here, it would cancel the other items
                    if isinstance(error, ConfigError):
                        wrong.append(error)
                    return failure_of(error)

        async with asyncio.TaskGroup() as group:
            working = [group.create_task(one(index)) for index in range(len(items))]
        if wrong:
            raise wrong[0]
        ended = [task.result() for task in working]
        failed = next((index for index, one in enumerate(ended) if not one.success), None)
        if failed is not None and (node.on_error != "continue" or ended[failed].ends_run):
            bad = ended[failed]
            return replace(bad, error=f"item {failed}: {bad.error}", content=bad.content)
        values = [value_of(one) if one.success else None for one in ended]
        return AgentResult(agent="", stop_reason=StopReason.SUCCESS, content=to_text(values, MAX_CHARS), output=values)


def value_of(ended: AgentResult) -> Any:
    """What other nodes get of a result: its typed output, or its text."""
    return ended.content if ended.output is None else ended.output


def _items(node: Node, context: NodeContext) -> Sequence[Any]:
    """Raises `ValueError` for what is no list."""
    value: Any = node.each
    if callable(value):
        value = asked("each", value, context)
    elif isinstance(value, str):
        id, key = node.source
        value = context.results.get(id)
        value = value_at(value, key) if key else value
    if isinstance(value, str):
        try:
            value = loads(value)
        except ValueError:
            raise ValueError(f"each needs a list, and the text of {node.each!r} is no JSON") from None
    if isinstance(value, (Mapping, str, bytes)) or not hasattr(value, "__iter__"):
        raise ValueError(f"each needs a list, not a {type(value).__name__}")
    return list(value)


async def _call(function: Any, context: NodeContext) -> AgentResult:
    """A function's value as a result. Whatever it raises, but this task's cancellation, is its failure."""
    task = asyncio.current_task()
    cancels = task.cancelling() if task is not None else 0
    try:
        target = function if inspect.isroutine(function) else type(function).__call__
        value = function(context) if inspect.iscoroutinefunction(target) else await in_thread(lambda: function(context))
        if inspect.isawaitable(value):
            value = await apart(value)
    except TimeoutError:
        raise
    except BaseException as error:
        if isinstance(error, GeneratorExit) or (task is not None and task.cancelling() > cancels):
            raise
        log.debug("a workflow function failed", exc_info=error)
        return failure_of(error)
    if isinstance(value, AgentResult):
        return value
    text = "" if value is None or (isinstance(value, str) and not value) else to_text(value, MAX_CHARS)
    output = None if isinstance(value, str) else value
    return AgentResult(agent="", stop_reason=StopReason.SUCCESS, content=text, output=output)


def failure_of(error: BaseException) -> AgentResult:
    """An exception as a result."""
    name = type(error).__name__
    said = said_by(error)
    return AgentResult(
        agent="", stop_reason=StopReason.FAILED, error=f"{name}: {said}" if said else name, error_type=name
    )
