"""`officellm mcp`: the board and the agents of a team for MCP clients."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from officellm import ConfigError, load_team
from officellm_team.cli.extras import needing
from officellm_team.cli.team import DEFAULT_BOARD, default_tools

if TYPE_CHECKING:
    from officellm import Office, TeamFile


@click.command()
@click.option("--as", "name", metavar="NAME", required=True, help="Who calls: tasks are created in this name.")
@click.option("--team", "-t", metavar="FILE", type=click.Path(path_type=Path), help="Else team.yaml, if there is one.")
@click.option("--board", metavar="FILE|URL", help="The board; else the team file's, else board.db.")
@click.option("--allow", multiple=True, metavar="PATTERN", help="Offer tools that are off, such as memory_delete.")
@click.option("--no-agents", is_flag=True, help="The board alone, without the agents as tools.")
@click.option("--http", metavar="[HOST:]PORT", help="Streamable HTTP instead of stdio; port 0 is any.")
@click.option("--token-env", metavar="NAME", help="The variable with the bearer token that clients must send.")
def mcp(
    name: str,
    team: Path | None,
    board: str | None,
    allow: tuple[str, ...],
    no_agents: bool,
    http: str | None,
    token_env: str | None,
) -> int:
    """Serve the board of a team, and each of its agents as a tool, to an MCP client.

    Over stdio without more: an editor or a chat program starts this command itself.
    """
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(message)s")
    token = os.environ.get(token_env, "") if token_env else None
    if token_env and not token:
        raise ConfigError(f"the environment variable {token_env} is not set")
    found = _team(team, board)
    return asyncio.run(_serve(found, name, board, allow, http, token, with_agents=not no_agents))


def _team(path: Path | None, board: str | None) -> TeamFile | None:
    if path is None and not Path("team.yaml").is_file():
        return None
    return load_team(path or Path("team.yaml"), board=board or DEFAULT_BOARD)


async def _serve(
    found: TeamFile | None,
    name: str,
    board: str | None,
    allow: tuple[str, ...],
    http: str | None,
    token: str | None,
    *,
    with_agents: bool,
) -> int:
    with needing("team,mcp"):
        from officellm_team.serving import transports
        from officellm_team.serving.server import TeamServer
        from officellm_team.tools.driver import BoardSettings
        from officellm_team.tools.subjects import all_tools

    given = {"url": DEFAULT_BOARD} if found is None else dict(found.catalogs()["board"])
    store = BoardSettings.model_validate({**given, "url": board or given["url"]}).open()
    office: Office | None = None
    if found is not None and with_agents:
        office = found.office(default_tools=default_tools())
        await office.ready()
    try:
        server = TeamServer(store, all_tools(), name, office=office, allow=allow)
        if http is None:
            await transports.serve_stdio(server)
        else:
            host, port = _address(http)
            await transports.serve_http(server, host, port, token, lambda line: click.echo(line, err=True))
    finally:
        store.close()
        if office is not None:
            await office.aclose()
    return 0


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdigit() or int(port) > 65535:
        raise ConfigError(f"--http {text!r}: give a port, or host:port")
    return host.strip("[]") or "127.0.0.1", int(port)
