"""Pictures of teams: who calls whom as a worker, who may hand over to whom, and who starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from officellm.pictures.diagram import Arrow, Box, Diagram
from officellm.pictures.workflows import of_workflow, workflow_of

if TYPE_CHECKING:
    from officellm.files.teamfile import TeamFile
    from officellm.office import Office

#: Agents that may all hand over to each other are joined by arrows up to this number; beyond it a note says so.
_EACH_TO_EACH = 3
_ENTRY = "entry:"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    name: str
    about: str
    model: str
    workers: Sequence[str]
    transfers: Sequence[str] | None
    is_entry: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Team:
    """What the picture of an office and that of a team file have in common."""

    members: Sequence[_Member]
    entry: str | None
    router: Any
    orchestrator: Any

    @property
    def hands_over(self) -> bool:
        """Whether transfers are what moves control: said so, or what a run does where nothing else is said."""
        if self.orchestrator is None:
            return self.router is not None or self.entry is None
        return _name(self.orchestrator) == "handoff"


def of_office(office: Office, title: str = "team") -> Diagram:
    """The agents of an office; its workflow where it has one."""
    members = [
        _Member(
            name=name,
            about=agent.description,
            model=agent.model if isinstance(agent.model, str) else "",
            workers=office.roster.workers(name),
            transfers=agent.transfers,
            is_entry=agent.entry,
        )
        for name, agent in office.agents.items()
    ]
    return _drawn(
        _Team(members=members, entry=office.entry, router=office.router, orchestrator=office.orchestrator), title
    )


def of_team_file(team: TeamFile, title: str = "team") -> Diagram:
    """The agents of a team file; no plugin and nothing of the user's is imported."""
    model, names = team.model, team.names
    members = [
        _Member(
            name=block.name,
            about=block.description,
            model=names.model_of(block),
            workers=names.workers(block),
            transfers=block.transfers,
            is_entry=block.entry,
        )
        for block in (member.block for member in names.members())
    ]
    router = {"name": model.router.name, **model.router.settings} if model.router else model.defaults.router
    chosen = model.orchestrator
    orchestrator: Any = model.defaults.orchestrator
    if chosen is not None and chosen.name is not None:
        orchestrator = {"name": chosen.name, **chosen.settings}
    entry = model.manager.name if model.manager is not None else None
    return _drawn(_Team(members=members, entry=entry, router=router, orchestrator=orchestrator), title)


def _drawn(team: _Team, title: str) -> Diagram:
    workflow = workflow_of(team.orchestrator)
    if workflow is not None:
        return of_workflow(workflow, title)
    diagram = Diagram(title)
    _add_entry(diagram, team)
    free = [member for member in team.members if member.transfers is None] if team.hands_over else []
    for member in team.members:
        notes = [member.model] if member.model else []
        if member in free and len(team.members) > _EACH_TO_EACH:
            notes.append("may hand over to anyone")
        is_manager = bool(member.workers)
        lines = [member.name, *(["manager"] if is_manager and member.name != "manager" else []), member.about]
        diagram.boxes.append(
            Box(
                id=member.name,
                lines=[line for line in lines if line],
                kind="manager" if is_manager else "agent",
                notes=notes,
            )
        )
        diagram.arrows += [Arrow(member.name, worker, "call") for worker in dict.fromkeys(member.workers)]
    diagram.arrows += _transfers(team)
    return diagram


def _transfers(team: _Team) -> list[Arrow]:
    """Each pair once, with two tips where both may hand over."""
    pairs: dict[tuple[str, str], bool] = {}
    for member in team.members:
        targets = member.transfers
        if targets is None and team.hands_over and len(team.members) <= _EACH_TO_EACH:
            others = [other.name for other in team.members if other.name != member.name]
            targets = [name for name in others if name not in member.workers]
        for target in targets or ():
            if (target, member.name) in pairs:
                pairs[target, member.name] = True
            else:
                pairs[member.name, target] = False
    return [Arrow(source, target, "transfer", both=both) for (source, target), both in pairs.items()]


def _add_entry(diagram: Diagram, team: _Team) -> None:
    """Where the task comes in, and whom it can reach: the manager, the routes, or whoever the planner may choose."""
    targets = {member.name: "" for member in team.members if member.is_entry}
    lines = ["task"]
    if _name(team.orchestrator) == "plan":
        lines, wanted = ["plan"], _settings(team.orchestrator).get("agents")
        names = (
            wanted if isinstance(wanted, Sequence) and not isinstance(wanted, str) else [m.name for m in team.members]
        )
        targets = {str(name): "" for name in names}
    elif team.router is not None:
        lines, settings = ["router", _name(team.router)], _settings(team.router)
        if isinstance(settings.get("routes"), Mapping):
            targets = _routes(settings)
    elif team.entry is not None:
        targets = {team.entry: ""}
    elif len(team.members) > 1:
        return
    diagram.boxes.append(Box(id=_ENTRY, lines=lines, kind="entry"))
    known = {member.name for member in team.members}
    diagram.arrows += [Arrow(_ENTRY, name, "route", label) for name, label in targets.items() if name in known]


def _routes(settings: Mapping[str, Any]) -> dict[str, str]:
    """The keywords that lead to each agent: of several agents for one, the first is the one that starts."""
    words: dict[str, list[str]] = {}
    for word, to in settings["routes"].items():
        name = to if isinstance(to, str) else next(iter(to), "") if isinstance(to, Sequence) else ""
        words.setdefault(str(name), []).append(str(word))
    default = settings.get("default")
    if isinstance(default, str):
        words.setdefault(default, []).append("else")
    return {name: ", ".join(said) for name, said in words.items()}


def _name(chosen: Any) -> str:
    if chosen is None or isinstance(chosen, str):
        return chosen or ""
    return str(chosen.get("name", "")) if isinstance(chosen, Mapping) else type(chosen).__name__


def _settings(chosen: Any) -> Mapping[str, Any]:
    return chosen if isinstance(chosen, Mapping) else {}
