"""The team file: found, read, checked, and made into an office. Its keys are those of `teammodel`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from officellm.errors import ConfigError, ConfigErrors
from officellm.files.boardtools import BOARD
from officellm.files.documents import parse, raise_all, read_text
from officellm.files.expansion import expand
from officellm.files.fitting import fit
from officellm.files.places import Document, KeyPath, Problem
from officellm.files.teamagents import AgentMaker
from officellm.files.teamdrivers import driver_problems
from officellm.files.teammodel import Named, Polling, TeamModel
from officellm.files.teamnames import Names
from officellm.files.teamrules import Rules
from officellm.presets import PRESETS, preset_url

if TYPE_CHECKING:
    from officellm.host import Host
    from officellm.office import Office

TEAM_NAMES = ("team.yaml", "team.yml", "team.toml", "officellm.yaml", "officellm.toml")


@dataclass(frozen=True, slots=True)
class TeamFile:
    """A team file that was read and makes sense. Plugins and the user's modules are looked at by `office()` only.

    `warnings` say what will be left out; `unavailable` what this version cannot do, which `office()` refuses.
    """

    path: Path
    document: Document
    model: TeamModel
    names: Names
    instructions: Mapping[KeyPath, str]
    warnings: tuple[str, ...]
    unavailable: tuple[Problem, ...]

    @property
    def agents(self) -> list[str]:
        """Names of the agents, in the order of the file."""
        return self.names.agents()

    @property
    def folder(self) -> Path:
        """Where prompt files and tool modules are looked for."""
        return self.path.absolute().parent

    @property
    def polling(self) -> Polling | None:
        """How the polling team is to work; None where the file has no `orchestrator` key."""
        return self.model.orchestrator

    def host(self) -> Host:
        """A host with the plugins that the file requires, configured by it. Raises `PluginError`."""
        from officellm.host import Host

        try:
            return Host(required=self.model.required, settings=self.model.plugins)
        except ConfigError as error:
            raise self.document.problem(("required",), str(error)).error() from None

    def office(self, *, default_tools: Sequence[str] = (), **changes: Any) -> Office:
        """The office of this team; `changes` replace arguments of `Office`. Raises `ConfigError` with every place.

        `default_tools` are those of agents that say nothing of tools.
        """
        from officellm.office import Office

        host = changes.get("host") or self.host()
        maker = AgentMaker(self, default_tools)
        agents = maker.agents()
        replaced = () if "providers" not in changes else ("providers",)
        drivers = [problem for problem in driver_problems(self, host) if not problem.key.startswith(replaced)]
        raise_all([*self.unavailable, *maker.problems, *drivers])
        manager = self.model.manager
        entry = agents.pop(manager.name) if manager is not None else None
        arguments = {"entry": entry, "agents": list(agents.values()), **self._arguments(), "host": host, **changes}
        try:
            return Office(**arguments)
        except ConfigError as error:
            if error.place is not None or isinstance(error, ConfigErrors):
                raise
            raise ConfigError(str(error), place=str(self.path)) from error

    def _arguments(self) -> dict[str, Any]:
        model = self.model
        orchestrator = model.orchestrator
        named = orchestrator is not None and orchestrator.name is not None
        return {
            "providers": model.providers,
            "limits": model.limits,
            "router": {"name": model.router.name, **model.router.settings} if model.router else model.defaults.router,
            "orchestrator": (
                {"name": orchestrator.name, **orchestrator.settings}
                if orchestrator is not None and named
                else model.defaults.orchestrator
            ),
            "catalogs": self.catalogs(),
            "tool_options": {
                name: options.model_dump(exclude_none=True) for name, options in model.tools.options.items()
            },
            "policies": model.policies,
        }

    def catalogs(self) -> dict[str, Mapping[str, Any]]:
        """The catalogs of this team as `Office` takes them."""
        modules = self.model.tools.modules
        own: dict[str, Mapping[str, Any]] = {}
        if modules:
            own["python"] = {"modules": modules, "path": [str(self.folder)]}
        if self.model.board is not None:
            own[BOARD] = {**self._board_settings(), "url": self.board_url}
        for name, server in self.model.mcp_servers.items():
            given = server.model_dump(exclude_unset=True)
            own[name] = {"name": "mcp", **given, **({"cwd": str(self.folder)} if server.command else {})}
        return {**own, **self.model.catalogs}

    def _board_settings(self) -> dict[str, Any]:
        """The board's settings, with models that are named `provider:name` as their endpoints."""
        assert self.model.board is not None
        settings = self.model.board.settings
        blocks = self.model.providers
        embedder = settings.get("embedder")
        if isinstance(embedder, str):
            provider, _, model = embedder.partition(":")
            block, preset = blocks.get(provider, {}), PRESETS.get(provider)
            address = block.get("base_url") or (preset_url(provider) if preset is not None else "")
            variable = block.get("api_key_env", preset.api_key_env if preset is not None else None)
            settings["embedder"] = {"model": model, "base_url": address, "api_key_env": variable}
        summarizer = settings.get("summarizer")
        if isinstance(summarizer, str):
            provider = summarizer.partition(":")[0]
            given = {provider: blocks[provider]} if provider in blocks else {}
            settings["summarizer"] = {"model": summarizer, "providers": given}
        return settings

    @property
    def board_url(self) -> str:
        """Where the board is: a file, found from the team file's folder, or an address; empty where there is none."""
        board = self.model.board
        if board is None:
            return ""
        return board.name if "://" in board.name else str(self.folder / board.name)


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading a team file came to: the team as far as it makes sense, and every problem."""

    team: TeamFile | None
    problems: list[Problem]
    warnings: list[Problem]


def load_team(path: str | Path, *, board: str | None = None) -> TeamFile:
    """The team of a YAML, TOML or JSON file. Raises `ConfigError` with one line for each problem.

    `board` is where the board is if the file does not say.
    """
    reading = read_team(path, board=board)
    raise_all(reading.problems)
    assert reading.team is not None
    return reading.team


def read_team(path: str | Path, *, board: str | None = None) -> Reading:
    """Like `load_team`, but problems of keys are returned. Raises `ConfigError` for what is no document at all."""
    path = Path(path)
    document = parse(read_text(path), file=str(path), suffix=path.suffix)
    if not isinstance(document.value, Mapping):
        raise document.problem((), "a team file is a mapping with the key agents").error()
    value, problems = expand(document, os.environ)
    model, misfits = fit(TeamModel, value, document)
    problems += misfits
    if model is None:
        return Reading(None, problems, [])
    if model.board is None and board is not None:
        model = model.model_copy(update={"board": Named(name=board)})
    rules = Rules(document, model, path.absolute().parent)
    rules.check()
    problems += rules.problems
    team = TeamFile(
        path,
        document,
        model,
        rules.names,
        rules.instructions,
        tuple(map(str, rules.warnings)),
        tuple(rules.unavailable),
    )
    return Reading(team, problems, rules.warnings)


def find_team(start: Path) -> Path | None:
    """The nearest team file in a folder or above it."""
    start = start.absolute()
    for folder in (start, *start.parents):
        for name in TEAM_NAMES:
            if (folder / name).is_file():
                return folder / name
    return None
