"""`officellm graph`: a team, a workflow, a plan or a finished run as a picture."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from officellm.cli import say
from officellm.cli.output import Outlet
from officellm.errors import ConfigError

if TYPE_CHECKING:
    from officellm.pictures.drawing import Drawable

STDIN = "-"
_BY_NAME = {".svg": "svg", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid"}
_LINES = (".jsonl", ".ndjson")
#: The JSON of a run holds everything that its agents wrote.
_MAX_BYTES = 64 * 1024 * 1024
_CAN_BE = (
    "a team file (agents), a task file with steps, a plan (steps and final_agent_id) or the JSON of a finished run "
    "(`officellm run --json`)"
)


@click.command()
@click.argument("file")
@click.option("--format", "-f", "wanted", type=click.Choice(["mermaid", "dot", "svg"]), help="mermaid, without it.")
@click.option("--output", "-o", metavar="PATH", help="Write to a file; .mmd, .dot, .gv or .svg says the format.")
def graph(file: str, wanted: str | None, output: str | None) -> None:
    """Draw FILE: a team file, a task file with steps, a plan as JSON, or the JSON of a finished run (`-`: stdin).

    Which it is, is seen from what it holds. `officellm run --json task.yaml | officellm graph -` draws a run with
    states, times and cost.
    """
    from officellm.pictures.drawing import FORMATS, diagram_of
    from officellm.pictures.mermaid import MOST_ARROWS

    thing, title = _read(file)
    diagram = diagram_of(thing, title)
    format = wanted or _BY_NAME.get(Path(output or "").suffix.lower(), "mermaid")
    if format == "mermaid" and len(diagram.arrows) > MOST_ARROWS:
        count = len(diagram.arrows)
        say(f"warning: Mermaid draws {MOST_ARROWS} arrows at most, and there are {count}: try --format svg")
    text = FORMATS[format](diagram)
    if output is None:
        Outlet().text(text)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot be written: {getattr(error, 'strerror', None) or error}", place=output) from None


def _read(file: str) -> tuple[Drawable, str]:
    """What the file holds, and a title where it has one. Raises `ConfigError`."""
    from officellm.pictures.drawing import is_plan, is_result

    shown = "<stdin>" if file == STDIN else file
    text, values = _values(file, shown)
    results = [value for value in values if is_result(value)]
    if len(results) > 1:
        said = f"there are {len(results)} results in it, and one is drawn: give one line of it to `officellm graph -`"
        raise ConfigError(said, place=shown)
    if results:
        return results[0], ""
    value: Any = values[0] if len(values) == 1 else values
    if is_plan(value):
        return value, ""
    if isinstance(value, Mapping) and ("agents" in value or "manager" in value):
        return _team(file)
    if isinstance(value, Mapping) and value.get("type") in ("run.start", "run.end"):
        raise ConfigError("these are the events of a run, without its result", place=shown)
    tasks = value if isinstance(value, list) else [value]
    if any(isinstance(one, Mapping) and ("title" in one or "steps" in one) for one in tasks):
        return _task(file, text)
    raise ConfigError(f"there is nothing to draw in it: give {_CAN_BE}", place=shown)


def _values(file: str, shown: str) -> tuple[str, Sequence[Any]]:
    """The text, and what it holds: one value, or one for each line. Raises `ConfigError`."""
    from officellm.files.documents import json_document, parse, read_text

    path = Path(file)
    text = sys.stdin.read() if file == STDIN else read_text(path, limit=_MAX_BYTES)
    suffix = ".json" if file == STDIN else path.suffix.lower()
    lines = [line for line in text.split("\n") if line.strip()]
    if suffix in _LINES or (suffix == ".json" and len(lines) > 1 and _is_object(lines[0])):
        return text, [json_document(line, shown, first_line=at).value for at, line in enumerate(lines, start=1)]
    return text, [parse(text, file=shown, suffix=suffix).value]


def _is_object(line: str) -> bool:
    from officellm.codec import loads

    try:
        return isinstance(loads(line), Mapping)
    except (ValueError, RecursionError):
        return False


def _team(file: str) -> tuple[Drawable, str]:
    if file == STDIN:
        raise ConfigError("this is a team, which is read from a file", place="<stdin>")
    from officellm.files.teamfile import load_team

    return load_team(file), Path(file).name


def _task(file: str, text: str) -> tuple[Drawable, str]:
    from officellm.files.taskfile import load_tasks
    from officellm.pictures.workflows import workflow_of

    tasks = load_tasks(file, text if file == STDIN else None).tasks
    if len(tasks) > 1:
        place = "<stdin>" if file == STDIN else file
        raise ConfigError(f"there are {len(tasks)} tasks in it, and one is drawn", place=place)
    task = tasks[0]
    try:
        workflow = workflow_of(task.orchestration())
    except ConfigError as error:
        raise ConfigError(str(error), place=task.place) from None
    if workflow is None:
        team = f": draw its team, {task.team}" if task.team is not None else ""
        raise ConfigError(f"this task has no steps to draw{team}", place=task.place)
    return workflow, task.task.title
