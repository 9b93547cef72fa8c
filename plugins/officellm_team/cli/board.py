"""`officellm board`: what is on the board, for people: tasks, agents, notifications, dead letters, memories."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from officellm import ConfigError, load_team
from officellm_team.board.caller import Caller
from officellm_team.cli.boardlines import json_text, lines_of, tree_lines
from officellm_team.cli.extras import needing
from officellm_team.cli.team import DEFAULT_BOARD

if TYPE_CHECKING:
    from officellm_team.board.store import Board


class _Desk:
    """The board that the options name, opened when a command needs it, and how results are printed."""

    def __init__(self, place: str | None, team: Path | None, name: str, *, as_json: bool) -> None:
        self.caller = Caller(name, operator=True)
        self.as_json = as_json
        self._place = place
        self._team = team

    @cached_property
    def board(self) -> Board:
        """Raises `ConfigError` where there is none."""
        with needing("team"):
            from officellm_team.board.store import Board
        place = self._place or self._of_team() or DEFAULT_BOARD
        if "://" not in place and not Path(place).is_file():
            raise ConfigError(f"there is no board at {place}: name one with --board, or start a team")
        opened = Board(place)
        click.get_current_context().call_on_close(opened.close)
        return opened

    def call(self, tool: str, **arguments: Any) -> Any:
        """One of the board's tools, with an operator's right. Raises `BoardError` for a refusal."""
        board = self.board
        from officellm_team.tools.subjects import all_tools

        return all_tools()[tool].run(board, self.caller, arguments)

    def show(self, value: Any, lines: list[str] | None = None) -> None:
        """JSON where that was asked for, else lines."""
        if self.as_json:
            click.echo(json_text(value))
        else:
            click.echo("\n".join(lines if lines is not None else lines_of(value)))

    def _of_team(self) -> str:
        team = self._team or (Path("team.yaml") if Path("team.yaml").is_file() else None)
        return load_team(team, board=DEFAULT_BOARD).board_url if team is not None else ""


def _json_too(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        context.obj.as_json = True


class _Command(click.Command):
    """A command that takes --json behind its name too."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        about = "Print JSON."
        self.params.append(click.Option(["--json"], is_flag=True, expose_value=False, callback=_json_too, help=about))


class _Group(click.Group):
    command_class = _Command


