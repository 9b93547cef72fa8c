"""The MCP server as clients see it: the official SDK's client, over stdio and over HTTP, against real processes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

from officellm.testing import FakeLLM, reply, rule

TEAM = """
providers: {{fake: {{format: openai_compat, base_url: "{url}"}}}}
agents:
  - {{name: worker, description: Works, provider: fake, model: m, system_prompt: You work}}
"""


@contextlib.asynccontextmanager
async def stdio(board_url: str, folder: Path, *options: str):
    """A client of a server that runs as its child."""
    arguments = ["-m", "officellm", "mcp", "--board", board_url, *options]
    server = stdio_client(StdioServerParameters(command=sys.executable, args=arguments, cwd=folder))
    async with asyncio.timeout(30), Client(server) as client:
        yield client


def said(result):
    """What a call gave, and that its text says the same."""
    structured = result.structured_content
    assert json.loads(result.content[0].text) == structured
    return structured


async def test_a_client_queues_work_reads_it_back_and_acts_in_one_name(board_url, tmp_path):
    async with stdio(board_url, tmp_path, "--as", "alice") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert len(names) == 35
        assert "memory_delete" not in names
        assert said(await client.call_tool("agent_register", {"role": "person"}))["agent_id"] == "alice"
        made = await client.call_tool("task_create", {"title": "Tide pools", "created_by": "mallory"})
        task = said(made)
        assert (task["created_by"], task["state"], made.is_error) == ("alice", "pending", False)
        shown = said(await client.call_tool("task_get", {"task_id": task["id"]}))
        assert shown["title"] == "Tide pools"


async def test_refusals_are_errors_with_a_code_and_the_nearest_right_value(board_url, tmp_path):
    async with stdio(board_url, tmp_path, "--as", "alice") as client:
        for name, arguments, code in (
            ("task_get", {"task_id": "nowhere"}, "not_found"),
            ("task_create", {}, "invalid_arguments"),
            ("task_creat", {}, "unknown_tool"),
            ("memory_delete", {"id": "x"}, "unknown_tool"),
        ):
            result = await client.call_tool(name, arguments)
            assert result.is_error, name
            assert said(result)["error"]["code"] == code


async def test_gated_tools_are_offered_where_they_are_allowed(board_url, tmp_path):
    async with stdio(board_url, tmp_path, "--as", "alice", "--allow", "memory_*") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"memory_delete", "memory_export"} <= names
        assert "gdpr_forget" not in names


async def test_an_agent_of_the_team_is_a_tool_and_what_it_prints_is_no_protocol(board_url, tmp_path):
    with FakeLLM.in_thread([rule(reply("They are shallow.", repeat=True))]) as llm:
        (tmp_path / "team.yaml").write_text(TEAM.format(url=llm.openai_url))
        async with stdio(board_url, tmp_path, "--as", "alice") as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert tools["worker"].description == "Works"
            result = await client.call_tool("worker", {"task": "tide pools"})
    assert (result.is_error, result.content[0].text) == (False, "They are shallow.")
    assert result.structured_content["stopReason"] == "success"


async def test_over_http_with_a_token(board_url, tmp_path, monkeypatch):
    monkeypatch.setenv("MCP_TOKEN", "s3cret")
    command = [sys.executable, "-m", "officellm", "mcp", "--as", "bob", "--board", board_url, "--http", "0"]
    server = await asyncio.create_subprocess_exec(
        *command, "--token-env", "MCP_TOKEN", cwd=tmp_path, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(30):
            line = (await server.stderr.readline()).decode()
            url = re.search(r"http://\S+", line)[0]
            async with (
                create_mcp_http_client(headers={"Authorization": "Bearer s3cret"}) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                assert said(await client.call_tool("agent_register", {}))["agent_id"] == "bob"
            async with create_mcp_http_client() as http:
                assert (await http.post(url, json={})).status_code == 401
    finally:
        server.terminate()
        await server.wait()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--as", "a", "--http", "0.0.0.0:0"], "give a token with --token-env"),
        (["--as", "a", "--http", "x"], "give a port, or host:port"),
        (["--as", "a", "--token-env", "NOT_SET_ANYWHERE"], "NOT_SET_ANYWHERE is not set"),
        (["--as", "a", "--board", "nowhere/board.db"], "does not exist"),
        ([], "--as"),
    ],
)
async def test_what_cannot_be_served_is_said(tmp_path, options, message):
    server = await asyncio.create_subprocess_exec(
        *[sys.executable, "-m", "officellm", "mcp", *options],
        cwd=tmp_path,
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(30):
        _, errors = await server.communicate()
    assert server.returncode == 2
    assert message in errors.decode()
    assert b"Traceback" not in errors
