"""`officellm plugins`: what is installed and in which state, also when all of it is broken."""

import json

import pytest

ROUTER = '''
"""Routes by dice."""
from pydantic import BaseModel
from officellm import hookimpl

class Settings(BaseModel):
    sides: int = 6

@hookimpl
def settings_model(kind, name):
    return Settings

@hookimpl
def make_router(name, settings, ask):
    return None
'''


def states(place):
    done = place.run("plugins", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return {(one["kind"], one["name"], one["package"]): one["state"] for one in json.loads(done.stdout)}


def test_the_built_in_plugins_are_listed_like_anyones(bare):
    lines = bare.run("plugins").stdout.splitlines()
    assert lines[0].split() == ["KIND", "NAME", "PACKAGE", "VERSION", "STATE"]
    assert any(line.split()[:3] == ["provider", "anthropic", "officellm"] for line in lines)


def test_states_are_known_from_metadata_alone(bare):
    broken = "no_such_module_at_all"
    bare.package(
        "one", f"[officellm.routers]\ndice = {broken}\nalone = {broken}\n[officellm.extensions]\nspy = {broken}\n"
    )
    bare.package("two", f"[officellm.routers]\ndice = {broken}\n[officellm.router]\nlost = {broken}\n")
    bare.package("three", f"[officellm.commands]\nrun = {broken}\nmine = {broken}\n")
    bare.write("site/two-1.0.dist-info/direct_url.json", {"url": "file:///x", "dir_info": {"editable": True}})
    bare.env["OFFICELLM_DISABLE"] = "other, spy"
    found = {key: state for key, state in states(bare).items() if key[2] in ("one", "two", "three")}
    assert found == {
        ("router", "dice", "one"): "conflict: say dice@one",
        ("router", "dice", "two"): "conflict: say dice@two",
        ("router", "alone", "one"): "ok",
        ("extension", "spy", "one"): "disabled",
        ("officellm.router", "lost", "two"): "unknown kind. Did you mean 'officellm.routers'?",
        ("command", "run", "three"): "ignored: the name is built in",
        ("command", "mine", "three"): "ok",
    }


def test_an_editable_package_says_so(bare):
    bare.package("two", "[officellm.routers]\ndice = nowhere\n")
    bare.write("site/two-1.0.dist-info/direct_url.json", {"url": "file:///x", "dir_info": {"editable": True}})
    assert states(bare)["router", "dice", "two"] == "editable"


def test_show_imports_one_plugin_and_tells_its_settings_and_hooks(bare):
    bare.package("dice", "[officellm.routers]\ndice = dice_router\n", {"dice_router": ROUTER})
    done = bare.run("plugins", "show", "dice", "--json")
    assert done.returncode == 0
    (shown,) = json.loads(done.stdout)
    assert (shown["kind"], shown["package"], shown["about"]) == ("router", "dice", "Routes by dice.")
    assert shown["hooks"] == "make_router, settings_model"
    assert shown["settings"]["properties"]["sides"]["default"] == 6
    assert "hooks: make_router, settings_model" in bare.run("plugins", "show", "dice").stdout


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise RuntimeError('boom')", "cannot be imported: RuntimeError: boom"),
        ("import sys; sys.exit(3)", "cannot be imported: SystemExit: 3"),
        ("from officellm import hookimpl\n@hookimpl\ndef make_rooter(): ...\n", "breaks the contract"),
        (ROUTER.replace("return Settings", "1 / 0"), "failed: ZeroDivisionError"),
    ],
    ids=["raises", "exits", "unknown hook", "settings raise"],
)
def test_show_says_what_is_broken_and_exits_1(bare, code, reason):
    bare.package("dice", "[officellm.routers]\ndice = dice_router\n", {"dice_router": code})
    done = bare.run("plugins", "show", "dice")
    assert done.returncode == 1
    assert "state: broken" in done.stdout
    assert reason in done.stdout
    assert "Traceback" not in done.stderr


def test_show_of_a_name_that_two_kinds_or_packages_have(bare):
    bare.package("one", "[officellm.routers]\ndice = dice_router\n", {"dice_router": ROUTER})
    bare.package("two", "[officellm.routers]\ndice = dice_router\n[officellm.extensions]\ndice = dice_router\n")
    shown = json.loads(bare.run("plugins", "show", "dice", "--json").stdout)
    assert {(one["kind"], one["package"]) for one in shown} == {
        ("router", "one"),
        ("router", "two"),
        ("extension", "two"),
    }
    (shown,) = json.loads(bare.run("plugins", "show", "dice@two", "--kind", "router", "--json").stdout)
    assert (shown["kind"], shown["package"]) == ("router", "two")


def test_show_of_a_name_that_nobody_offers(bare):
    done = bare.run("plugins", "show", "antropic")
    assert done.returncode == 2
    assert done.stderr == "error: no plugin named 'antropic' is installed. Did you mean 'anthropic'?\n"


def test_a_package_whose_command_is_broken_can_be_looked_into(bare):
    bare.package("demo", "[officellm.commands]\ngreet = no_such_module:greet\n")
    done = bare.run("plugins", "show", "greet")
    assert done.returncode == 1
    assert "problem: the command 'greet' (demo 1.0) cannot be imported" in done.stdout