@click.group(cls=_Group)
@click.option("--board", "place", metavar="FILE|URL", help="The board; else the team file's, else board.db.")
@click.option("--team", "-t", metavar="FILE", type=click.Path(path_type=Path), help="Else team.yaml, if there is one.")
@click.option("--as", "name", metavar="NAME", default="operator", show_default=True, help="Who acts.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def board(context: click.Context, place: str | None, team: Path | None, name: str, as_json: bool) -> None:
    """Show and change what is on the board.

    Exit codes: 0 done, 1 refused by the board (no such task, an illegal change), 2 wrong command line, no board.
    """
    context.obj = _Desk(place, team, name, as_json=as_json)


@board.command()
@click.option("--state", default="", help="Only those in this state.")
@click.option("--owner", default="", help="Only those of this agent.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 500))
@click.pass_obj
def tasks(desk: _Desk, state: str, owner: str, limit: int) -> None:
    """List tasks, those changed last first."""
    found = desk.call("task_list", state=state, owner_agent=owner, limit=limit)
    desk.show(found, lines_of(found["tasks"], "id", "state", "owner_agent", "title"))


@board.command()
@click.argument("task_id")
@click.pass_obj
def show(desk: _Desk, task_id: str) -> None:
    """Show one task, by its id or the beginning of it."""
    desk.show(desk.call("task_get", task_id=task_id))


@board.command()
@click.argument("task_id")
@click.option("--depth", default=10, show_default=True, type=click.IntRange(1, 20))
@click.pass_obj
def tree(desk: _Desk, task_id: str, depth: int) -> None:
    """Show a task and what it was split into."""
    found = desk.call("task_tree", root_task_id=task_id, max_depth=depth)
    desk.show(found, tree_lines(found["tree"]))


@board.command()
@click.argument("title")
@click.option("--description", "-d", default="")
@click.option("--assign", "owner", metavar="AGENT", help="Give it to this agent at once.")
@click.option("--parent", default="", metavar="ID")
@click.option("--needs", multiple=True, metavar="ID", help="A task that must be completed first. May be repeated.")
@click.option("--priority", type=click.Choice(["low", "medium", "high"]), default="medium", show_default=True)
@click.option("--due", default="", metavar="TIME", help="ISO 8601.")
@click.pass_obj
def add(
    desk: _Desk,
    title: str,
    description: str,
    owner: str | None,
    parent: str,
    needs: tuple[str, ...],
    priority: str,
    due: str,
) -> None:
    """Create a task; with --assign an agent is woken for it."""
    if owner is not None:
        desk.call("agent_get", agent_id=owner)  # refused before there is a task that nobody would do
    task = desk.call(
        "task_create",
        title=title,
        description=description,
        parent_task_id=parent,
        depends_on=list(needs),
        priority=priority,
        due_at=due,
    )
    if owner is not None:
        task = desk.call("task_assign", task_id=task["id"], owner_agent=owner)
    desk.show(task)


@board.command()
@click.argument("task_id")
@click.argument("agent")
@click.pass_obj
def assign(desk: _Desk, task_id: str, agent: str) -> None:
    """Give a task to an agent, and wake it."""
    desk.show(desk.call("task_assign", task_id=task_id, owner_agent=agent))


@board.command()
@click.argument("task_id")
@click.option("--reason", default="", help="Kept with the task, and told to who created it.")
@click.pass_obj
def cancel(desk: _Desk, task_id: str, reason: str) -> None:
    """Cancel a task."""
    metadata = {"reason": reason} if reason else {}
    desk.show(desk.call("task_update", task_id=task_id, state="cancelled", metadata=metadata))


@board.command()
@click.argument("id")
@click.pass_obj
def retry(desk: _Desk, id: str) -> None:
    """Try a task that failed again, as a new attempt; or a dead letter, by its number."""
    opened = desk.board
    from officellm_team.board import deliveries, retries

    if id.isdecimal() and len(id) < 20:
        desk.show({"id": deliveries.retry_dead(opened, int(id)), "state": "queued"})
    else:
        desk.show(retries.retry(opened, desk.caller, id))


@board.command()
@click.pass_obj
def agents(desk: _Desk) -> None:
    """List agents, with when they were last seen."""
    found = desk.call("agent_list")
    desk.show(found, lines_of(found["agents"], "agent_id", "status", "role", "last_seen"))


@board.command()
@click.option("--all", "everything", is_flag=True, help="Also what was read.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 500))
@click.pass_obj
def notifications(desk: _Desk, everything: bool, limit: int) -> None:
    """List what the board told you, or whom `board --as` names, newest first."""
    found = desk.call("notifications_poll", unread_only=not everything, limit=limit)
    desk.show(found, lines_of(found["notifications"], "id", "kind", "sender", "created_at", "payload"))


@board.command()
@click.option("--state", type=click.Choice(["queued", "leased", "done", "dead"]), help="Only those in this state.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 500))
@click.pass_obj
def deliveries(desk: _Desk, state: str | None, limit: int) -> None:
    """List what waits for agents, what is in hand, what is done, and dead letters."""
    opened = desk.board
    from officellm_team.board import deliveries as work

    found = work.listing(opened, state=state or "", limit=limit)
    counts = work.counts(opened)
    desk.show(
        {"deliveries": found, "counts": counts},
        [
            *lines_of(found, "id", "state", "agent_id", "kind", "attempts", "last_error"),
            ", ".join(f"{count} {name}" for name, count in counts.items()),
        ],
    )


@board.command()
@click.argument("query")
@click.option("-k", default=8, show_default=True, type=click.IntRange(1, 100), help="At most so many.")
@click.option("--agent", default="", help="Only those of this agent.")
@click.pass_obj
def memories(desk: _Desk, query: str, k: int, agent: str) -> None:
    """Search memories."""
    found = desk.call("memory_search", query=query, k=k, agent_filter=agent)
    desk.show(found, lines_of(found["results"], "id", "score", "type", "agent_id", "title", "content"))


@board.command()
@click.argument("id")
@click.pass_obj
def history(desk: _Desk, id: str) -> None:
    """Show what happened to a memory or a task, newest first."""
    found = desk.call("memory_history", memory_id=id, limit=100)
    desk.show(found, lines_of(found["events"], "at", "event", "actor", "prev", "new"))
