"""Checks the blocks of a team file that plugins understand, with the settings models of their drivers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from officellm.errors import ConfigError
from officellm.files.boardtools import BOARD
from officellm.files.fitting import fit
from officellm.files.places import KeyPath, Problem
from officellm.kinds import Kind
from officellm.limits import Limits
from officellm.messages import Reply, Request
from officellm.presets import PRESETS

if TYPE_CHECKING:
    from officellm.files.teamfile import TeamFile
    from officellm.host import Host


def driver_problems(team: TeamFile, host: Host) -> list[Problem]:
    """A problem for each driver that is not installed, and for each setting that it does not take."""
    model = team.model
    found: list[Problem] = []
    for name, block in model.providers.items():
        settings = {key: value for key, value in block.items() if key != "format"}
        at: KeyPath = ("providers", name)
        found += _problems(team, host, Kind.PROVIDER, provider_driver(name, block), settings, at, (*at, "format"))
    if model.router is not None:
        settings = model.router.settings
        found += _problems(team, host, Kind.ROUTER, model.router.name, settings, ("router",), ("router", "name"))
    elif model.defaults.router is not None:
        found += _problems(team, host, Kind.ROUTER, model.defaults.router, {}, (), ("defaults", "router"))
    orchestrator = model.orchestrator
    if orchestrator is not None and orchestrator.name is not None:
        at = ("orchestrator",)
        settings = orchestrator.settings
        found += _problems(team, host, Kind.ORCHESTRATOR, orchestrator.name, settings, at, (*at, "name"))
    elif model.defaults.orchestrator is not None:
        at = ("defaults", "orchestrator")
        found += _problems(team, host, Kind.ORCHESTRATOR, model.defaults.orchestrator, {}, (), at)
    if model.board is not None:
        settings = dict(team.catalogs()[BOARD])
        found += _problems(team, host, Kind.CATALOG, BOARD, settings, (BOARD,), (BOARD,))
    for name, block in model.catalogs.items():
        settings = {key: value for key, value in block.items() if key != "name"}
        at = ("catalogs", name)
        found += _problems(team, host, Kind.CATALOG, str(block.get("name", name)), settings, at, at)
    for name, settings in model.policies.items():
        at = ("policies", name)
        found += _problems(team, host, Kind.LIMIT, name, settings, at, at)
    return found


def provider_driver(name: str, block: Mapping[str, Any]) -> str:
    """The driver of a provider block: its format, its preset's, or its own name."""
    preset = PRESETS.get(name)
    return str(block.get("format") or (preset.format if preset is not None else name))


def _problems(
    team: TeamFile, host: Host, kind: Kind, driver: str, settings: Mapping[str, Any], at: KeyPath, named_at: KeyPath
) -> list[Problem]:
    document = team.document
    try:
        model = host.settings_model(kind, driver)
    except ConfigError as error:
        return [document.problem(named_at, str(error))]
    if model is None:
        return [document.problem((*at, key), f"the {kind.value} {driver!r} takes no settings") for key in settings]
    if model is Limits:
        wrong = f"the {kind.value} {driver!r} follows the key limits and takes no settings of its own"
        return [document.problem((*at, key), wrong) for key in settings]
    fitted, problems = fit(model, dict(settings), document, at)
    if kind in (Kind.ROUTER, Kind.ORCHESTRATOR) and not problems:
        try:
            # Hooks do no I/O, and a driver may know more than its settings' shape: a rule that cannot be read, say.
            if kind is Kind.ROUTER:
                host.router(driver, fitted, _never_asked)
            else:
                host.orchestrator(driver, fitted)
        except ConfigError as error:
            return [document.problem(at, str(error))]
    return problems


async def _never_asked(request: Request) -> Reply:
    raise AssertionError("a router may not ask while it is made")
