"""The `plan` orchestrator: a model writes a plan, and the plan is run like any workflow."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import isawaitable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from officellm import (
    AgentResult,
    ConfigError,
    Desk,
    Node,
    NodeContext,
    NodeResult,
    Plan,
    StopReason,
    Task,
    UnknownAgentError,
    hookimpl,
    read_plan,
)
from officellm_builtin.orchestrators._planner import Planner, after_failure

#: Gets the plan; says True, False, or another plan. May be async.
Approve = Callable[[Plan], Any]


class PlanSettings(BaseModel):
    """Who plans and who may work, and what happens when a step fails or a person wants to see the plan first.

    `model` is the planner's, `provider:name` (the first agent's without it). `agents` are those on offer (all, without
    it); `final_agent` answers where the plan names nobody. `on_error`: `fail` ends the run with a failed step,
    `continue` lets the others go on and tells the final agent, `replan` asks for another plan for the rest, up to
    `max_replans` times. `plan_only` makes the plan the result. `approve` gets the plan and returns True, False, or
    another plan; it may be async.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str | None = None
    agents: Sequence[str] | None = None
    final_agent: str | None = None
    max_steps: Annotated[int, Field(ge=1)] = 20
    max_concurrency: Annotated[int, Field(ge=1)] | None = None
    on_error: Literal["fail", "continue", "replan"] = "fail"
    max_replans: Annotated[int, Field(ge=1)] = 1
    instructions: str = ""
    plan_only: bool = False
    #: For Python alone: no file can hold it.
    approve: SkipJsonSchema[Approve | None] = None


class Planning:
    """Plans, asks for approval, and runs the plan; nothing is run before the plan is valid."""

    needs_entry = False

    def __init__(self, settings: PlanSettings) -> None:
        self._settings = settings

    async def work(self, task: Task, desk: Desk) -> AgentResult:
        """The final agent's result. Raises `PlanError`, and `ConfigError` before anything was sent."""
        settings = self._settings
        names = list(settings.agents if settings.agents is not None else desk.agents)
        for name in [*names, *filter(None, [settings.final_agent])]:
            if name not in desk.agents:
                raise UnknownAgentError(name, desk.agents)
        planner = Planner(desk, names, settings.final_agent, settings.model, settings.max_steps, settings.instructions)
        plan = await planner.plan()
        if settings.plan_only:
            return self._shown(plan, desk)
        left = None if desk.deadline is None else max(0.0, desk.deadline - desk.clock.monotonic())
        try:
            async with asyncio.timeout(left) as timer:
                approved = await self._approved(plan, names)
        except TimeoutError:
            if not timer.expired():
                raise
            late = "the run's time was used up before the plan was approved"
            return self._not_run(plan, desk, StopReason.TIMEOUT, late, "TimeoutError")
        if approved is None:
            return self._not_run(plan, desk, StopReason.FAILED, "the plan was not approved", "PlanRefused")
        return await self._run(task, desk, planner, approved)

    async def _run(self, task: Task, desk: Desk, planner: Planner, plan: Plan) -> AgentResult:
        """Run the plan, and another one for what is left where a step fails and that is allowed."""
        settings = self._settings
        on_error: Literal["fail", "continue"] = "continue" if settings.on_error == "continue" else "fail"
        earlier: list[Node] = []
        for replans in range(settings.max_replans + 1):
            workflow = plan.workflow(earlier=earlier, on_error=on_error, max_concurrency=settings.max_concurrency)
            desk.announce(plan.to_dict())
            ended = await workflow.work(task, desk)
            failed = next((desk.nodes[id] for id in plan.ids() if desk.nodes[id].state == "failed"), None)
            last = replans == settings.max_replans
            if settings.on_error != "replan" or last or ended.success or failed is None or ended.ends_run:
                break
            done = [node for node in desk.nodes.values() if node.state == "completed"]
            first = plan.first + len(plan.steps)
            plan = await planner.plan(after_failure(done, failed), done=[node.id for node in done], first=first)
            earlier = [_known(node) for node in done]
        return ended

    async def _approved(self, plan: Plan, names: Sequence[str]) -> Plan | None:
        """The plan to run; None where it was refused. Raises `PlanError` for an edited plan that cannot work."""
        if self._settings.approve is None:
            return plan
        said = self._settings.approve(plan)
        if isawaitable(said):
            said = await said
        if isinstance(said, bool) or said is None:
            return plan if said else None
        edited = said.to_dict() if isinstance(said, Plan) else said
        if not isinstance(edited, Mapping):
            raise ConfigError(f"approve must return True, False or a plan, not {said!r}")
        return read_plan(json.dumps(dict(edited)), names, final=self._settings.final_agent)

    def _not_run(self, plan: Plan, desk: Desk, reason: StopReason, error: str, error_type: str) -> AgentResult:
        return replace(self._shown(plan, desk), stop_reason=reason, error=error, error_type=error_type)

    def _shown(self, plan: Plan, desk: Desk) -> AgentResult:
        """The plan itself as a result: a picture and JSON, with the most that it can come to."""
        from officellm import draw  # a plan that is run needs no picture

        most = desk.worst_case(plan.agents(), beside=1)
        value = {**plan.to_dict(), "worst_case": most.to_dict()}
        picture = draw(plan.to_dict(), "mermaid")
        content = f"{picture.strip()}\n\n{json.dumps(value, indent=2, ensure_ascii=False)}"
        return AgentResult(agent="", stop_reason=StopReason.SUCCESS, content=content, output=value)


def _known(node: NodeResult) -> Node:
    """A node that stands for what an earlier plan has done: nothing is run, or paid for, again."""

    async def known(_: NodeContext) -> AgentResult:
        return AgentResult(
            agent=node.agent, stop_reason=StopReason.SUCCESS, content=node.text, output=node.value, usage=node.usage
        )

    return Node(node.id, known, description="done")


@hookimpl
def settings_model(kind: str, name: str) -> type[BaseModel]:
    return PlanSettings


@hookimpl
def make_orchestrator(name: str, settings: PlanSettings) -> Planning:
    return Planning(settings)
