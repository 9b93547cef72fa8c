"""Checks a team file as far as that goes without a network: plugins, modules, tools, keys. Finds every problem."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from officellm.errors import ConfigError, ConfigErrors, OfficeError, nearest
from officellm.files.away import Away
from officellm.files.boardtools import BOARD_TOOLS, is_board_tool
from officellm.files.places import KeyPath, Problem
from officellm.files.teamagents import AgentMaker
from officellm.files.teamdrivers import driver_problems
from officellm.files.teamfile import TeamFile, read_team
from officellm.files.teamnames import WrongNameError
from officellm.files.teamrules import is_reference
from officellm.kinds import Kind
from officellm.presets import PRESETS

if TYPE_CHECKING:
    from officellm.host import Host
    from officellm.office import Office
    from officellm.setup import Setup

#: The catalog that `tools.modules` makes.
_CATALOG = "python"
_PING_SECONDS = 20


@dataclass(frozen=True, slots=True)
class AgentSummary:
    """An agent as it would run."""

    name: str
    model: str
    tools: list[str]
    workers: list[str]


@dataclass(frozen=True, slots=True)
class Ping:
    """What a provider said when it was asked for its models; `error` is None if it answered."""

    provider: str
    models: int = 0
    error: str | None = None


@dataclass(slots=True)
class Report:
    """What a check found. `agents` is empty where there are errors."""

    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    agents: list[AgentSummary] = field(default_factory=list)
    pings: list[Ping] = field(default_factory=list)


#: Why a vendor would refuse an agent's first request; None where it would not.
Refusal = Callable[["Setup"], str | None]


async def check_team(
    path: Path, *, ping: bool = False, board: str | None = None, refusal: Refusal | None = None
) -> Report:
    """Everything that can be said of a team file. Only `ping` uses the network and starts MCP servers.

    `board` is where the board is if the file does not say: it is never made, and opened by `ping` alone.
    `refusal` knows the vendors' rules.
    """
    report = Report()
    try:
        reading = read_team(path, board=board)
        report.errors += reading.problems
        report.warnings += reading.warnings
        if reading.team is not None:
            await _Check(reading.team, report, refusal).go(ping=ping)
    except ConfigError as error:
        report.errors += problems_of(error, str(path))
    for found in (report.errors, report.warnings):
        found[:] = sorted(dict.fromkeys(found), key=lambda problem: (problem.file, problem.line or 0))
    return report


def problems_of(error: ConfigError, file: str) -> list[Problem]:
    """The problems in an error, with its place taken apart again."""
    if isinstance(error, ConfigErrors):
        return [problem for one in error.problems for problem in problems_of(one, file)]
    place = error.place or file
    found = re.fullmatch(r"(.*?)(?::(\d+))?(?::(\d+))?", place, re.DOTALL)
    assert found is not None
    name, line, column = found.groups()
    text = str(error).removeprefix(f"{place}: ")
    return [Problem(name, int(line) if line else None, "", text, int(column) if column else None)]


class _Check:
    def __init__(self, team: TeamFile, report: Report, refusal: Refusal | None) -> None:
        self._team = team
        self._report = report
        self._refusal = refusal

    async def go(self, *, ping: bool) -> None:
        team, report = self._team, self._report
        report.errors += team.unavailable
        host = team.host()
        report.errors += driver_problems(team, host)
        maker = AgentMaker(team)
        functions = maker.imports()
        report.errors += maker.problems
        names = await self._check_tools(host, functions)
        self._check_keys()
        away = Away(team, host, [*names, *functions], ping=ping)
        report.errors += away.problems
        report.warnings += away.doubts
        if report.errors:
            return
        office = team.office(host=host, catalogs=away.catalogs)
        async with office:
            await self._summarize(office)
            if ping and not report.errors:
                names = sorted(self._providers())
                report.pings += await asyncio.gather(*(_ping(office, name) for name in names))

    def _wrong(self, path: KeyPath, message: str) -> None:
        self._report.errors.append(self._team.document.problem(path, message))

    def _doubtful(self, path: KeyPath, message: str) -> None:
        self._report.warnings.append(self._team.document.problem(path, message))

    async def _check_tools(self, host: Host, functions: set[str]) -> list[str]:
        """The names of the tools of `tools.modules`."""
        team = self._team
        # Names alone: nobody opens the board for them.
        board = sorted(BOARD_TOOLS) if team.model.board is not None else []
        found: list[str] = []
        for index, module in enumerate(team.model.tools.modules):
            try:
                values = {"modules": [module], "path": [str(team.folder)]}
                catalog = host.catalog(_CATALOG, _CATALOG, host.settings(Kind.CATALOG, _CATALOG, values), _no_network)
                found += [tool.name for tool in await catalog.tools()]
            except ConfigError as error:
                self._wrong(("tools", "modules", index), str(error).removeprefix("tools.modules: "))
                return found
        for member in team.names.members():
            at = (*member.path, "tools")
            for index, pattern in enumerate(member.block.tools.allow or ()):
                self._check_pattern((*at, "allow", index), pattern, [*found, *board])
            for index, pattern in enumerate(member.block.tools.deny):
                if not self._is_away(pattern) and not _matches(pattern, [*found, *functions, *board]):
                    self._doubtful((*at, "deny", index), f"{pattern!r} matches no tool")
        for name in team.model.tools.options:
            if name not in (*found, *functions) and not self._is_away(name):
                self._wrong(("tools", name), f"no tool is named {name!r}.{nearest(name, [*found, *functions])}")
        return found

    def _is_away(self, pattern: str) -> bool:
        """Whether the board or an MCP server may have it: theirs are not known here."""
        return is_board_tool(pattern) or bool(self._team.model.mcp_servers)

    def _check_pattern(self, path: KeyPath, pattern: str, names: list[str]) -> None:
        if is_reference(pattern) or self._is_away(pattern) or not pattern or _matches(pattern, names):
            return
        if "*" in pattern:
            self._doubtful(path, f"{pattern!r} matches no tool")
        else:
            hint = nearest(pattern, names) or " The key tools.modules names no module with tools."
            self._wrong(path, f"no tool is named {pattern!r}.{hint}")

    def _providers(self) -> dict[str, KeyPath]:
        """The providers that agents and the router use, and where the first of them says so."""
        names, router = self._team.names, self._team.model.router
        used: dict[str, KeyPath] = {}
        for member in names.members():
            try:
                model = names.model_of(member.block)
            except WrongNameError:
                continue
            key = "provider" if member.block.provider is not None else "model"
            used.setdefault(model.partition(":")[0], (*member.path, key))
            for index, other in enumerate(member.block.fallback):
                used.setdefault(other.partition(":")[0], (*member.path, "fallback", index))
        asked = router.settings.get("model") if router is not None else None
        if isinstance(asked, str) and ":" in asked:
            used.setdefault(asked.partition(":")[0], ("router", "model"))
        return used

    def _check_keys(self) -> None:
        blocks = self._team.model.providers
        for name, used_at in self._providers().items():
            block: Mapping[str, Any] = blocks.get(name, {})
            preset = PRESETS.get(name)
            variable = block.get("api_key_env", preset.api_key_env if preset is not None else None)
            address = block.get("base_url") or (preset.base_url if preset is not None else "")
            if isinstance(variable, str) and not os.environ.get(variable) and not _is_local(address):
                path = ("providers", name, "api_key_env") if "api_key_env" in block else used_at
                self._doubtful(path, f"the environment variable {variable} is not set: {name!r} will be refused")

    async def _summarize(self, office: Office) -> None:
        try:
            setups = await office.ready()
        except ConfigError as error:
            self._wrong(self._named_in(str(error)), str(error))
            return
        for name in office.agents:
            setup = setups.get(name)
            model = self._team.names.model_of(
                next(member.block for member in self._team.names.members() if member.block.name == name)
            )
            tools = [entry.spec.name for entry in setup.toolset.entries() if entry.kind == "tool"]
            self._report.agents.append(AgentSummary(name, model, tools, office.roster.workers(name)))
            said = self._refusal(setup) if self._refusal is not None else None
            if said is not None:
                self._doubtful(self._named_in(f"agent {name!r}"), f"its provider would refuse its requests: {said}")

    def _named_in(self, text: str) -> KeyPath:
        """The agent or the MCP server that a message is about."""
        members = [(f"agent {member.block.name!r}", member.path) for member in self._team.names.members()]
        servers = [(f"MCP server {name!r}", ("mcp_servers", name)) for name in self._team.model.mcp_servers]
        return next((path for name, path in [*members, *servers] if name in text), ())


def _matches(pattern: str, names: list[str]) -> bool:
    return any(fnmatchcase(name, pattern) or fnmatchcase(f"{_CATALOG}.{name}", pattern) for name in names)


def _is_local(address: Any) -> bool:
    return re.match(r"https?://(localhost|127\.|\[::1\])", str(address)) is not None


def _no_network() -> Any:
    raise ConfigError("a check uses no network")


async def _ping(office: Office, name: str) -> Ping:
    listing = getattr(office.providers.provider(name), "models", None)
    if listing is None:
        return Ping(name, error="this provider has no listing of models")
    try:
        async with asyncio.timeout(_PING_SECONDS):
            return Ping(name, models=len(await listing()))
    except TimeoutError:
        return Ping(name, error=f"no answer within {_PING_SECONDS} s")
    except OfficeError as error:
        return Ping(name, error=str(error))
