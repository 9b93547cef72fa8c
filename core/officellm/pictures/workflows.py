"""Pictures of workflows, and of plans, which are workflows that a model wrote."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from typing import Any

from officellm.agents import Agent
from officellm.errors import ConfigError, PlanError
from officellm.pictures.diagram import Arrow, Box, BoxKind, Diagram
from officellm.pictures.words import called, condition_words
from officellm.workflows.nodes import ACCEPT, Node, agent_of, is_orchestrator
from officellm.workflows.plan import FINAL, Plan, read_plan
from officellm.workflows.workflow import Workflow


def of_workflow(workflow: Workflow, title: str = "workflow") -> Diagram:
    """Nodes, what they wait for, conditions and the ways back; a workflow inside is a frame."""
    diagram = Diagram(title)
    pending = deque([(workflow, "")])
    while pending:
        flow, frame = pending.popleft()
        ids = {id: f"{len(diagram.boxes) + number}" for number, id in enumerate(flow.shape.nodes)}
        several = sum(not kids for kids in flow.shape.children.values()) > 1
        for node in flow.nodes:
            notes = [*_notes(node), *(["final"] if several and node.id == flow.final else [])]
            box = Box(id=ids[node.id], lines=_lines(node), kind=_kind(node), notes=notes, inside=frame)
            diagram.boxes.append(box)
            diagram.arrows += _arrows(node, ids)
            if isinstance(node.run, Workflow):
                pending.append((node.run, box.id))
    return diagram


def workflow_of(orchestrator: Any) -> Workflow | None:
    """The workflow that an orchestrator, or its name with settings, stands for; None where it is something else.

    Raises `ConfigError` for settings that do not fit.
    """
    if isinstance(orchestrator, Workflow):
        return orchestrator
    if not isinstance(orchestrator, Mapping) or orchestrator.get("name") != "dag":
        return None
    from pydantic import ValidationError

    from officellm.misfits import misfits
    from officellm.workflows.spec import WorkflowSpec

    try:
        spec = WorkflowSpec.model_validate({key: value for key, value in orchestrator.items() if key != "name"})
    except ValidationError as error:
        raise ConfigError(f"orchestrator 'dag': {misfits(error, WorkflowSpec)}") from None
    return spec.workflow()


def of_plan(plan: Plan | Mapping[str, Any], title: str = "plan") -> Diagram:
    """Steps, what they depend on, and who answers.

    The one who answers reads every result; the arrows to it are from the steps that no other one waits for.
    Raises `ConfigError` for a plan that cannot work.
    """
    if not isinstance(plan, Plan):
        plan = _read(plan)
    workflow = plan.workflow()
    diagram = of_workflow(workflow, title)
    waited = {id for id, kids in workflow.shape.children.items() if len(kids) > 1}
    passed = {box.id for box in diagram.boxes if box.lines[0] in waited}
    (final,) = [box.id for box in diagram.boxes if box.lines[0] == FINAL]
    diagram.arrows = [one for one in diagram.arrows if one.target != final or one.source not in passed]
    return diagram


def _read(plan: Mapping[str, Any]) -> Plan:
    steps = plan.get("steps")
    named = [step.get("agent_id") for step in steps if isinstance(step, Mapping)] if isinstance(steps, list) else []
    agents = [name for name in [*named, plan.get("final_agent_id")] if isinstance(name, str) and name]
    try:
        return read_plan(json.dumps({"steps": steps, "final_agent_id": plan.get("final_agent_id")}), agents)
    except PlanError as error:
        raise ConfigError(str(error)) from None


def _arrows(node: Node, ids: Mapping[str, str]) -> list[Arrow]:
    condition = "" if node.when is None else f"if {condition_words(node.when)}".strip()
    arrows = [Arrow(ids[id], ids[node.id], "condition" if condition else "after", condition) for id in node.after]
    if node.back is not None:
        until = "accepted" if node.back.until == ACCEPT else condition_words(node.back.until) or "content"
        arrows.append(Arrow(ids[node.id], ids[node.back.to], "back", f"until {until}, {node.back.rounds} rounds"))
    return arrows


def _lines(node: Node) -> list[str]:
    who = _who(node.run)
    return [line for line in (node.id, who if who != node.id else "", node.description) if line]


def _who(run: object) -> str:
    name = agent_of(run)
    if name is not None or isinstance(run, Workflow):
        return name or ""
    return type(run).__name__ if is_orchestrator(run) else called(run)


def _kind(node: Node) -> BoxKind:
    if isinstance(node.run, Agent) and node.run.workers:
        return "manager"
    if node.label:
        return "agent"
    return "workflow" if is_orchestrator(node.run) else "function"


def _notes(node: Node) -> list[str]:
    """What is special about how the node runs."""
    notes = []
    if node.when is not None and not node.after:
        notes.append(f"if {condition_words(node.when)}".strip())
    if node.need is not None and node.need < len(node.after):
        notes.append(f"after {node.need} of {len(node.after)}")
    if node.each is not None:
        notes.append(f"for each of {node.each}" if isinstance(node.each, str) else "for each item")
    if node.retry:
        notes.append(f"{node.retry} {'retry' if node.retry == 1 else 'retries'}")
    if node.fallback is not None:
        notes.append(f"else {_who(node.fallback) or 'another workflow'}")
    return notes
