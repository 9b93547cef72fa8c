"""How MCP clients reach the server: over this process's stdin and stdout, or over streamable HTTP."""

from __future__ import annotations

import hmac
import os
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from io import TextIOWrapper
from typing import Any

import anyio

from officellm import ConfigError
from officellm_team.serving.server import TeamServer

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Callable[..., Awaitable[Any]], Callable[..., Awaitable[Any]]], Awaitable[None]]
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


async def serve_stdio(team: TeamServer) -> None:
    """Until the client closes our stdin. What tools print goes to stderr: stdout is the protocol's alone."""
    from mcp.server.stdio import stdio_server

    protocol = os.dup(1)
    os.dup2(2, 1)
    stdout = TextIOWrapper(os.fdopen(protocol, "wb"), encoding="utf-8")
    stdin = TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
    server = team.server()
    async with stdio_server(anyio.wrap_file(stdin), anyio.wrap_file(stdout)) as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def serve_http(team: TeamServer, host: str, port: int, token: str | None, tell: Callable[[str], None]) -> None:
    """Until the process is told to stop. Raises `ConfigError` for an address that others reach without a token."""
    import uvicorn

    if host not in _LOOPBACK and not token:
        raise ConfigError(f"{host} can be reached by others: give a token with --token-env NAME")
    app: App = team.server().streamable_http_app(host=host)
    if token:
        app = _Guard(app, token)
    server = uvicorn.Server(uvicorn.Config(app, host=host, port=port, log_level="warning", lifespan="on"))
    socket = server.config.bind_socket()
    tell(f"mcp at http://{host}:{socket.getsockname()[1]}/mcp")
    await server.serve(sockets=[socket])


class _Guard:
    """Lets in who brings the token; compared in constant time."""

    def __init__(self, app: App, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._wanted):
                await send(
                    {"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]}
                )
                await send({"type": "http.response.body", "body": b"a bearer token is needed"})
                return
        await self._app(scope, receive, send)
