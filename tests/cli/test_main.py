"""The command group: quick, told from metadata, and clear about mistakes."""

import subprocess
import sys

import click
import pytest

from officellm import __version__
from officellm.cli import commands

HEAVY = ["pydantic", "httpx", "stevedore", "pluggy", "rich", "yaml", "aiohttp", "asyncio"]
PROBE = """
import sys
from officellm.cli import main
try:
    main(sys.argv[1:])
finally:
    print(*[name for name in {heavy} if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [["--help"], ["plugins"], ["--version"], ["run", "--help"]], ids=" ".join)
def test_what_needs_no_run_imports_nothing_heavy(bare, arguments):
    bare.package("demo", "[officellm.commands]\ngreet = demo\n[officellm.routers]\nbad = no_such_module\n")
    bare.write("probe.py", PROBE.replace("{heavy}", repr(HEAVY)))
    done = subprocess.run(
        [sys.executable, "probe.py", *arguments], cwd=bare.folder, env=bare.env, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr.strip()) == (0, "")


@pytest.mark.parametrize("name", commands.BUILT_IN)
def test_every_command_of_the_table_is_there(name):
    assert isinstance(commands.load(name), click.Command)


def test_help_names_every_command(bare):
    done = bare.run("--help")
    assert done.returncode == 0
    for name, (_, line) in commands.BUILT_IN.items():
        assert f"  {name}" in done.stdout
        assert line in done.stdout


def test_the_version_is_printed(bare):
    assert bare.run("--version").stdout == f"officellm {__version__}\n"


def test_a_mistyped_command_suggests_the_nearest(bare):
    done = bare.run("pluigns")
    assert done.returncode == 2
    assert "error: no command named 'pluigns'. Did you mean 'plugins'?" in done.stderr
    assert done.stdout == ""


def test_an_unknown_option_is_a_usage_error(bare):
    done = bare.run("run", "--no-such-option", "task.json")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "Try 'officellm run --help'." in done.stderr


GREET = "import click\n\n@click.command()\ndef greet():\n    {body}\n"


def greeting(place, name="demo", body="click.echo('hello')", module="demo_greet"):
    place.package(name, f"[officellm.commands]\ngreet = {module}:greet\n", {module: GREET.format(body=body)})


def test_a_package_adds_a_command(bare):
    greeting(bare)
    assert bare.run("greet").stdout == "hello\n"
    assert "greet  from demo 1.0" in bare.run("--help").stdout


@pytest.mark.parametrize(
    ("body", "code"),
    [("import sys; sys.exit(7)", 7), ("click.get_current_context().exit(5)", 5), ("return True", 0)],
    ids=["sys.exit", "context.exit", "another value"],
)
def test_a_packages_command_ends_with_its_own_exit_code(bare, body, code):
    greeting(bare, body=body)
    assert bare.run("greet").returncode == code


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("no_such_module:greet", "cannot be imported: ModuleNotFoundError"),
        ("json:dumps", "holds no click command"),
        ("json:nothing", "holds no click command"),
        ("leaver:greet", "cannot be imported: SystemExit"),
    ],
    ids=["missing module", "no command", "missing name", "exits"],
)
def test_a_broken_command_is_one_line_and_leaves_the_others_alone(bare, entry, reason):
    bare.package("demo", f"[officellm.commands]\ngreet = {entry}\n", {"leaver": "import sys; sys.exit('bye')"})
    done = bare.run("greet")
    assert done.returncode == 2
    assert done.stderr.startswith("error: the command 'greet' (demo 1.0)")
    assert reason in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert bare.run("plugins").returncode == 0


def test_a_command_that_has_a_built_in_name_is_ignored_with_a_warning(bare):
    bare.package("demo", "[officellm.commands]\nplugins = no_such_module\n")
    assert bare.run("plugins").returncode == 0
    assert "warning: the command 'plugins' of demo 1.0 is ignored" in bare.run("--help").stderr


def test_a_command_that_two_packages_offer_must_be_chosen(bare):
    greeting(bare)
    greeting(bare, name="other", body="click.echo('other')", module="other_greet")
    done = bare.run("greet")
    assert done.returncode == 2
    assert "offered by demo 1.0 and other 1.0: type 'greet@demo' or 'greet@other'" in done.stderr
    assert bare.run("greet@other").stdout == "other\n"


def test_an_error_that_is_a_bug_keeps_its_traceback(bare):
    greeting(bare, body="1 / 0")
    done = bare.run("greet")
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback")
    assert "ZeroDivisionError" in done.stderr


def test_errors_of_the_public_tree_exit_with_their_code_and_no_traceback(bare):
    body = "from officellm import ConfigError, ConfigErrors; raise ConfigErrors([ConfigError('a'), ConfigError('b')])"
    greeting(bare, body=body)
    done = bare.run("greet")
    assert (done.returncode, done.stderr) == (2, "error: a\nerror: b\n")
    greeting(bare, body="from officellm import RouteError; raise RouteError('x', ['y'])")
    done = bare.run("greet")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
