"""Makes agents from the blocks of a team file; imports the Python objects that they name (`module:name`)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from officellm.agents import Agent
from officellm.errors import ConfigError, nearest
from officellm.files.boardtools import BOARD, is_board_tool
from officellm.files.places import KeyPath, Problem
from officellm.files.teamrules import is_reference
from officellm.limits import Limits
from officellm.tools import Tool, as_tool

if TYPE_CHECKING:
    from officellm.files.teamfile import TeamFile
    from officellm.files.teamnames import Member


def import_reference(reference: str, folder: Path) -> Any:
    """The object that `module:name` names; `folder` is searched before everything else. Raises `ConfigError`."""
    module_name, _, name = reference.partition(":")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise ConfigError(f"cannot import {module_name!r}: {type(error).__name__}: {error}") from error
    if not hasattr(module, name):
        raise ConfigError(f"{module_name!r} has no {name!r}.{nearest(name, [n for n in vars(module) if n[0] != '_'])}")
    return getattr(module, name)


class AgentMaker:
    """Makes the agents of one team; `problems` says at which lines that failed."""

    def __init__(self, team: TeamFile, default_tools: Sequence[str] = ()) -> None:
        self.problems: list[Problem] = []
        self._team = team
        self._default_tools = default_tools

    def agents(self) -> dict[str, Agent]:
        """Every agent by name, without those that cannot be made."""
        made: dict[str, Agent] = {}
        for member in self._team.names.members():
            agent = self._try(member.path, partial(self._agent, member))
            if agent is not None:
                made[agent.name] = agent
        return made

    def imports(self) -> set[str]:
        """Import what the agents name, and nothing more; the names of the functions that are tools."""
        found: set[str] = set()
        for member in self._team.names.members():
            found.update(tool.name for tool in self._tools(member) if isinstance(tool, Tool))
            self._params((*member.path, "params"), member.block.params)
        return found

    def _try(self, path: KeyPath, make: Callable[[], Any]) -> Any:
        try:
            return make()
        except ConfigError as error:
            self.problems.append(self._team.document.problem(path, str(error)))
            return None

    def _agent(self, member: Member) -> Agent:
        block, names = member.block, self._team.names
        limits = block.limits
        if block.max_turns is not None:
            limits = Limits.merge(Limits(max_turns=block.max_turns), limits)
        return Agent(
            block.name,
            block.description,
            model=names.model_of(block),
            fallback=block.fallback,
            fallback_on=block.fallback_on,
            instructions=self._team.instructions[member.path],
            tools=[tool for tool in self._tools(member) if tool is not None],
            workers=names.workers(block),
            params=self._params((*member.path, "params"), block.params),
            transfers=block.transfers,
            entry=block.entry,
            settings=block.settings,
            limits=limits,
            context_window=block.context_window,
            on_limit=block.on_limit,
            guidance=block.guidance,
            role=block.role,
            capabilities=block.capabilities,
            deny=[pattern.removeprefix(f"{BOARD}.") for pattern in block.tools.deny],
        )

    def _tools(self, member: Member) -> list[Tool | str | None]:
        """Functions first, so that a pattern that also finds one is no second tool of that name."""
        if member.block.tools.allow is None:
            return list(self._default_tools)
        functions: list[Tool | str | None] = []
        patterns: list[Tool | str | None] = []
        for index, item in enumerate(member.block.tools.allow):
            if is_reference(item):
                path = (*member.path, "tools", "allow", index)
                functions.append(self._try(path, partial(self._function, item)))
            elif self._team.model.board is not None or not is_board_tool(item):
                patterns.append(item)
            elif self._team.model.tools.modules and not item.startswith(f"{BOARD}."):
                # A tool of the user's may have the name of a board tool: as a pattern, it need not exist.
                patterns.append(f"*.{item}")
        return [*functions, *patterns]

    def _function(self, reference: str) -> Tool:
        found = import_reference(reference, self._team.folder)
        if not callable(found):
            raise ConfigError(f"{reference!r} is no function")
        return as_tool(found)

    def _params(self, path: KeyPath, params: Any) -> type[BaseModel] | Mapping[str, Any] | None:
        if not isinstance(params, str):
            return params  # type: ignore[no-any-return]
        model: type[BaseModel] | None = self._try(path, partial(self._params_model, params))
        return model

    def _params_model(self, reference: str) -> type[BaseModel]:
        found = import_reference(reference, self._team.folder)
        if not (isinstance(found, type) and issubclass(found, BaseModel)):
            raise ConfigError(f"{reference!r} is no pydantic model")
        return found
