"""What the keys of a team file must mean together. No plugin and no module of the user is imported here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from officellm.cycles import cycles
from officellm.errors import ConfigError, nearest
from officellm.files.boardtools import BOARD, BOARD_TOOLS, is_board_tool, names_of
from officellm.files.documents import read_text
from officellm.files.places import Document, KeyPath, Problem
from officellm.files.teammodel import AgentBlock, Polling, TeamModel
from officellm.files.teamnames import Member, Names, WrongNameError
from officellm.transcript import LEGAL_NAME, LEGAL_NAME_IN_WORDS


class Rules:
    """Looks at one team file. `problems` stop the load, `unavailable` stop an office, `warnings` stop nothing."""

    def __init__(self, document: Document, model: TeamModel, folder: Path) -> None:
        self.problems: list[Problem] = []
        self.unavailable: list[Problem] = []
        self.warnings: list[Problem] = []
        #: What each agent is told, by its place.
        self.instructions: dict[KeyPath, str] = {}
        self.names = Names(model, document.value)
        self._document = document
        self._model = model
        self._folder = folder

    def check(self) -> None:
        """Look at everything."""
        members = self.names.members()
        if not members and self._document.at(("agents",)) in ([], self._document.value):
            self._wrong(("agents",), "a team needs at least one agent")
        self._check_names(members)
        for member in members:
            self._check_model(member)
            self._check_prompt(member)
            self._check_agent(member)
            self._check_rights(member)
        self._check_cycles(members)
        self._check_manager()
        self._check_providers()
        self._check_router()
        self._check_rest()

    def _wrong(self, path: KeyPath, message: str) -> None:
        self.problems.append(self._document.problem(path, message))

    def _check_names(self, members: list[Member]) -> None:
        known: dict[str, str] = {}
        seen: set[str] = set()
        for member in members:
            name, path = member.block.name, (*member.path, "name")
            if not name:
                written = self._document.at(member.path)
                if isinstance(written, Mapping) and written.get("name", "") == "":
                    self._wrong(path, "required and missing")
                continue
            if not LEGAL_NAME.match(name):
                self._wrong(path, f"the name {name!r} is not legal: {LEGAL_NAME_IN_WORDS}")
            other = known.setdefault(name.casefold(), name)
            if name in seen:
                self._wrong(path, f"two agents are named {name!r}")
            elif other != name:
                self._wrong(path, f"the names {other!r} and {name!r} differ only in case")
            seen.add(name)

    def _check_model(self, member: Member) -> None:
        defaults = self._model.defaults
        said: list[tuple[KeyPath, Any]] = [(("defaults", key), getattr(defaults, key)) for key in ("provider", "model")]
        said += [((*member.path, key), getattr(member.block, key)) for key in ("provider", "model")]
        if not isinstance(self._document.at(member.path), Mapping) or any(self._is_lost(*one) for one in said):
            return
        try:
            self.names.model_of(member.block)
        except WrongNameError as problem:
            path = problem.key if problem.absolute else (*member.path, *problem.key)
            found = self._document.problem(path, str(problem))
            if found not in self.problems:
                self.problems.append(found)

    def _is_lost(self, path: KeyPath, value: Any) -> bool:
        """Whether something stands in the file that did not fit, and has been reported."""
        return value is None and self._document.written(path) == path and self._document.at(path) is not None

    def _check_prompt(self, member: Member) -> None:
        block = member.block
        self.instructions[member.path] = block.system_prompt or ""
        if block.system_prompt_file is None:
            return
        path = (*member.path, "system_prompt_file")
        if block.system_prompt is not None:
            self._wrong(path, "give system_prompt or system_prompt_file, not both")
            return
        try:
            self.instructions[member.path] = read_text(self._folder / block.system_prompt_file)
        except ConfigError as error:
            self._wrong(path, str(error))

    def _check_agent(self, member: Member) -> None:
        block, path = member.block, member.path
        if block.max_turns is not None and block.limits.is_set("max_turns"):
            self._wrong((*path, "max_turns"), "give max_turns or limits.max_turns, not both")
        for index, model in enumerate(block.fallback):
            try:
                self.names.refuse_unknown_provider(model.partition(":")[0], ("fallback", index))
            except WrongNameError as problem:
                self._wrong((*path, *problem.key), str(problem))
        for key in ("workers", "transfers"):
            self._check_agents((*path, key), getattr(block, key) or (), block.name)
        params = block.params
        if isinstance(params, Mapping):
            self._check_schema((*path, "params"), params)
        elif params is not None and not (isinstance(params, str) and is_reference(params)):
            self._wrong((*path, "params"), "must be 'module:Model', or a JSON Schema as a mapping")

    def _check_agents(self, path: KeyPath, names: Iterable[str], owner: str) -> None:
        known = self.names.agents()
        for index, name in enumerate(names):
            if name == owner and name:
                self._wrong((*path, index), f"agent {name!r} cannot name itself here")
            elif name and name not in known:
                self._wrong((*path, index), f"unknown agent {name!r}.{nearest(name, known)}")

    def _check_schema(self, path: KeyPath, schema: Mapping[str, Any]) -> None:
        # Imported where a file brings a JSON Schema only: it is slow to load.
        from officellm.schemas import checker

        try:
            checker(schema)
        except (ConfigError, ValueError, RecursionError) as error:
            self._wrong(path, str(error) or "not a valid JSON Schema")

    def _check_rights(self, member: Member) -> None:
        left_out: list[str] = []
        for index, pattern in enumerate(member.block.tools.allow or ()):
            path = (*member.path, "tools", "allow", index)
            if ":" in pattern and not is_reference(pattern):
                self._wrong(path, f"{pattern!r} is neither a tool's name nor 'module:function'")
            elif is_board_tool(pattern) and self._model.board is None:
                left_out.append(pattern)
            elif pattern.startswith(f"{BOARD}.") and not names_of(pattern):
                known = nearest(pattern, [f"{BOARD}.{name}" for name in BOARD_TOOLS])
                self._wrong(path, f"the board has no tool {pattern!r}.{known}")
        if left_out:
            named = ", ".join(left_out)
            what = "these tools are left out, because no board is configured"
            if self._model.tools.modules:
                what = "no board is configured: these tools are left out unless tools.modules has them"
            self.warnings.append(self._document.problem((*member.path, "tools", "allow"), f"{what}: {named}"))

    def _check_cycles(self, members: list[Member]) -> None:
        workers = {member.block.name: self.names.workers(member.block) for member in members}
        places = {member.block.name: member.path for member in members}
        for circle in cycles(workers):
            if len(circle) > 2:
                self._wrong((*places[circle[0]], "workers"), f"workers form a cycle: {' -> '.join(circle)}")

    def _check_manager(self) -> None:
        manager, known = self._model.manager, self.names.agents()
        if manager is not None and not self.names.manager_is_block and manager.name not in known:
            self._wrong(("manager",), f"unknown agent {manager.name!r}.{nearest(manager.name, known)}")

    def _check_providers(self) -> None:
        for name, block in self._model.providers.items():
            written = block.get("format")
            if written is not None and not isinstance(written, str):
                self._wrong(("providers", name, "format"), "must be the name of a wire format")
            elif written is None and not self.names.is_known_without_block(name):
                hint = nearest(name, self.names.providers()[len(self._model.providers) :])
                self._wrong(("providers", name, "format"), f"required, because {name!r} is no preset.{hint}")

    def _check_router(self) -> None:
        router = self._model.router
        if router is None or router.name not in ("keyword", "llm"):
            return  # what the settings of other routers mean is theirs to say
        settings = router.settings
        routes = settings.get("routes")
        for keyword, target in routes.items() if isinstance(routes, Mapping) else ():
            targets = [target] if isinstance(target, str) else target if isinstance(target, list) else []
            for index, name in enumerate(targets):
                self._check_agent_name(("router", "routes", keyword, index), name)
        self._check_agent_name(("router", "default"), settings.get("default"))
        model = settings.get("model")
        if isinstance(model, str):
            try:
                self.names.model_of(AgentBlock(model=model))
            except WrongNameError as problem:
                self._wrong(problem.key if problem.absolute else ("router", *problem.key), str(problem))

    def _check_agent_name(self, path: KeyPath, name: Any) -> None:
        known = self.names.agents()
        if isinstance(name, str) and name not in known:
            self._wrong(path, f"unknown agent {name!r}.{nearest(name, known)}")

    def _check_rest(self) -> None:
        model = self._model
        orchestrator = model.orchestrator
        if orchestrator is not None and orchestrator.name is None:
            for key in orchestrator.settings:
                known = nearest(key, Polling.model_fields)
                self._wrong(("orchestrator", key), f"unknown key, and no orchestrator is named that knows it.{known}")
        for name, server in model.mcp_servers.items():
            if (server.command is None) == (server.url is None):
                self._wrong(("mcp_servers", name), "give a command or a url, one of the two")
        if BOARD in model.mcp_servers:
            self._wrong(("mcp_servers", BOARD), "this name means the team's own board: choose another")
        self._check_unavailable()

    def _check_unavailable(self) -> None:
        model, document = self._model, self._document
        if model.engine.name != "local":
            wrong = f"{model.engine.name!r}: this version runs in this process only; say 'local'"
            self.unavailable.append(document.problem(("engine",), wrong))
        if model.memory.store != "none":
            wrong = f"{model.memory.store!r}: this version keeps no memory yet; say 'none'"
            self.unavailable.append(document.problem(("memory",), wrong))


def is_reference(text: str) -> bool:
    """Whether a text is `module:name`, with dots in the module only."""
    module, colon, name = text.partition(":")
    return bool(colon) and name.isidentifier() and all(part.isidentifier() for part in module.split("."))
