"""Which commands there are: a table of our own, and those of installed packages, read from metadata."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

from officellm.errors import PluginBrokenError, PluginConflictError, nearest
from officellm.kinds import COMMANDS

if TYPE_CHECKING:
    import click

    from officellm.provenance import Offer

#: A command's name, the module that holds it under that name, and its line in `--help`.
BUILT_IN: dict[str, tuple[str, str]] = {
    "run": ("officellm.cli.run", "Work a task through to its outcome."),
    "call": ("officellm.cli.call", "Run one agent, without a manager or a router."),
    "init": ("officellm.cli.init", "Write a team file to start from."),
    "check": ("officellm.cli.check", "Check a team file or a task file."),
    "graph": ("officellm.cli.graph", "Draw a team, a workflow, a plan or a finished run."),
    "tools": ("officellm.cli.tools", "List what each agent may call."),
    "plugins": ("officellm.cli.plugins", "List installed plugins, importing none."),
    "wire": ("officellm.cli.wire", "Translate files to and from a wire format."),
    "testing": ("officellm.cli.testing", "Tools for tests: the fake LLM server."),
}


@cache
def _offers() -> tuple[Offer, ...]:
    from officellm.provenance import offers

    return tuple(offers(COMMANDS))


def third_party() -> dict[str, Offer]:
    """Commands that packages add, by the name to type; one that two packages offer is typed `name@package`."""
    offers = [offer for offer in _offers() if offer.name not in BUILT_IN]
    names = [offer.name for offer in offers]
    return {offer.name if names.count(offer.name) == 1 else offer.qualified: offer for offer in offers}


def shadowed() -> list[Offer]:
    """Commands of packages that are ignored, because a built-in command has their name."""
    return [offer for offer in _offers() if offer.name in BUILT_IN]


def load(name: str) -> click.Command | None:
    """The command of this name, None where there is none. Raises `PluginConflictError`, `PluginBrokenError`."""
    if name in BUILT_IN:
        module = importlib.import_module(BUILT_IN[name][0])
        return getattr(module, name)  # type: ignore[no-any-return]
    added = third_party()
    offer = added.get(name) or next((one for one in added.values() if one.qualified == name), None)
    if offer is not None:
        return load_offer(offer)
    rivals = [one for one in added.values() if one.name == name]
    if rivals:
        who = " and ".join(f"{one.package} {one.version}" for one in rivals)
        choose = " or ".join(repr(one.qualified) for one in rivals)
        raise PluginConflictError(f"the command {name!r} is offered by {who}: type {choose}")
    return None


def suggestion(name: str) -> str:
    """What may have been meant."""
    return nearest(name, [*BUILT_IN, *third_party()])


def load_offer(offer: Offer) -> click.Command:
    """A package's command, imported now. Raises `PluginBrokenError`."""
    import click

    module_name, _, attribute = offer.module.partition(":")
    who = f"the command {offer.name!r} ({offer.package} {offer.version})"
    try:
        module = importlib.import_module(module_name.strip())
    except (Exception, SystemExit) as error:
        lines = str(error).splitlines() or [""]
        raise PluginBrokenError(f"{who} cannot be imported: {type(error).__name__}: {lines[0]}") from error
    found = getattr(module, attribute.strip() or offer.name, None)
    if not isinstance(found, click.Command):
        raise PluginBrokenError(f"{who}: {offer.module!r} holds no click command")
    return found
