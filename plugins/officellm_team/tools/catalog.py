"""The catalog `board`: the tools of all subjects for the agents of a run, each call made in its caller's name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from officellm import Context, Tool, ToolError, ToolOptions, ToolSpec, dump_text, in_thread
from officellm_team.board.caller import Caller
from officellm_team.board.errors import BoardError
from officellm_team.board.store import Board
from officellm_team.board.texts import refuse_unstorable
from officellm_team.tools.base import Marks, Tools, marks_of


@dataclass(frozen=True, slots=True)
class BoardTool:
    """One tool: its class and method, its marks, and the two faces of its schema."""

    name: str
    subject: type[Tools]
    marks: Marks
    tool: Tool
    #: What models see: without the parameter that holds the caller.
    spec: ToolSpec

    def run(self, board: Board, caller: Caller, arguments: Mapping[str, Any]) -> Any:
        """Call it with arguments as they came. Raises `BoardError`."""
        from officellm import ArgumentsError

        given = dict(arguments)
        if self.marks.caller:
            given[self.marks.caller] = caller.name
        try:
            checked = self.tool.validate(given)
        except ArgumentsError as error:
            raise BoardError("invalid_arguments", f"{self.name}: {error}") from None
        refuse_unstorable(self.name, checked)
        who = Caller(caller.name, caller.operator, caller.gated or self.marks.gated)
        return getattr(self.subject(board, who), self.name)(**checked)


def tools_of(subjects: Sequence[type[Tools]]) -> dict[str, BoardTool]:
    """The tools of these classes by name, in order."""
    found: dict[str, BoardTool] = {}
    for subject in subjects:
        for name, method in vars(subject).items():
            marks = marks_of(method)
            if marks is not None:
                found[name] = _tool(subject, name, method, marks)
    return found


def _tool(subject: type[Tools], name: str, method: Any, marks: Marks) -> BoardTool:
    tool = Tool(method.__get__(object.__new__(subject)), ToolOptions(name=name, sequential=not marks.reads))
    parameters = dict(tool.spec.parameters)
    if marks.caller:
        assert marks.caller in inspect.signature(method).parameters, f"{name} has no parameter {marks.caller}"
        parameters["properties"] = {
            key: value for key, value in parameters["properties"].items() if key != marks.caller
        }
        parameters["required"] = [key for key in parameters.get("required", ()) if key != marks.caller]
    return BoardTool(name, subject, marks, tool, ToolSpec(name, tool.spec.description, parameters))


class BoardCatalog:
    """`Catalog` of a board's tools. The board is opened when its tools are asked for."""

    def __init__(self, opened: Callable[[], Board], tools: Mapping[str, BoardTool]) -> None:
        self._open = opened
        self._board: Board | None = None
        self._tools = dict(tools)

    async def tools(self) -> Sequence[ToolSpec]:
        """All tools, in the order of the reference; which an agent gets, its team file says. Raises `ConfigError`."""
        if self._board is None:
            opened = await in_thread(self._open)
            if self._board is None:
                self._board = opened
            else:  # two asked at once
                opened.close()
        return [tool.spec for tool in self._tools.values()]

    async def call(self, name: str, arguments: Mapping[str, Any], context: Context) -> Any:
        """Run one tool in the caller's name. Raises `ToolError` with the code and the words of a refusal."""
        tool, board = self._tools[name], self._board
        assert board is not None
        try:
            return await in_thread(lambda: tool.run(board, Caller(context.agent), arguments))
        except BoardError as error:
            raise ToolError(f"Error: {dump_text(error.to_dict())}") from None

    async def aclose(self) -> None:
        """Close the board's connections; a later call opens them again."""
        if self._board is not None:
            self._board.close()
