"""`officellm testing`: what helps in tests of agents and plugins, from the command line."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from officellm.testing.script import Script


@click.group()
def testing() -> None:
    """Tools for tests: the fake LLM server."""


@testing.command()
@click.option("--script", type=click.Path(dir_okay=False), help="JSON or YAML file with the replies.")
@click.option("--port", default=0, show_default="a free one", type=click.IntRange(0, 65535), help="Port to listen on.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--model", "models", multiple=True, help="A model name for the listings; may be repeated.")
@click.option("--key", help="The only API key to accept.")
@click.option("--lenient", is_flag=True, help="Also answer requests that the vendor would refuse.")
@click.option("--faults", is_flag=True, help="Print the table of faults that a script can name, and exit.")
def serve(
    script: str | None, port: int, host: str, models: tuple[str, ...], key: str | None, lenient: bool, faults: bool
) -> None:
    """Serve a fake LLM for the clients of many vendors until Ctrl-C; without a script it repeats the task."""
    if faults:
        from officellm.testing.faults import fault_table

        click.echo(fault_table())
        return
    from officellm.testing.scriptfile import load_script, read_script

    played = load_script(script) if script else read_script([{"text": "{last_user}", "repeat": True}])
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(played, host, port, models or ("fake-model",), key, strict=not lenient))


async def _serve(
    script: Script, host: str, port: int, models: tuple[str, ...], key: str | None, *, strict: bool
) -> None:
    from officellm.testing.server import FakeLLM

    async with FakeLLM(script, host=host, port=port, models=models, key=key, strict=strict) as llm:
        click.echo(f"fake LLM at {llm.url}; Ctrl-C ends it", err=True)
        click.echo(f"  openai     {llm.openai_url}", err=True)
        click.echo(f"  anthropic  {llm.anthropic_url}", err=True)
        click.echo(f"  gemini     {llm.gemini_url}", err=True)
        click.echo(f"  cohere     {llm.cohere_url}", err=True)
        click.echo(f"  mistral    {llm.mistral_url}", err=True)
        click.echo(f"  ollama     {llm.ollama_url}", err=True)
        click.echo(f"  responses  {llm.responses_url}", err=True)
        click.echo(f"  bedrock    {llm.bedrock_url}", err=True)
        click.echo(f"  recorded   GET {llm.url}/requests, POST {llm.url}/reset", err=True)
        await asyncio.Event().wait()
