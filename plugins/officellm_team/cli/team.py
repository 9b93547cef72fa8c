"""`officellm team`: a team file to start from, its check, and the team at work on its board."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from officellm import ConfigError, Limits, load_team
from officellm_team.cli.boardlines import printable
from officellm_team.cli.extras import needing
from officellm_team.cli.teamcheck import doubts
from officellm_team.cli.teamstart import MINIMAL

if TYPE_CHECKING:
    from officellm import TeamFile
    from officellm_team.team.pace import Pace
    from officellm_team.team.runner import TeamRunner

#: Where the board is if a team file does not say: beside it.
DEFAULT_BOARD = "board.db"
#: The reference's limits of one dispatch, for what a team file does not set.
DISPATCH = Limits(max_turns=8, max_tool_calls=24, max_seconds=120, max_tokens_per_call=4096, provider_retries=2)

_path = click.argument("path", default="team.yaml", type=click.Path(path_type=Path))


@click.group(invoke_without_command=True)
@click.pass_context
def team(context: click.Context) -> None:
    """Run a team of agents against a board of tasks, day and night. Without a command: run team.yaml."""
    if context.invoked_subcommand is None:
        context.exit(context.invoke(run, path=Path("team.yaml"), once=False, board=None, lease=60.0, quiet=False))


@team.command()
@_path
def init(path: Path) -> int:
    """Write a minimal team file to PATH. A file that is there is never overwritten."""
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(MINIMAL)
    except FileExistsError:
        click.echo(f"refusing to overwrite existing {path}", err=True)
        return 1
    except OSError as error:
        click.echo(f"{path}: cannot be written: {error.strerror or error}", err=True)
        return 1
    click.echo(f"wrote {path}")
    click.echo(f"next: officellm team check {path}, then officellm team run {path}")
    return 0


@team.command()
@_path
@click.option("--ping", is_flag=True, help="Ask each provider in use for its list of models, which costs nothing.")
def check(path: Path, ping: bool) -> int:
    """Check PATH without running anything: every problem with its line, exit code 1 if there is one."""
    from officellm import check_team

    if not path.is_file():
        click.echo(f"team file not found: {path}", err=True)
        return 1
    report = asyncio.run(check_team(path, ping=ping, board=DEFAULT_BOARD))
    warnings = [f"{one.place}: warning: {one.text}" for one in report.warnings]
    if report.errors:
        count = len(report.errors)
        click.echo(f"{path}: {count} problem{'' if count == 1 else 's'}:", err=True)
        for problem in report.errors:
            click.echo(printable(f"  - {problem}"), err=True)
        return 1
    found = load_team(path, board=DEFAULT_BOARD)
    for line in [*warnings, *(f"{path}: warning: {doubt}" for doubt in doubts(found))]:
        click.echo(line, err=True)
    failed = [one for one in report.pings if one.error is not None]
    for one in report.pings:
        click.echo(printable(f"ping {one.provider}: {one.error or f'ok, {one.models} models'}"))
    click.echo(f"{path}: ok ({len(found.agents)} agent(s), {len(found.model.providers)} provider(s))")
    return 1 if failed else 0


@team.command()
@_path
@click.option("--once", is_flag=True, help="Work until nothing is left, then end.")
@click.option("--board", metavar="FILE|URL", help="The board; else the team file's, else board.db beside it.")
@click.option(
    "--lease",
    metavar="SECONDS",
    type=click.FloatRange(min=1.0),
    default=60.0,
    show_default=True,
    help="Work of a process that died is free again after so long. A process that lives renews its work.",
)
@click.option("--quiet", "-q", is_flag=True, help="Only the summary line of each dispatch.")
def run(path: Path, once: bool, board: str | None, lease: float, quiet: bool) -> int:
    """Work through what the board holds for the agents of PATH, until told to stop.

    Ctrl-C and SIGTERM: claim nothing more, finish what is in hand or give it back, agents offline. SIGHUP reads the
    file again. One summary line a dispatch goes to stdout. Exit code 1 with --once: work is left that waits for you, as
    a provider refuses the key or the credit is used up.
    """
    if not path.is_file():
        click.echo(f"team file not found: {path}. Write one with: officellm team init {path}", err=True)
        return 1
    logging.basicConfig(level=logging.ERROR if quiet else logging.WARNING, stream=sys.stderr, format="%(message)s")
    return asyncio.run(_Command(path, board, once=once, lease=lease, quiet=quiet).go())


class _Command:
    """One `team run`."""

    def __init__(self, path: Path, board: str | None, *, once: bool, lease: float, quiet: bool) -> None:
        self._path = path
        self._board = board
        self._once = once
        self._lease = lease
        self._quiet = quiet
        self._code = 0
        self._runner: TeamRunner | None = None
        self._main: asyncio.Task[int] | None = None

    async def go(self) -> int:
        """The exit code. Raises `ConfigError`."""
        with needing("team"):
            from officellm_team.board.store import Board
            from officellm_team.team.runner import TeamRunner

        self._main = asyncio.current_task()
        found = self._load()
        office = found.office(default_tools=default_tools())
        board = Board(found.board_url)
        async with office:
            await office.ready()
            pace = self._pace(found)
            self._runner = TeamRunner(office, board, pace, tell=lambda line: click.echo(printable(line)))
            self._say(f"team {self._path}: {', '.join(office.agents)}")
            self._say(f"board {found.model.board.name if found.model.board else ''}, runner {self._runner.name}")
            self._listen()
            self._say(f"waiting for {', '.join(pace.kinds)}, {pace.concurrent} at once, every {pace.poll_seconds:g} s")
            try:
                await self._runner.run(once=self._once)
                self._code = self._code or int(self._runner.gave_up)
            except asyncio.CancelledError:
                self._code = 130
            finally:
                board.close()
        return self._code

    def _load(self) -> TeamFile:
        found = load_team(self._path, board=self._board or DEFAULT_BOARD)
        for warning in found.warnings:
            click.echo(warning, err=True)
        if not _kinds(found):
            raise ConfigError(
                "orchestrator.notification_kinds is empty: nothing would wake the team", place=str(self._path)
            )
        return found

    def _pace(self, found: TeamFile) -> Pace:
        from officellm_team.team.pace import Pace

        polling = found.polling
        assert polling is not None
        return Pace(
            kinds=_kinds(found),
            poll_seconds=polling.poll_interval_seconds,
            concurrent=polling.max_concurrent_dispatches,
            per_agent=polling.max_per_agent,
            max_iterations=polling.max_iterations,
            lease_seconds=self._lease,
            limits=Limits.merge(polling.dispatch_limits, DISPATCH),
        )

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop, number)
        if hasattr(signal, "SIGHUP"):
            loop.add_signal_handler(signal.SIGHUP, lambda: asyncio.ensure_future(self._reload()))

    def _stop(self, number: int) -> None:
        """The first signal ends the team in order, the second at once: leases run out by themselves."""
        assert self._runner is not None
        if self._runner.stopping:
            os._exit(130)
        self._code = 130 if number == signal.SIGINT else 0
        self._say("stopping: finishing what is in hand (once more stops at once)")
        self._runner.stop()

    async def _reload(self) -> None:
        assert self._runner is not None
        try:
            found = self._load()
            office = found.office(default_tools=default_tools())
            await office.ready()
            self._runner.replace(office, self._pace(found))
        except ConfigError as error:
            click.echo(f"the team goes on as it was: {error}", err=True)
        else:
            self._say(f"read again: {self._path}")

    def _say(self, text: str) -> None:
        if not self._quiet:
            click.echo(text, err=True)


def _kinds(found: TeamFile) -> list[str]:
    return list(found.polling.notification_kinds) if found.polling is not None else []


def default_tools() -> list[str]:
    """The tools of an agent that says nothing of tools: all that are not off by default."""
    with needing("team"):
        from officellm_team.tools.subjects import all_tools

    return [name for name, tool in all_tools().items() if not tool.marks.gated]
