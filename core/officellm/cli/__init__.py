"""The command line: `main`, a group that imports a command when it is typed, and what becomes of errors."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from officellm import __version__
from officellm.cli import commands
from officellm.errors import ConfigErrors, OfficeError

INTERRUPTED = 130


class OfficeGroup(click.Group):
    """Lists commands from a table and from package metadata; imports only the one that was typed."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, and exit as errors.py says; with `standalone_mode=False` errors are raised instead."""

        def work() -> Any:
            return super(OfficeGroup, self).main(args, prog_name or "officellm", complete_var, False, **extra)

        return sys.exit(exit_code_of(work)) if standalone_mode else work()

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command by name, the built-in ones first."""
        return [*commands.BUILT_IN, *commands.third_party()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now. Raises `PluginError` for one that is broken or offered twice."""
        try:
            return commands.load(cmd_name)
        except OfficeError:
            if ctx.resilient_parsing:  # shell completion looks at every command
                return None
            raise

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Like click's, with the nearest name for a mistyped command."""
        if not ctx.resilient_parsing and args[0][:1] != "-" and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"no command named {args[0]!r}.{commands.suggestion(args[0])}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands with one line each; those of other packages by who ships them, as nothing is imported."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in commands.BUILT_IN.items()])
        added = commands.third_party()
        if added:
            with formatter.section("Commands of installed packages"):
                formatter.write_dl([(name, f"from {one.package} {one.version}") for name, one in added.items()])
        for one in commands.shadowed():
            say(f"warning: the command {one.name!r} of {one.package} {one.version} is ignored: the name is built in")


@click.group(cls=OfficeGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="officellm", message="%(prog)s %(version)s")
def main() -> None:
    """Run a team of LLM agents as an office.

    The result goes to stdout and nothing else; progress goes to stderr. Exit codes: 0 success, 1 failed, 2 wrong
    command line, team file or task file, 3 a limit was reached, 130 cancelled.
    """


def exit_code_of(work: Callable[[], Any]) -> int:
    """Run a command. Errors of the user and of runs become lines on stderr; any other exception is our bug: raised."""
    try:
        value = work()
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        say_error(error.format_message())
        context = getattr(error, "ctx", None)
        if context is not None:
            say(f"Try '{context.command_path} --help'.")
        return error.exit_code
    except OfficeError as error:
        for one in error.problems if isinstance(error, ConfigErrors) else [error]:
            say_error(str(one))
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        say_error("cancelled")
        return INTERRUPTED
    except BrokenPipeError:
        close_stdout()
        return 1
    return value if type(value) is int else 0


def say(line: str) -> None:
    """A line on stderr; a stderr that is closed is no reason to fail."""
    with contextlib.suppress(OSError):
        click.echo(line, err=True)


def say_error(message: str) -> None:
    """What went wrong, on stderr."""
    from officellm.cli.output import clean

    say(f"error: {clean(message)}")


def close_stdout() -> None:
    """Nobody reads any more: what is still buffered must not fail at exit."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
