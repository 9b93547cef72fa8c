"""`officellm graph`: a team, a workflow, a plan or a finished run as a picture."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from officellm.cli.output import Outlet
from officellm.errors import ConfigError


@click.command()
@click.argument("file")
@click.option("--format", "-f", type=click.Choice(["mermaid", "dot", "svg"]), default="mermaid", show_default=True)
@click.option("--output", "-o", metavar="PATH", help="Write to a file instead of stdout; .svg and .dot say the format.")
@click.pass_context
def graph(context: click.Context, file: str, format: str, output: str | None) -> None:
    """Draw FILE: a team file, a task file with steps, a plan as JSON, or the JSON of a finished run (`-`: stdin)."""
    from officellm.pictures.drawing import FORMATS
    from officellm.pictures.sources import diagram_of

    by_name = {".svg": "svg", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid"}
    if output is not None and context.get_parameter_source("format") is click.core.ParameterSource.DEFAULT:
        format = by_name.get(Path(output).suffix, format)
    text = FORMATS[format](diagram_of(_read(file)))
    if output is None:
        Outlet().text(text.rstrip("\n"))
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror or error}", place=output) from None


def _read(file: str) -> Any:
    """What the file holds: a workflow, an office, a plan or a result. Raises `ConfigError`."""
    from officellm.files.documents import parse, read_text
    from officellm.files.taskfile import is_task_file
    from officellm.files.teamfile import load_team

    path = Path(file)
    if file == "-":
        value = parse(sys.stdin.read(), file="<stdin>", suffix=".json").value
    elif path.suffix.lower() in (".jsonl", ".ndjson"):
        value = [one.value for one in _lines(path)][-1:]
        value = value[0] if value else {}
    else:
        value = parse(read_text(path), file=file, suffix=path.suffix).value
    if isinstance(value, Mapping) and ("stopReason" in value or "final_agent_id" in value):
        return value
    if isinstance(value, Mapping) and ("agents" in value or "manager" in value):
        return load_team(path).office()
    if file != "-" and is_task_file(path):
        return _workflow(file)
    said = "this is no team file, no task file with steps, no plan and no result of a run"
    raise ConfigError(said, place="<stdin>" if file == "-" else file)


def _lines(path: Path) -> list[Any]:
    from officellm.files.documents import json_document, read_text

    lines = [line for line in read_text(path).split("\n") if line.strip()]
    return [json_document(line, str(path), first_line=number) for number, line in enumerate(lines, start=1)]


def _workflow(file: str) -> Any:
    from officellm.files.taskfile import load_tasks
    from officellm.workflows.spec import WorkflowSpec

    task = load_tasks(file).tasks[0]
    chosen = task.orchestration()
    if not isinstance(chosen, Mapping) or chosen.get("name") != "dag":
        raise ConfigError("this task has no steps to draw", place=file)
    workflow = WorkflowSpec.model_validate({key: value for key, value in chosen.items() if key != "name"}).workflow()
    if workflow is None:
        raise ConfigError("this task has no steps to draw", place=file)
    return workflow
