"""The catalog `mcp` with real servers of the official SDK, started as processes and reached over HTTP."""

from __future__ import annotations

import asyncio
import re
import sys
import textwrap

import pytest

from officellm import Agent, ConfigError, Context, Office, ToolError
from officellm.files.teamfile import load_team
from officellm.testing import call, calls, scripted
from officellm_builtin.catalogs.mcp import McpCatalog, McpSettings

pytest.importorskip("mcp", reason="the extra mcp is not installed")
SERVER = textwrap.dedent(
    '''
    import asyncio, os, sys
    from mcp.server.mcpserver import Context, MCPServer

    server = MCPServer("fake")

    @server.tool()
    def read_note(name: str, times: int = 1) -> str:
        """Reads a note."""
        return f"{name}! " * times

    @server.tool()
    def write_note(name: str) -> str:
        """Writes a note."""
        raise ValueError("disk full")

    @server.tool()
    def look_up(query: str) -> dict[str, int]:
        """Looks up."""
        return {query: 3}

    @server.tool()
    def environment() -> str:
        """Shows what it was given."""
        return ",".join(sorted(os.environ))

    @server.tool()
    def die() -> str:
        """Dies."""
        os._exit(3)

    @server.tool()
    async def slow() -> str:
        """Never answers."""
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            open(sys.argv[1], "w").write("cancelled")
            raise

    @server.tool()
    async def grow(context: Context) -> str:
        """Gets another tool."""
        server.add_tool(lambda: "new", name="newer", description="Newer.")
        await context.notify_tools_changed()
        return "grown"

    if len(sys.argv) > 2:
        server.run("streamable-http", port=int(sys.argv[2]))
    else:
        server.run("stdio")
    '''
)
CONTEXT = Context("run", "agent", "call", "key")


@pytest.fixture
def server(tmp_path):
    (tmp_path / "server.py").write_text(SERVER)
    return [sys.executable, str(tmp_path / "server.py"), str(tmp_path / "cancelled")]


@pytest.fixture
async def catalog(server):
    made = []

    def make(**settings):
        made.append(McpCatalog("notes", McpSettings(command=server, **settings)))
        return made[-1]

    yield make
    for one in made:
        await one.aclose()


async def test_an_agent_uses_the_tools_of_a_server(server):
    model = scripted([calls(call("read_note", name="a", times=2), call("write_note", name="b")), "done"])
    agent = Agent("a", model=model, tools=["notes.*"])
    async with Office(agent, catalogs={"notes": {"name": "mcp", "command": server, "allow": ["*_note"]}}) as office:
        await office.ready()
        result = await office.run("go")
    assert result.content == "done"
    assert [spec.name for spec in model.requests[0].tools] == ["read_note", "write_note"]
    answers = [one for one in model.requests[1].messages if hasattr(one, "call_id")]
    assert (answers[0].content, answers[0].is_error) == ("a! a! ", False)
    assert (answers[1].is_error, "write_note" in answers[1].content) == (True, True)


async def test_what_is_allowed_and_denied(catalog):
    notes = catalog(allow=["*_note", "look_up"], deny=["write_*"])
    assert [tool.name for tool in await notes.tools()] == ["read_note", "look_up"]
    with pytest.raises(ToolError, match="not allowed"):
        await notes.call("write_note", {"name": "x"}, CONTEXT)


async def test_structured_results_are_text_that_says_the_same(catalog):
    assert '"x": 3' in (await catalog().call("look_up", {"query": "x"}, CONTEXT)).replace('":3', '": 3')


