"""`officellm check`: every problem of a team file or a task file, at its line, before anything is sent."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from officellm.cli.options import team_path
from officellm.cli.output import Outlet, clean

if TYPE_CHECKING:
    from officellm.files.places import Problem
    from officellm.files.teamcheck import Report


@click.command()
@click.argument("file", required=False)
@click.option("--ping", is_flag=True, help="Ask each provider in use for its list of models, which costs nothing.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of team files, for editors, and exit.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(file: str | None, ping: bool, schema: bool, as_json: bool) -> int:
    """Check FILE (else the nearest team file upward): keys, names, plugins, tools, limits. No model is asked.

    Each problem is a line `file:line: problem`. Exit codes: 0 without errors, 2 with errors, 1 if a ping failed.
    """
    outlet = Outlet()
    if schema:
        from officellm.files.teamschema import team_schema

        outlet.text(json.dumps(team_schema(), indent=2, ensure_ascii=False))
        return 0
    path = team_path(file, Path.cwd())
    report = asyncio.run(_report(path, ping=ping))
    outlet.text(json.dumps(_to_dict(report), indent=2, ensure_ascii=False) if as_json else clean(_lines(report)))
    if report.errors:
        return 2
    return 1 if any(one.error is not None for one in report.pings) else 0


async def _report(path: Path, *, ping: bool) -> Report:
    from officellm.cli.refusals import check_team
    from officellm.errors import ConfigError
    from officellm.files.taskfile import is_task_file, load_tasks
    from officellm.files.teamcheck import Report, problems_of

    if not is_task_file(path):
        return await check_team(path, ping=ping)
    try:
        load_tasks(path)
    except ConfigError as error:
        return Report(errors=problems_of(error, str(path)))
    return Report()


def _lines(report: Report) -> str:
    lines = [str(problem) for problem in report.errors]
    lines += [f"{problem.place}: warning: {problem.text}" for problem in report.warnings]
    for agent in report.agents:
        about = [f"{agent.name}: {agent.model}", f"tools: {', '.join(agent.tools) or 'none'}"]
        if agent.workers:
            about.append(f"workers: {', '.join(agent.workers)}")
        lines.append("; ".join(about))
    for ping in report.pings:
        said = f"failed: {ping.error}" if ping.error is not None else f"ok, {ping.models} models"
        lines.append(f"ping {ping.provider}: {said}")
    return "\n".join(lines or ["ok"])


def _to_dict(report: Report) -> dict[str, Any]:
    return {
        "ok": not report.errors and all(ping.error is None for ping in report.pings),
        "errors": [_problem(problem) for problem in report.errors],
        "warnings": [_problem(problem) for problem in report.warnings],
        "agents": [
            {"name": agent.name, "model": agent.model, "tools": agent.tools, "workers": agent.workers}
            for agent in report.agents
        ],
        "pings": [{"provider": one.provider, "models": one.models, "error": one.error} for one in report.pings],
    }


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "key": problem.key,
        "message": problem.message,
    }
