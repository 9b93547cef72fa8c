"""`officellm plugins`: what is installed, read from metadata: the list works also when every plugin is broken."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from officellm.cli.commands import BUILT_IN
from officellm.errors import PluginNotFoundError, nearest
from officellm.kinds import COMMANDS, DISABLE, EXTENSIONS, Kind
from officellm.provenance import Offer, offers

GROUPS = {**{kind.group: kind.value for kind in Kind}, EXTENSIONS: "extension", COMMANDS: "command"}


@dataclass(frozen=True, slots=True)
class Listed:
    """One installed plugin and what metadata says of its state."""

    offer: Offer
    kind: str
    state: str

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        offer = self.offer
        return {
            "kind": self.kind,
            "name": offer.name,
            "package": offer.package,
            "version": offer.version,
            "state": self.state,
            "module": offer.module,
        }


def installed() -> list[Listed]:
    """Every plugin of every package."""
    found = offers()
    rivals = Counter((offer.group, offer.name) for offer in found)
    disabled = {name.strip() for name in os.environ.get(DISABLE, "").split(",")}
    listed = []
    for offer in found:
        if offer.group not in GROUPS:
            state = f"unknown kind.{nearest(offer.group, GROUPS).partition(' Available')[0]}"
        elif rivals[offer.group, offer.name] > 1:
            state = f"conflict: say {offer.qualified}"
        elif offer.group == EXTENSIONS and offer.name in disabled:
            state = "disabled"
        elif offer.group == COMMANDS and offer.name in BUILT_IN:
            state = "ignored: the name is built in"
        else:
            state = "editable" if offer.editable else "ok"
        kind = GROUPS.get(offer.group, offer.group)
        listed.append(Listed(offer, kind, state))
    return listed


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def plugins(context: click.Context, as_json: bool) -> None:
    """List installed plugins: kind, name, package, version, state. Nothing is imported."""
    if context.invoked_subcommand is not None:
        return
    listed = installed()
    if as_json:
        click.echo(json.dumps([one.to_dict() for one in listed], indent=2))
    else:
        click.echo("\n".join(_table(listed)))


def _table(listed: Sequence[Listed]) -> list[str]:
    rows = [("KIND", "NAME", "PACKAGE", "VERSION", "STATE")]
    rows += [(one.kind, one.offer.name, one.offer.package, one.offer.version, one.state) for one in listed]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[4]]) for row in rows]


@plugins.command()
@click.argument("name")
@click.option("--kind", type=click.Choice(sorted(GROUPS.values())), help="Only plugins of this kind.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(name: str, kind: str | None, as_json: bool) -> int:
    """Import the plugins called NAME (or NAME@PACKAGE) and show their settings and hooks; 1 if one is broken."""
    from officellm.cli.output import Outlet
    from officellm.cli.plugindetails import inspected

    listed = installed()
    bare, _, package = name.partition("@")
    wanted = [
        one
        for one in listed
        if one.offer.name == bare and package in ("", one.offer.package) and kind in (None, one.kind)
    ]
    if not wanted:
        known = {one.offer.name for one in listed if kind in (None, one.kind)}
        raise PluginNotFoundError(f"no {kind or 'plugin'} named {name!r} is installed.{nearest(bare, known)}")
    outlet = Outlet()
    shown = [{**one.to_dict(), **inspected(one.offer, one.kind)} for one in wanted]
    if as_json:
        outlet.text(json.dumps(shown, indent=2, ensure_ascii=False, default=str))
    else:
        outlet.text("\n\n".join(_details(one) for one in shown))
    return 1 if any("problem" in one for one in shown) else 0


def _details(shown: dict[str, Any]) -> str:
    lines = []
    for key, value in shown.items():
        text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, default=str)
        lines.append(f"{key}: {text}" if text else f"{key}: none")
    return "\n".join(lines)
