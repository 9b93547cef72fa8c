"""Looks into one plugin, which imports it: its hooks and its settings, or what is wrong with it."""

from __future__ import annotations

import inspect
from typing import Any

from officellm import hookspecs, shelf
from officellm.cli import commands
from officellm.errors import PluginError
from officellm.host import Host
from officellm.kinds import COMMANDS, Kind
from officellm.provenance import Offer


def inspected(offer: Offer, kind: str) -> dict[str, Any]:
    """`hooks`, `about` and `settings` of a plugin; `state` and `problem` of one that is broken. Never raises."""
    try:
        return _command(offer) if offer.group == COMMANDS else _plugin(offer, kind)
    except PluginError as error:
        return {"state": "broken", "problem": str(error)}


def _command(offer: Offer) -> dict[str, Any]:
    command = commands.load_offer(offer)
    return {"about": command.get_short_help_str(limit=200)}


def _plugin(offer: Offer, kind: str) -> dict[str, Any]:
    module = shelf.load_from(offer.group, offer.qualified, kind)
    mark = f"{hookspecs.PROJECT}_impl"
    hooks = [name for name in dir(module) if hasattr(inspect.getattr_static(module, name), mark)]
    out: dict[str, Any] = {"about": (inspect.getdoc(module) or "").partition("\n")[0], "hooks": ", ".join(hooks)}
    if kind not in list(Kind):
        return out
    model = Host(discover=False).settings_model(Kind(kind), offer.qualified)
    out["settings"] = model.model_json_schema() if model is not None else ""
    return out