async def test_a_server_gets_the_variables_it_is_given_and_none_of_our_keys(catalog, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    seen = (await catalog(env={"NOTES": "here"}).call("environment", {}, CONTEXT)).split(",")
    assert "NOTES" in seen
    assert "OPENAI_API_KEY" not in seen


async def test_a_server_that_dies_costs_one_error_and_is_started_again_once(catalog):
    notes = catalog()
    with pytest.raises(ToolError, match="notes"):
        await notes.call("die", {}, CONTEXT)
    answers = await asyncio.gather(*(notes.call("read_note", {"name": str(n)}, CONTEXT) for n in range(5)))
    assert answers == [f"{n}! " for n in range(5)]


async def test_a_call_has_a_deadline_and_the_server_is_told(catalog, tmp_path):
    notes = catalog(timeout=1.0)
    await notes.tools()
    with pytest.raises(ToolError, match="did not answer within 1 s"):
        await notes.call("slow", {}, CONTEXT)
    assert await notes.call("read_note", {"name": "x"}, CONTEXT) == "x! "
    async with asyncio.timeout(5):
        while not (tmp_path / "cancelled").exists():  # noqa: ASYNC110 - another process has no event of ours
            await asyncio.sleep(0.02)


async def test_a_list_that_changed_is_read_again(catalog):
    model = scripted([call("grow"), "one", "two"])
    notes = catalog()
    async with Office(Agent("a", model=model, tools=["notes.*"]), catalogs={"notes": notes}) as office:
        await office.run("go")
        async with asyncio.timeout(5):
            while not notes.stale:  # noqa: ASYNC110 - what another process says has no event of ours
                await asyncio.sleep(0.02)
        await office.run("go")
    assert "newer" in [spec.name for spec in model.requests[-1].tools]
    assert "newer" not in [spec.name for spec in model.requests[0].tools]


async def test_of_two_servers_with_one_tool_the_second_gets_its_name_in_front(server):
    model = scripted([calls(call("read_note", name="a"), call("more_read_note", name="b")), "done"])
    agent = Agent("a", model=model, tools=["*read_note"])
    block = {"name": "mcp", "command": server}
    async with Office(agent, catalogs={"notes": block, "more": block}) as office:
        await office.run("go")
    assert [one.content for one in model.requests[1].messages if hasattr(one, "call_id")] == ["a! ", "b! "]


async def test_over_http(server, unused_port):
    process = await asyncio.create_subprocess_exec(*server, str(unused_port), stderr=asyncio.subprocess.PIPE)
    notes = McpCatalog("notes", McpSettings(url=f"http://127.0.0.1:{unused_port}/mcp"))
    try:
        async with asyncio.timeout(20):
            while b"running" not in await process.stderr.readline():
                pass
        assert await notes.call("read_note", {"name": "x"}, CONTEXT) == "x! "
    finally:
        await notes.aclose()
        process.terminate()
        await process.wait()


@pytest.fixture
def unused_port():
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"command": ["no-such-program-here"]}, "no-such-program-here"),
        ({"command": [sys.executable, "-c", "print('no protocol')"]}, "'notes'"),
        ({"url": "http://127.0.0.1:9/mcp"}, "'notes'"),
    ],
    ids=["missing", "no server", "refused"],
)
async def test_a_server_that_cannot_be_used_is_said_by_name(settings, said):
    notes = McpCatalog("notes", McpSettings(**settings))
    with pytest.raises(ConfigError, match=re.escape(said)):
        await notes.tools()
    with pytest.raises(ToolError, match="notes"):
        await notes.call("x", {}, CONTEXT)
    await notes.aclose()


@pytest.mark.parametrize("settings", [{}, {"command": [], "url": None}, {"command": ["a"], "url": "http://b"}])
def test_a_server_has_a_command_or_a_url(settings):
    with pytest.raises(ValueError, match="a command or a url"):
        McpSettings(**settings)


async def test_a_team_file_attaches_servers(server, tmp_path):
    command = ", ".join(f'"{part}"' for part in server)
    (tmp_path / "team.yaml").write_text(
        "agents: [{name: a, model: openai:m, tools: [notes.read_note]}]\n"
        f"mcp_servers: {{notes: {{command: [{command}]}}}}\n"
    )
    team = load_team(tmp_path / "team.yaml")
    assert team.warnings == ()
    async with team.office(providers={"openai": scripted([call("read_note", name="x"), "done"])}) as office:
        assert (await office.run("go")).content == "done"
