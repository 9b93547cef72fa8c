"""`officellm init`: a team file, a task and tools to start from."""

from __future__ import annotations

from pathlib import Path

import click

from officellm.cli import say
from officellm.errors import ConfigError


@click.command()
@click.argument("folder", metavar="[DIR]", default=".")
@click.option("--provider", metavar="NAME", help="Such as openai or ollama; without it, one whose key is set.")
@click.option("--minimal", is_flag=True, help="One agent, without tools.")
def init(folder: str, provider: str | None, minimal: bool) -> None:
    """Write a starter team.yaml, task.json and mytools.py into DIR (here, without it). No file is ever overwritten."""
    from officellm.files.starter import likely_provider, starter_files
    from officellm.presets import PRESETS

    provider = provider or likely_provider()
    files = starter_files(provider, minimal=minimal)
    target = Path(folder)
    _write(target, dict(files))
    say(f"wrote {', '.join(files)} in {target}: a team that uses {provider}")
    say("next:")
    variable = PRESETS[provider].api_key_env
    if variable is not None and not PRESETS[provider].base_url.startswith("http://localhost"):
        say(f"  export {variable}=...")
    if PRESETS[provider].base_url == "":
        say(f"  pip install officellm-provider-{provider}")
    if folder != ".":
        say(f"  cd {folder}")
    say("  officellm check")
    say("  officellm run task.json")


def _write(target: Path, files: dict[str, str]) -> None:
    """Write all files, or none where one is there already. Raises `ConfigError`."""
    try:
        target.mkdir(parents=True, exist_ok=True)
        there = [name for name in files if (target / name).exists() or (target / name).is_symlink()]
        if there:
            raise ConfigError("exists already, and nothing was written", place=str(target / there[0]))
        for name, text in files.items():
            with (target / name).open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except FileExistsError as error:
        raise ConfigError("exists already", place=str(error.filename)) from None
    except NotADirectoryError as error:
        raise ConfigError("is a file, not a folder", place=str(error.filename)) from None
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"cannot be written: {getattr(error, 'strerror', None) or error}", place=str(target)
        ) from None
