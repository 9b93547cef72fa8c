"""The catalog `mcp`: the tools of an external MCP server, over stdio or streamable HTTP, with the official SDK."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from officellm import ConfigError, Context, HttpFactory, ToolError, ToolSpec, dump_text, hookimpl

if TYPE_CHECKING:
    from officellm_builtin.catalogs._mcp_connection import Connection


class McpSettings(BaseModel):
    """One server: a `command` to start, or a `url`.

    A command gets the variables in `env` and a few harmless ones of ours (PATH, HOME, ...), never our keys. `allow` and
    `deny` are names or patterns, and deny wins. `timeout` bounds each call, in seconds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: list[str] | None = None
    url: str | None = None
    env: dict[str, str] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    cwd: str | None = None
    allow: list[str] | None = None
    deny: list[str] = Field(default_factory=list)
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 60.0

    @model_validator(mode="after")
    def _command_or_url(self) -> McpSettings:
        if (self.command is None) == (self.url is None) or self.command == []:
            raise ValueError("give a command or a url, one of the two")
        return self

    def offers(self, name: str) -> bool:
        """Whether a tool of this name is offered."""
        allowed = self.allow is None or any(fnmatchcase(name, pattern) for pattern in self.allow)
        return allowed and not any(fnmatchcase(name, pattern) for pattern in self.deny)


class McpCatalog:
    """Tools of one server. It is started when they are first asked for, and again where it died."""

    def __init__(self, name: str, settings: McpSettings) -> None:
        self._name = name
        self._settings = settings
        self._connection: Connection | None = None

    @property
    def stale(self) -> bool:
        """Whether the server said that its list of tools is another one now."""
        return self._connection is not None and self._connection.changed

    async def tools(self) -> Sequence[ToolSpec]:
        """The tools that are allowed. Raises `ConfigError` for a server that cannot be reached."""
        found = await self._connected().listing()
        return [ToolSpec(one.name, one.description or "", one.input_schema) for one in found if self._offers(one.name)]

    async def call(self, name: str, arguments: Mapping[str, Any], context: Context) -> Any:
        """The text that the tool gave. Raises `ToolError` for its errors, and for a server that is away."""
        if not self._offers(name):
            raise ToolError(f"Error: the tool {name!r} of {self._name!r} is not allowed")
        meta = {"idempotencyKey": context.idempotency_key, "runId": context.run_id, "agent": context.agent}
        result = await self._connected().call(name, dict(arguments), meta)
        text = _text_of(result)
        if result.is_error:
            raise ToolError(text if text.startswith("Error") else f"Error: {text or 'the tool failed'}")
        return text

    async def aclose(self) -> None:
        """Stop the server, or leave it."""
        if self._connection is not None:
            await self._connection.aclose()
            self._connection = None

    def _offers(self, name: str) -> bool:
        return self._settings.offers(name)

    def _connected(self) -> Connection:
        if self._connection is None:
            from officellm_builtin.catalogs._mcp_connection import Connection

            self._connection = Connection(self._name, self._settings)
        return self._connection


def _text_of(result: Any) -> str:
    """The text parts; what is no text is named; the structured form where there is nothing else."""
    parts = []
    for part in result.content:
        if part.type == "text":
            parts.append(part.text)
        elif part.type == "resource" and getattr(part.resource, "text", None) is not None:
            parts.append(part.resource.text)
        else:
            parts.append(f"[{part.type} {getattr(part, 'mime_type', None) or ''}]".replace(" ]", "]"))
    if not parts and result.structured_content is not None:
        return dump_text(result.structured_content)
    return "\n".join(parts)


@hookimpl
def settings_model(kind: str, name: str) -> type[BaseModel]:
    return McpSettings


@hookimpl
def make_catalog(name: str, settings: McpSettings, http: HttpFactory) -> McpCatalog:
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise ConfigError(f"mcp_servers.{name} needs the package mcp: pip install 'officellm[mcp]'")
    return McpCatalog(name, settings)
