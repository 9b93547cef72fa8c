"""`officellm board`: what is on the board, for people: tasks, agents, notifications, dead letters, memories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from officellm import ConfigError, load_team
from officellm_team.board.caller import Caller
from officellm_team.board.errors import BoardError
from officellm_team.board.store import Board
from officellm_team.cli.boardlines import lines_of, tree_lines
from officellm_team.cli.team import DEFAULT_BOARD


class _Opened:
    """The board that the options name, and how results are printed."""

    def __init__(self, board: Board, name: str, *, as_json: bool) -> None:
        self.board = board
        self.caller = Caller(name, operator=True)
        self.as_json = as_json

    def call(self, tool: str, **arguments: Any) -> Any:
        """One of the board's tools, with an operator's right. Raises `ConfigError` for a refusal."""
        from officellm_team.tools.subjects import all_tools

        try:
            return all_tools()[tool].run(self.board, self.caller, arguments)
        except BoardError as error:
            raise ConfigError(str(error)) from None

    def show(self, value: Any, lines: list[str] | None = None) -> None:
        """JSON where that was asked for, else lines."""
        if self.as_json:
            click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))
        else:
            click.echo("\n".join(lines if lines is not None else lines_of(value)))


@click.group()
@click.option("--board", "place", metavar="FILE|URL", help="The board; else the team file's, else board.db.")
@click.option("--team", "-t", metavar="FILE", type=click.Path(path_type=Path), help="Else team.yaml, if there is one.")
@click.option("--as", "name", metavar="NAME", default="operator", show_default=True, help="Who acts.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def board(context: click.Context, place: str | None, team: Path | None, name: str, as_json: bool) -> None:
    """Show and change what is on the board."""
    team = team or (Path("team.yaml") if Path("team.yaml").is_file() else None)
    if place is None and team is not None:
        place = load_team(team, board=DEFAULT_BOARD).board_url
    place = place or DEFAULT_BOARD
    if "://" not in place and not Path(place).is_file():
        raise ConfigError(f"there is no board at {place}: name one with --board, or start a team")
    opened = Board(place)
    context.call_on_close(opened.close)
    context.obj = _Opened(opened, name, as_json=as_json)


@board.command()
@click.option("--state", default="", help="Only those in this state.")
@click.option("--owner", default="", help="Only those of this agent.")
@click.option("--limit", default=50, show_default=True)
@click.pass_obj
def tasks(opened: _Opened, state: str, owner: str, limit: int) -> None:
    """List tasks, those changed last first."""
    found = opened.call("task_list", state=state, owner_agent=owner, limit=limit)
    opened.show(found, lines_of(found["tasks"], "id", "state", "owner_agent", "title"))


@board.command()
@click.argument("task_id")
@click.pass_obj
def show(opened: _Opened, task_id: str) -> None:
    """Show one task, by its id or the beginning of it."""
    opened.show(opened.call("task_get", task_id=task_id))


@board.command()
@click.argument("task_id")
@click.option("--depth", default=10, show_default=True)
@click.pass_obj
def tree(opened: _Opened, task_id: str, depth: int) -> None:
    """Show a task and what it was split into."""
    found = opened.call("task_tree", root_task_id=task_id, max_depth=depth)
    opened.show(found, tree_lines(found))


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
    opened: _Opened,
    title: str,
    description: str,
    owner: str | None,
    parent: str,
    needs: tuple[str, ...],
    priority: str,
    due: str,
) -> None:
    """Create a task; with --assign an agent is woken for it."""
    task = opened.call(
        "task_create",
        title=title,
        description=description,
        parent_task_id=parent,
        depends_on=list(needs),
        priority=priority,
        due_at=due,
    )
    if owner is not None:
        task = opened.call("task_assign", task_id=task["id"], owner_agent=owner)
    opened.show(task)


@board.command()
@click.argument("task_id")
@click.argument("agent")
@click.pass_obj
def assign(opened: _Opened, task_id: str, agent: str) -> None:
    """Give a task to an agent, and wake it."""
    opened.show(opened.call("task_assign", task_id=task_id, owner_agent=agent))


@board.command()
@click.argument("task_id")
@click.option("--reason", default="", help="Kept with the task, and told to who created it.")
@click.pass_obj
def cancel(opened: _Opened, task_id: str, reason: str) -> None:
    """Cancel a task."""
    metadata = {"reason": reason} if reason else {}
    opened.show(opened.call("task_update", task_id=task_id, state="cancelled", metadata=metadata))


@board.command()
@click.argument("id")
@click.pass_obj
def retry(opened: _Opened, id: str) -> None:
    """Try a task that failed again, as a new attempt; or a dead letter, by its number."""
    from officellm_team.board import deliveries, retries

    try:
        if id.isdigit():
            deliveries.retry_dead(opened.board, int(id))
            opened.show({"id": int(id), "state": "queued"})
        else:
            opened.show(retries.retry(opened.board, opened.caller, id))
    except BoardError as error:
        raise ConfigError(str(error)) from None


@board.command()
@click.pass_obj
def agents(opened: _Opened) -> None:
    """List agents, with when they were last seen."""
    found = opened.call("agent_list")
    opened.show(found, lines_of(found["agents"], "agent_id", "status", "role", "last_seen"))


@board.command()
@click.option("--state", type=click.Choice(["queued", "leased", "done", "dead"]), help="Only those in this state.")
@click.option("--limit", default=50, show_default=True)
@click.pass_obj
def deliveries(opened: _Opened, state: str | None, limit: int) -> None:
    """List what waits for agents, what is in hand, what is done, and dead letters."""
    from officellm_team.board import deliveries as work

    found = work.listing(opened.board, state=state or "", limit=limit)
    counts = work.counts(opened.board)
    opened.show(
        {"deliveries": found, "counts": counts},
        [
            *lines_of(found, "id", "state", "agent_id", "kind", "attempts", "last_error"),
            ", ".join(f"{count} {name}" for name, count in counts.items()),
        ],
    )


@board.command()
@click.argument("query")
@click.option("-k", default=8, show_default=True, help="At most so many.")
@click.option("--agent", default="", help="Only those of this agent.")
@click.pass_obj
def memories(opened: _Opened, query: str, k: int, agent: str) -> None:
    """Search memories."""
    found = opened.call("memory_search", query=query, k=k, agent_filter=agent)
    opened.show(found, lines_of(found["results"], "id", "score", "type", "agent_id", "title", "content"))


@board.command()
@click.argument("id")
@click.pass_obj
def history(opened: _Opened, id: str) -> None:
    """Show what happened to a memory or a task, newest first."""
    opened.show(opened.call("memory_history", memory_id=id, limit=100))
