"""`officellm call`: one agent, with its parameters, without a manager or a router."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from officellm.cli.options import limits_of, mode_of, running_options, team_path
from officellm.codec import loads
from officellm.errors import ConfigError


@click.command()
@click.argument("agent")
@click.argument("params", nargs=-1, metavar="[KEY=TEXT | KEY:=JSON]...")
@click.option("--param-json", metavar="OBJECT", help="Parameters as one JSON object; KEY=TEXT adds to it.")
@running_options
def call(
    agent: str,
    params: tuple[str, ...],
    param_json: str | None,
    team: str | None,
    limits: tuple[str, ...],
    as_json: bool,
    events: bool,
    stream: bool,
    quiet: bool,
) -> int:
    """Run AGENT alone: `officellm call research_agent task="tide pools" priority=high`.

    KEY=TEXT passes text as it stands, KEY:=JSON a number, a list or any other JSON value. An agent without parameters
    of its own takes task, priority and context.
    """
    mode = mode_of(as_json=as_json, events=events)
    values = params_of(params, param_json)
    wanted = limits_of(limits)
    path = team_path(team, Path.cwd())

    from officellm.cli.execute import Job, Manner, execute
    from officellm.cli.output import Outlet
    from officellm.files.teamfile import load_team

    outlet = Outlet()
    file = load_team(path)
    office = file.office()
    order = office.call_order(agent, None, wanted, None, (), None, values)
    manner = Manner(mode=mode, stream=stream, quiet=quiet, warnings=[str(one) for one in file.warnings])
    return execute([Job(office=office, order=order)], manner, outlet)


def params_of(given: Sequence[str], param_json: str | None) -> dict[str, Any]:
    """The parameters that the command line sets. Raises `ConfigError`."""
    values: dict[str, Any] = {}
    if param_json is not None:
        whole = _json("--param-json", param_json)
        if not isinstance(whole, dict):
            raise ConfigError('--param-json must be a JSON object, such as \'{"task": "tide pools"}\'')
        values.update(whole)
    for one in given:
        key, equals, text = one.partition("=")
        if not equals or key in ("", ":"):
            raise ConfigError(f"parameter {one!r} must be KEY=TEXT or KEY:=JSON, such as task={one!r}")
        if key.endswith(":"):
            values[key[:-1]] = _json(key[:-1], text)
        else:
            values[key] = text
    return values


def _json(key: str, text: str) -> Any:
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{key}: {text!r} is not JSON ({error})") from None
