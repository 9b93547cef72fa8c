"""Reads what can be drawn into a diagram: workflows, plans, teams, and how runs ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from officellm.errors import ConfigError
from officellm.pictures.diagram import Arrow, Box, BoxKind, Diagram
from officellm.results import Result
from officellm.workflows.nodes import Node
from officellm.workflows.workflow import Workflow

if TYPE_CHECKING:
    from officellm.office import Office


def diagram_of(thing: Any) -> Diagram:
    """The diagram of a `Workflow`, an `Office`, a `Result`, or the JSON form of a result or a plan.

    Raises `ConfigError` for anything else.
    """
    from officellm.office import Office

    if isinstance(thing, Workflow):
        return of_workflow(thing)
    if isinstance(thing, Office):
        return of_office(thing)
    if isinstance(thing, Result):
        return of_result(thing.to_dict())
    if isinstance(thing, Mapping) and ("stopReason" in thing or "nodes" in thing):
        return of_result(thing)
    if isinstance(thing, Mapping) and isinstance(thing.get("steps"), list) and "final_agent_id" in thing:
        return of_plan(thing)
    can = "A workflow, an office, a result or a plan can, or the JSON of one."
    raise ConfigError(f"this cannot be drawn: {type(thing).__name__}. {can}")


def of_workflow(workflow: Workflow, title: str = "workflow") -> Diagram:
    """Nodes, what they wait for, and the ways back."""
    diagram = Diagram(title)
    _add(diagram, workflow, "")
    return diagram


def _add(diagram: Diagram, workflow: Workflow, prefix: str) -> tuple[list[str], list[str]]:
    """Add the nodes of a workflow; the boxes that it begins with, and those that it ends with."""
    entries: dict[str, list[str]] = {}
    exits: dict[str, list[str]] = {}
    for node in workflow.nodes:
        id = f"{prefix}{node.id}"
        if isinstance(node.run, Workflow):
            entries[node.id], exits[node.id] = _add(diagram, node.run, f"{id}/")
            continue
        diagram.boxes.append(Box(id=id, lines=_lines(node), kind=_kind(node), group=prefix.rstrip("/")))
        entries[node.id] = exits[node.id] = [id]
    for node in workflow.nodes:
        label = "if" if node.when is not None else f"{node.need} of {len(node.after)}" if node.need is not None else ""
        for name in node.after:
            arrows = [Arrow(a, b, "after", label) for a in exits[name] for b in entries[node.id]]
            diagram.arrows.extend(arrows)
        if node.back is not None:
            told = f"until content, {node.back.rounds} rounds"
            diagram.arrows += [Arrow(a, b, "back", told) for a in exits[node.id] for b in entries[node.back.to]]
    first = [id for node in workflow.nodes if not node.after for id in entries[node.id]]
    ends = (
        [workflow.final]
        if workflow.final is not None
        else [id for id, kids in workflow.shape.children.items() if not kids]
    )
    return first, [id for name in ends for id in exits[name]]


def _lines(node: Node) -> list[str]:
    about = [node.id]
    if node.label:
        about.append(node.label)
    elif isinstance(name := getattr(node.run, "__name__", None), str) and name.isidentifier():
        about.append(f"{name}()")
    if node.each is not None:
        about.append("for each")
    if node.description:
        about.append(node.description)
    return about


def _kind(node: Node) -> BoxKind:
    if node.label:
        return "agent"
    return "workflow" if callable(getattr(node.run, "work", None)) else "function"


def of_plan(plan: Mapping[str, Any]) -> Diagram:
    """A plan as a model wrote it: steps, what they depend on, and who answers."""
    steps = [step for step in plan["steps"] if isinstance(step, Mapping)]
    diagram = Diagram("plan")
    for number, step in enumerate(steps):
        lines = [f"step_{number}", str(step.get("agent_id", "")), str(step.get("description", ""))]
        diagram.boxes.append(Box(id=f"step_{number}", lines=[line for line in lines if line]))
    diagram.boxes.append(Box(id="final", lines=["final", str(plan.get("final_agent_id", ""))]))
    known = {box.id for box in diagram.boxes}
    for number, step in enumerate(steps):
        needs = [str(one) for one in step.get("depends_on") or ()]
        diagram.arrows += [Arrow(one, f"step_{number}") for one in needs if one in known]
        diagram.arrows.append(Arrow(f"step_{number}", "final"))
    return diagram


def of_office(office: Office) -> Diagram:
    """Agents: who calls whom as a worker, who may hand over to whom, and the routes of a keyword router."""
    diagram = Diagram("team")
    workers = {name: office.roster.workers(name) for name in office.agents}
    called = {worker for names in workers.values() for worker in names}
    for name, agent in office.agents.items():
        lines = [name, *([agent.description] if agent.description else [])]
        kind: BoxKind = "manager" if name == office.entry or workers[name] else "agent"
        diagram.boxes.append(Box(id=name, lines=lines, kind=kind))
    for name, agent in office.agents.items():
        diagram.arrows += [Arrow(name, worker, "call", "calls") for worker in workers[name]]
        targets = agent.transfers
        if targets is None:
            targets = [other for other in office.agents if other not in (name, *workers[name]) and other not in called]
            targets = targets if name not in called else []
        diagram.arrows += [Arrow(name, target, "transfer", "hands over") for target in targets]
    _add_routes(diagram, office)
    return diagram


def _add_routes(diagram: Diagram, office: Office) -> None:
    router = office.router
    name = router if isinstance(router, str) else router.get("name") if isinstance(router, Mapping) else None
    if name is None:
        return
    routes = router.get("routes") if isinstance(router, Mapping) else None
    if not isinstance(routes, Mapping):
        targets = {agent.name: "" for agent in office.agents.values() if agent.entry}
    else:
        first = {word: to if isinstance(to, str) else next(iter(to), "") for word, to in routes.items()}
        targets = {}
        for word, to in first.items():
            targets[to] = f"{targets[to]}, {word}" if to in targets else str(word)
        default = router.get("default") if isinstance(router, Mapping) else None
        if isinstance(default, str):
            targets.setdefault(default, "else")
    diagram.boxes.insert(0, Box(id="router:", lines=[f"router {name}"], kind="function"))
    known = {box.id for box in diagram.boxes}
    diagram.arrows += [Arrow("router:", to, "route", word) for to, word in targets.items() if to in known]


def of_result(result: Mapping[str, Any]) -> Diagram:
    """How a run went: its nodes with states, times and cost, or the chain of its agents."""
    nodes = result.get("nodes")
    diagram = Diagram(f"run {result.get('runId', '')}: {result.get('stopReason', '')}")
    if not isinstance(nodes, Mapping) or not nodes:
        _add_chain(diagram, result)
        return diagram
    outer = {id for id in nodes if any(str(other).startswith(f"{id}/") for other in nodes)}
    for id, node in nodes.items():
        if id not in outer:
            group = id.rpartition("/")[0]
            diagram.boxes.append(Box(id=id, lines=_told(id, node), state=str(node.get("state", "")), group=group))
    for id, node in nodes.items():
        prefix = id.rpartition("/")[0]
        for name in node.get("after") or ():
            source = f"{prefix}/{name}" if prefix else str(name)
            if source in nodes:
                ends = [(a, b) for a in _inside(source, nodes, last=True) for b in _inside(id, nodes, last=False)]
                diagram.arrows += [Arrow(a, b) for a, b in ends]
    return diagram


def _inside(id: str, nodes: Mapping[str, Any], *, last: bool) -> list[str]:
    """The boxes that a node stands for: itself, or those that the workflow inside begins or ends with."""
    inner = [other for other in nodes if str(other).startswith(f"{id}/") and "/" not in str(other)[len(id) + 1 :]]
    if not inner:
        return [id]
    waited = {f"{id}/{name}" for other in inner for name in nodes[other].get("after") or ()}
    chosen = [one for one in inner if (one not in waited if last else not nodes[one].get("after"))]
    return [box for one in chosen for box in _inside(one, nodes, last=last)]


def _told(id: str, node: Mapping[str, Any]) -> list[str]:
    usage = node.get("usage") or {}
    lines = [id.rpartition("/")[2], str(node.get("agent", "")), str(node.get("state", ""))]
    about = []
    if node.get("rounds"):
        about.append(f"{node.get('seconds', 0):g} s")
    if node.get("rounds", 0) > 1:
        about.append(f"{node['rounds']} rounds")
    if usage.get("totalTokens"):
        about.append(f"{usage['totalTokens']:,} tokens")
    if usage.get("costUsd"):
        about.append(f"${usage['costUsd']:.4f}")
    return [line for line in (*lines, ", ".join(about), str(node.get("error") or "")) if line]


def _add_chain(diagram: Diagram, result: Mapping[str, Any]) -> None:
    """The agents of a run, one after the other, with why each was chosen; workers under who called them."""
    chain: Sequence[Mapping[str, Any]] = result.get("chain") or []
    by_agent = result.get("byAgent") or {}
    for number, hop in enumerate(chain):
        name = str(hop.get("agent", ""))
        tokens = (by_agent.get(name) or {}).get("totalTokens")
        state = str(result.get("stopReason", "")) if number == len(chain) - 1 else ""
        lines = [name, *([f"{tokens:,} tokens"] if tokens else []), *([state] if state else [])]
        known = {"success": "completed", "cancelled": "cancelled"}
        diagram.boxes.append(Box(id=f"hop{number}", lines=lines, state=known.get(state, "failed") if state else ""))
        if number:
            diagram.arrows.append(Arrow(f"hop{number - 1}", f"hop{number}", "transfer", str(hop.get("reason") or "")))
    names = {str(hop.get("agent", "")) for hop in chain}
    for name, usage in by_agent.items():
        if name not in names and chain:
            lines = [str(name), f"{usage.get('totalTokens', 0):,} tokens"]
            diagram.boxes.append(Box(id=f"other:{name}", lines=lines))
            diagram.arrows.append(Arrow(f"hop{len(chain) - 1}", f"other:{name}", "call", ""))
