"""What an MCP client sees of a team: the tools of its board, and each agent as a tool. Every call has one caller."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from mcp import types
from mcp.server.lowlevel import Server

from officellm import ConfigError, Office, OfficeError, ToolSpec, __version__, in_thread, nearest
from officellm_team.board.caller import Caller
from officellm_team.board.errors import BoardError
from officellm_team.board.store import Board
from officellm_team.tools.catalog import BoardTool

log = logging.getLogger("officellm")


class TeamServer:
    """Answers in the name of `caller`, which no argument can change. `allow` opens tools that are off by default."""

    def __init__(
        self,
        board: Board,
        tools: Mapping[str, BoardTool],
        caller: str,
        *,
        office: Office | None = None,
        allow: Sequence[str] = (),
    ) -> None:
        self._board = board
        self._caller = Caller(caller)
        self._tools = {name: tool for name, tool in tools.items() if not tool.marks.gated or _allowed(name, allow)}
        self._office = office
        agents = {} if office is None else {name: office.agent_spec(name) for name in office.agents}
        both = sorted(set(agents) & set(self._tools))
        if both:
            raise ConfigError(f"an agent and a tool of the board share the name {both[0]!r}")
        self._agents: dict[str, ToolSpec] = agents

    def server(self) -> Server[Any]:
        """The protocol server; one for each connection or HTTP application."""
        return Server(
            "officellm",
            version=__version__,
            instructions="The board of a team of agents: queue work with task_create and task_assign, read results.",
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    async def _list(self, context: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        found = [_described(tool.tool.spec, tool) for tool in self._tools.values()]
        found += [_described(spec) for spec in self._agents.values()]
        return types.ListToolsResult(tools=found)

    async def _call(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        name, arguments = params.name, dict(params.arguments or {})
        tool = self._tools.get(name)
        try:
            if tool is not None:
                return _result(await in_thread(lambda: tool.run(self._board, self._caller, arguments)))
            if name in self._agents:
                return await self._ask_agent(name, arguments)
        except BoardError as error:
            return _result(error.to_dict(), is_error=True)
        except Exception:
            log.exception("the tool %s failed", name)
            return _result({"error": {"code": "failed", "message": f"{name} failed; the server's log says why"}}, True)
        known = [*self._tools, *self._agents]
        said = {"code": "unknown_tool", "message": f"there is no tool {name!r}.", "hint": nearest(name, known).strip()}
        return _result({"error": said}, is_error=True)

    async def _ask_agent(self, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        assert self._office is not None
        try:
            result = await self._office.call(name, **arguments)
        except (OfficeError, TypeError) as error:
            return _result({"error": {"code": "invalid_arguments", "message": str(error)}}, is_error=True)
        return _result(result.to_dict(), is_error=not result.success, text=result.content or result.error)


def _allowed(name: str, allow: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in allow)


def _described(spec: ToolSpec, tool: BoardTool | None = None) -> types.Tool:
    schema = json.loads(json.dumps(spec.parameters))
    notes = None
    if tool is not None:
        # Whoever it names, the caller is the connection's: nobody has to say so.
        schema["required"] = [key for key in schema.get("required", ()) if key != tool.marks.caller]
        notes = types.ToolAnnotations(
            read_only_hint=tool.marks.reads, destructive_hint=tool.marks.gated, open_world_hint=False
        )
    return types.Tool(name=spec.name, description=spec.description, input_schema=schema, annotations=notes)


def _result(value: Any, is_error: bool = False, *, text: str | None = None) -> types.CallToolResult:
    """Structured, and as text for clients that read nothing else."""
    said = text if text is not None else json.dumps(value, ensure_ascii=False, default=str)
    structured = value if isinstance(value, dict) else {"result": value}
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=said)], structured_content=structured, is_error=is_error
    )
