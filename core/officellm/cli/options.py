"""What `run`, `call` and `tools` share: `--team`, `--limit`, the output modes, and what their values mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from officellm.errors import ConfigError, nearest

if TYPE_CHECKING:
    from officellm.cli.execute import Mode
    from officellm.limits import Limits

F = TypeVar("F", bound=Callable[..., Any])

team_option = click.option("--team", "-t", metavar="FILE", help="Team file; else the nearest one upward from here.")


def running_options(command: F) -> F:
    """The options of every command that runs agents."""
    for option in (
        click.option("--quiet", "-q", is_flag=True, help="No progress on stderr, only what went wrong."),
        click.option("--stream", is_flag=True, help="Show text as it is written, on stderr."),
        click.option("--events", is_flag=True, help="Print every event as a line of JSON; the last is the result."),
        click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON, also of a failure."),
        click.option(
            "--limit",
            "limits",
            multiple=True,
            metavar="NAME=VALUE",
            help="Such as max_requests=5 or max_cost_usd=0.10; `none` takes a limit away. May be repeated.",
        ),
        team_option,
    ):
        command = option(command)
    return command


def mode_of(*, as_json: bool, events: bool) -> Mode:
    """The output mode. `--json` and `--events` exclude each other."""
    if as_json and events:
        raise click.UsageError("choose --json or --events: the last line of --events is the result")
    return "json" if as_json else "events" if events else "plain"


def limits_of(given: Sequence[str]) -> Limits:
    """The limits that `--limit` options set. Raises `ConfigError`."""
    from pydantic import ValidationError

    from officellm.limits import Limits
    from officellm.misfits import misfits

    values: dict[str, float | None] = {}
    for one in given:
        name, equals, text = one.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise ConfigError(f"--limit {one!r} must be NAME=VALUE, such as max_requests=5")
        if name not in Limits.model_fields:
            raise ConfigError(f"--limit: unknown limit {name!r}.{nearest(name, Limits.model_fields)}")
        values[name] = _number(name, text.strip())
    try:
        return Limits.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"--limit {misfits(error, Limits)}") from None


def _number(name: str, text: str) -> float | None:
    if text.lower() in ("none", "null"):
        return None
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    raise ConfigError(f"--limit {name}={text}: the value must be a number or none")


def team_path(named: str | Path | None, *starts: Path) -> Path:
    """The team file: the named one, else the nearest upward from each start. Raises `ConfigError`."""
    from officellm.files.teamfile import find_team

    if named is not None:
        return Path(named)
    for start in starts:
        found = find_team(start)
        if found is not None:
            return found
    raise ConfigError("no team file: name one with --team FILE, or write one with `officellm init`")
