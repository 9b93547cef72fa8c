"""`draw`: a picture of whatever can be drawn, in the format that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from officellm.errors import ConfigError, nearest
from officellm.pictures.diagram import Diagram
from officellm.pictures.dot import dot
from officellm.pictures.mermaid import mermaid
from officellm.pictures.runs import of_run
from officellm.pictures.svg import svg
from officellm.pictures.teams import of_office, of_team_file
from officellm.pictures.workflows import of_plan, of_workflow
from officellm.results import Result
from officellm.workflows.plan import Plan
from officellm.workflows.workflow import Workflow

if TYPE_CHECKING:
    from officellm.files.teamfile import TeamFile
    from officellm.office import Office

Format = Literal["mermaid", "dot", "svg"]
#: A mapping is the JSON form of a result or of a plan.
Drawable: TypeAlias = "Workflow | Plan | Office | TeamFile | Result | Mapping[str, Any]"

FORMATS: Mapping[str, Callable[[Diagram], str]] = {"mermaid": mermaid, "dot": dot, "svg": svg}


def draw(thing: Drawable, format: Format = "mermaid", *, title: str = "") -> str:
    """A workflow, a plan, an office or a result as text of that format. Raises `ConfigError` for anything else."""
    write = FORMATS.get(format)
    if write is None:
        raise ConfigError(f"unknown format {format!r}.{nearest(str(format), FORMATS)}")
    return write(diagram_of(thing, title))


def diagram_of(thing: Drawable, title: str = "") -> Diagram:
    """What `draw` draws. Raises `ConfigError`."""
    diagram = _diagram_of(thing)
    if title:
        diagram.title = title
    return diagram


def _diagram_of(thing: Any) -> Diagram:
    from officellm.files.teamfile import TeamFile
    from officellm.office import Office

    if isinstance(thing, Workflow):
        return of_workflow(thing)
    if isinstance(thing, Office):
        return of_office(thing)
    if isinstance(thing, TeamFile):
        return of_team_file(thing)
    if isinstance(thing, Plan) or is_plan(thing):
        return of_plan(thing)
    if isinstance(thing, Result):
        thing = thing.to_dict()
    if is_result(thing):
        # What `run --plan-only` has made: nothing was run, and the plan is the result.
        return of_plan(thing["output"]) if is_plan(thing.get("output")) and not thing.get("nodes") else of_run(thing)
    can = "A Workflow, an Office, a Plan or a Result can, or the JSON of a plan or a result."
    raise ConfigError(f"{type(thing).__name__}: this cannot be drawn. {can}")


def is_plan(value: object) -> bool:
    """Whether a JSON value is a plan as a model writes it."""
    return isinstance(value, Mapping) and "final_agent_id" in value and isinstance(value.get("steps"), list)


def is_result(value: object) -> bool:
    """Whether a JSON value is the result of a run."""
    return isinstance(value, Mapping) and "stopReason" in value and value.get("type", "result") == "result"
