"""What a check knows of catalogs that it does not open: the board, and MCP servers that nobody started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from officellm.errors import ConfigError
from officellm.files.boardtools import BOARD, BOARD_TOOLS
from officellm.files.places import KeyPath, Problem
from officellm.files.teamrules import is_reference
from officellm.kinds import Kind
from officellm.messages import ToolSpec

if TYPE_CHECKING:
    from officellm.files.teamfile import TeamFile
    from officellm.host import Host
    from officellm.protocols import Catalog
    from officellm.tools import Context


class Listed:
    """A catalog by the names of its tools alone."""

    def __init__(self, names: Sequence[str]) -> None:
        self._specs = [ToolSpec(name, "", {"type": "object"}) for name in names]

    async def tools(self) -> Sequence[ToolSpec]:
        """What it was given."""
        return self._specs

    async def call(self, name: str, arguments: Mapping[str, Any], context: Context) -> Any:
        """Nothing is called in a check."""
        raise ConfigError("a check calls no tool")


class Away:
    """The catalogs of a team for its check. With `ping` those that can be asked are the real ones.

    `known` are tools that are there: what else an agent names, an MCP server may have.
    """

    def __init__(self, team: TeamFile, host: Host, known: Sequence[str], *, ping: bool) -> None:
        self._team = team
        self._host = host
        self.problems: list[Problem] = []
        self.doubts: list[Problem] = []
        self.catalogs: dict[str, Catalog | Mapping[str, Any]] = dict(team.catalogs())
        self._servers = dict.fromkeys(team.model.mcp_servers)
        if BOARD in self.catalogs:
            self._put_away((BOARD,), sorted(BOARD_TOOLS), asked=ping and "://" in team.board_url)
        named = self._named(known)
        for name in self._servers:
            self._put_away(("mcp_servers", name), named[name], asked=ping)
            if not ping:
                what = "its tools are not known without starting it: --ping does"
                self.doubts.append(team.document.problem(("mcp_servers", name), what))

    def _put_away(self, path: KeyPath, names: Sequence[str], *, asked: bool) -> None:
        """Make the catalog, which does no I/O and says what it needs; then forget it, where it is not to be asked."""
        name = str(path[-1])
        given = dict(self._team.catalogs()[name])
        driver = str(given.pop("name", name))
        try:
            settings = self._host.settings(Kind.CATALOG, driver, given)
        except ConfigError:
            return  # said elsewhere, at the line of each key
        try:
            self._host.catalog(driver, name, settings, _no_network)
        except ConfigError as error:
            self.problems.append(self._team.document.problem(path, str(error)))
        if not asked:
            self.catalogs[name] = Listed(names)

    def _named(self, known: Sequence[str]) -> dict[str, list[str]]:
        """The tools that agents name, by the server that may have them."""
        found: dict[str, list[str]] = {name: [] for name in self._servers}
        for member in self._team.names.members():
            for pattern in member.block.tools.allow or ():
                if is_reference(pattern) or "*" in pattern or pattern in known or pattern in BOARD_TOOLS:
                    continue
                server, dot, tool = pattern.partition(".")
                if dot and server in found:
                    found[server].append(tool)
                elif not dot and found:
                    next(iter(found.values())).append(pattern)
        return {name: list(dict.fromkeys(tools)) for name, tools in found.items()}


def _no_network() -> Any:
    raise ConfigError("a check uses no network")
