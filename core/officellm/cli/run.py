"""`officellm run`: a task, or a batch of them, worked through by a team."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from officellm.cli.options import limits_of, mode_of, running_options, team_path
from officellm.errors import ConfigError, ConfigErrors

if TYPE_CHECKING:
    from officellm.cli.execute import Job
    from officellm.files.taskfile import TaskBatch, TaskFile
    from officellm.files.teamfile import TeamFile
    from officellm.limits import Limits
    from officellm.office import Office
    from officellm.order import Order

STDIN = "-"


@click.command()
@click.argument("task", required=False, metavar="[TASK | -]")
@click.option("--text", metavar="WORDS", help="The task in plain words, instead of a file.")
@click.option("--agent", "-a", metavar="NAME", help="Start with this agent, and skip routing.")
@click.option("--router", "-r", metavar="NAME", help="The router that chooses the agent that starts.")
@click.option("--orchestrator", "-o", metavar="NAME", help="How control moves after that, such as manager or handoff.")
@click.option("--plan-only", is_flag=True, help="Show the plan of the plan orchestrator, and run nothing of it.")
@click.option("--jobs", "-j", type=click.IntRange(1), default=1, show_default=True, help="Tasks of a batch at a time.")
@running_options
def run(
    task: str | None,
    text: str | None,
    agent: str | None,
    router: str | None,
    orchestrator: str | None,
    plan_only: bool,
    jobs: int,
    team: str | None,
    limits: tuple[str, ...],
    as_json: bool,
    events: bool,
    stream: bool,
    quiet: bool,
) -> int:
    """Work TASK through: a JSON, YAML or TOML file, `-` for stdin, or --text "plain words".

    The answer is printed on stdout. A list or JSON Lines is a batch: one JSON line a task, as each ends.
    """
    if (task is None) == (text is None):
        raise click.UsageError('give one task: a file, `-` for stdin, or --text "words"')
    changes = _changes(agent, router, orchestrator, plan_only)
    mode = mode_of(as_json=as_json, events=events)
    wanted = limits_of(limits)

    from officellm.cli.execute import Manner, execute
    from officellm.cli.output import Outlet

    outlet = Outlet()
    batch = _batch(task, text)
    teams = _Teams(team, task)
    made = _jobs(batch, teams, wanted, changes)
    manner = Manner(mode=mode, stream=stream, quiet=quiet, jobs=jobs, warnings=teams.warnings)
    return execute(made, manner, outlet)


def _changes(agent: str | None, router: str | None, orchestrator: str | None, plan_only: bool) -> dict[str, Any]:
    """What the command line says of every task. Raises `UsageError` for what does not go together."""
    if agent is not None and router is not None:
        raise click.UsageError("--agent skips routing: leave out --router")
    if plan_only and orchestrator not in (None, "plan"):
        raise click.UsageError(f"--plan-only shows what the orchestrator plan would do, not {orchestrator}")
    changes: dict[str, Any] = {}
    if agent is not None or router is not None:
        changes = {"agent": agent, "router": router}
    if plan_only or orchestrator is not None:
        changes["orchestrator"] = {"name": "plan", "plan_only": True} if plan_only else orchestrator
    return changes


def _jobs(batch: TaskBatch, teams: _Teams, wanted: Limits, changes: Mapping[str, Any]) -> list[Job]:
    """What to run, with the command line's word over the file's. Raises `ConfigError` with every task's problem."""
    from officellm.cli.execute import Job

    made: list[Job] = []
    problems: list[ConfigError] = []
    for index, one in enumerate(batch.tasks):
        one = replace(one, limits=type(wanted).merge(wanted, one.limits), **changes)
        office = None
        try:
            office = teams.office(one)
            made.append(Job(office=office, order=_order(office, one), index=index if batch.is_batch else None))
        except ConfigError as error:
            of_task = batch.is_batch or (office is not None and not changes)
            problems.append(ConfigError(str(error), place=one.place) if of_task and not error.place else error)
    if problems:
        raise problems[0] if len(problems) == 1 else ConfigErrors(problems)
    return made


def _batch(task: str | None, text: str | None) -> TaskBatch:
    from officellm.files.taskfile import TaskBatch, TaskFile, load_tasks
    from officellm.tasks import Task

    if text is not None:
        if not text.strip():
            raise ConfigError("--text holds no task")
        words = os.fsencode(text).decode(errors="replace")
        return TaskBatch([TaskFile(Task.of(words), "--text")], is_batch=False)
    assert task is not None
    return load_tasks(task, _stdin() if task == STDIN else None)


def _stdin() -> str:
    if sys.stdin is None:
        raise ConfigError("stdin is closed")
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"not UTF-8: {error}", place="<stdin>") from None


class _Teams:
    """The offices that tasks need, each loaded once."""

    def __init__(self, named: str | None, task: str | None) -> None:
        self._named = named
        near = [] if task in (None, STDIN) else [Path(task).resolve().parent]
        self._starts = [*near, Path.cwd()]
        self._offices: dict[Path, Office] = {}
        self.warnings: list[str] = []

    def office(self, task: TaskFile) -> Office:
        """The office of one task. Raises `ConfigError`."""
        from officellm.files.teamfile import load_team

        path = team_path(self._named or task.team, *self._starts)
        office = self._offices.get(path)
        if office is None:
            file: TeamFile = load_team(path)
            self.warnings += map(str, file.warnings)
            office = self._offices[path] = file.office()
        return office


def _order(office: Office, task: TaskFile) -> Order:
    """What one run is to do. Raises `ConfigError` for what can be known before."""
    from officellm.kinds import Kind
    from officellm.limits import Limits
    from officellm.order import Order
    from officellm.outputs import OutputType
    from officellm.routing import driver_of

    orchestrator = task.orchestration()
    for kind, chosen in ((Kind.ROUTER, task.router), (Kind.ORCHESTRATOR, orchestrator)):
        if chosen is not None:
            name, settings = driver_of(chosen, kind.value, getattr(office, kind.value))
            office.host.settings(kind, name, settings)
    limits = task.limits or Limits()
    prompt: str | None = None
    if task.params:
        if task.agent is None:
            raise ConfigError("params are for one agent: name it with `agent`", place=task.place)
        prompt = office.call_order(task.agent, None, limits, None, (), None, task.params).prompt
    elif task.agent is not None:
        office.roster.get(task.agent)
    return Order(
        task=task.task,
        agent=task.agent,
        router=task.router,
        orchestrator=orchestrator,
        limits=limits,
        output=OutputType(task.output_schema) if task.output_schema is not None else None,
        history=(),
        deps=None,
        prompt=prompt,
    )
