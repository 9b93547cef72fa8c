"""`officellm tools`: what each agent of a team may call, and the schema of one tool."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from officellm.cli.options import team_option, team_path
from officellm.cli.output import Outlet, one_line
from officellm.errors import ConfigError, nearest

if TYPE_CHECKING:
    from officellm.office import Office
    from officellm.toolset import Entry

#: What an agent may call, by agent.
Found = Mapping[str, Sequence["Entry"]]


@click.command()
@click.argument("name", required=False)
@team_option
@click.option("--agent", "-a", metavar="NAME", help="Only what this agent may call.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def tools(name: str | None, team: str | None, agent: str | None, as_json: bool) -> None:
    """List the tools and workers that each agent may call; with NAME, show that one's schema."""
    from officellm.files.teamfile import load_team

    outlet = Outlet()
    office = load_team(team_path(team, Path.cwd())).office()
    found = asyncio.run(_entries(office, agent))
    if name is not None:
        found = _named(found, name)
    if as_json:
        shown = [_to_dict(owner, entry) for owner, entries in found.items() for entry in entries]
        outlet.text(json.dumps(shown, indent=2, ensure_ascii=False))
    elif name is None:
        outlet.text("\n".join(_listing(found)))
    else:
        outlet.text("\n\n".join(_details(found)))


async def _entries(office: Office, agent: str | None) -> Found:
    async with office:
        setups = await office.ready()
        names = list(office.agents) if agent is None else [office.roster.get(agent).name]
        return {name: setups.get(name).toolset.entries() for name in names}


def _named(found: Found, name: str) -> Found:
    picked = {owner: [entry for entry in entries if entry.spec.name == name] for owner, entries in found.items()}
    if not any(picked.values()):
        known = {entry.spec.name for entries in found.values() for entry in entries}
        raise ConfigError(f"no agent may call {name!r}.{nearest(name, known)}")
    return picked


def _listing(found: Found) -> list[str]:
    lines = []
    width = max((len(entry.spec.name) for entries in found.values() for entry in entries), default=0)
    for owner, entries in found.items():
        lines.append(owner)
        lines += [f"  {one.spec.name:<{width}}  {one.kind:<6}  {one_line(one.spec.description)}" for one in entries]
        if not entries:
            lines.append("  nothing")
    return lines


def _details(found: Found) -> list[str]:
    """Each different thing of this name once, with the agents that may call it."""
    owners: dict[str, list[str]] = {}
    for owner, entries in found.items():
        for entry in entries:
            schema = json.dumps(entry.spec.parameters, indent=2, ensure_ascii=False)
            head = f"{entry.spec.name}  {entry.kind}\n{entry.spec.description}"
            owners.setdefault(f"{head}\n\n{schema}", []).append(owner)
    return [f"{text}\n\ncalled by: {', '.join(names)}" for text, names in owners.items()]


def _to_dict(owner: str, entry: Entry) -> dict[str, object]:
    spec = entry.spec
    return {
        "agent": owner,
        "name": spec.name,
        "kind": entry.kind,
        "description": spec.description,
        "parameters": spec.parameters,
    }
