"""One supervised connection to an MCP server: started on first use, shared by all calls, begun again where it died."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import httpx2
from mcp import Client, MCPError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost

from officellm import ConfigError, ToolError

if TYPE_CHECKING:
    from officellm_builtin.catalogs.mcp import McpSettings

log = logging.getLogger("officellm")

#: How long a server may take to start and to say hello, and to end, in seconds.
START_SECONDS = 30.0
STOP_SECONDS = 5.0
#: Pages of a listing that are read at most: a server must not keep us for ever.
_PAGES = 100


class Connection:
    """The SDK's client lives in a task of its own, as it must be left where it was entered."""

    def __init__(self, name: str, settings: McpSettings) -> None:
        self._name = name
        self._settings = settings
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._close = asyncio.Event()
        self._starting = asyncio.Lock()
        #: Whether the server announced another list of tools.
        self.changed = False

    async def listing(self) -> list[types.Tool]:
        """All tools. Raises `ConfigError`."""
        try:
            client = await self._started()
            async with asyncio.timeout(self._settings.timeout):
                self.changed = False
                found: list[types.Tool] = []
                cursor: str | None = None
                for _ in range(_PAGES):
                    page = await client.list_tools(cursor=cursor, cache_mode="refresh")
                    found += page.tools
                    cursor = page.next_cursor
                    if not cursor:
                        return found
        except asyncio.CancelledError:
            raise
        except ConfigError:
            raise
        except Exception as error:
            raise ConfigError(f"the MCP server {self._name!r} does not list its tools: {_said(error)}") from error
        raise ConfigError(f"the MCP server {self._name!r} lists its tools without an end")

    async def call(self, name: str, arguments: dict[str, Any], meta: dict[str, Any]) -> types.CallToolResult:
        """One call. Raises `ToolError`: the trouble of a server is one error result, never the run's end."""
        client: Client | None = None
        try:
            client = await self._started()
            async with asyncio.timeout(self._settings.timeout):
                return await client.call_tool(name, arguments, meta=meta)  # type: ignore[arg-type]
        except TimeoutError:
            raise ToolError(
                f"Error: {name!r} of the MCP server {self._name!r} did not answer within {self._settings.timeout:g} s"
            ) from None
        except ConfigError as error:
            raise ToolError(f"Error: {error}") from None
        except asyncio.CancelledError:
            raise
        except Exception as error:
            log.debug("the MCP server %s failed in %s", self._name, name, exc_info=error)
            if not (isinstance(error, MCPError) and error.code != types.CONNECTION_CLOSED):
                await self._drop(client)
            raise ToolError(f"Error: the MCP server {self._name!r} failed: {_said(error)}") from None

    async def _drop(self, client: Client | None) -> None:
        """Give a broken connection up, unless another call has done so, and a new one is there."""
        async with self._starting:
            if client is not None and self._client is client:
                await self.aclose()

    def _alive(self) -> bool:
        return self._task is not None and not self._task.done()

    async def _started(self) -> Client:
        """The client, started once however many calls wait for it. Raises `ConfigError`."""
        async with self._starting:
            if self._client is not None and self._alive():
                return self._client
            await self.aclose()
            self._close = asyncio.Event()
            ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._live(ready), name=f"mcp-{self._name}")
            try:
                async with asyncio.timeout(START_SECONDS):
                    self._client = await asyncio.shield(ready)
            except TimeoutError:
                await self.aclose()
                raise ConfigError(
                    f"the MCP server {self._name!r} did not say hello within {START_SECONDS:g} s"
                ) from None
            return self._client

    async def _live(self, ready: asyncio.Future[Client]) -> None:
        try:
            async with self._transport() as transport, Client(transport, message_handler=self._hear) as client:
                ready.set_result(client)
                watching = asyncio.create_task(self._watch(client))
                try:
                    await self._close.wait()
                finally:
                    watching.cancel()
                    await asyncio.wait([watching])
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            if not ready.done():
                ready.set_exception(ConfigError(f"the MCP server {self._name!r} cannot be used: {_said(error)}"))
            log.debug("the MCP server %s ended", self._name, exc_info=error)
        finally:
            self._client = None
            if not ready.done():
                ready.set_exception(ConfigError(f"the MCP server {self._name!r} ended before it began"))
            ready.exception() if not ready.cancelled() else None

    @contextlib.asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        settings = self._settings
        if settings.url is not None:
            # A response stream may stay open for long: calls have their own deadline.
            async with httpx2.AsyncClient(headers=settings.headers, timeout=httpx2.Timeout(30, read=300)) as http:
                yield streamable_http_client(settings.url, http_client=http)
            return
        assert settings.command is not None
        program, *arguments = settings.command
        server = StdioServerParameters(command=program, args=arguments, env=settings.env or None, cwd=settings.cwd)
        yield stdio_client(server, errlog=sys.stderr)

    async def _watch(self, client: Client) -> None:
        """Hear of another list of tools; servers of the protocol before 2026-07-28 tell it by `_hear`."""
        try:
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self.changed = True
        except (ListenNotSupportedError, MCPError, SubscriptionLost, TimeoutError) as error:
            log.debug("the MCP server %s tells no changes of its tools: %s", self._name, error)

    async def _hear(self, message: Any) -> None:
        if isinstance(getattr(message, "root", message), types.ToolListChangedNotification):
            self.changed = True

    async def aclose(self) -> None:
        """End the task, and with it the server or the connection."""
        task, self._task, self._client = self._task, None, None
        if task is None:
            return
        self._close.set()
        done, _ = await asyncio.wait([task], timeout=STOP_SECONDS)
        if not done:
            task.cancel()
            await asyncio.wait([task], timeout=STOP_SECONDS)


def _said(error: BaseException) -> str:
    """What an error says; of a group of them, what the first one says."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return str(error) or type(error).__name__
