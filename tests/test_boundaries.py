"""Who may import what. A boundary that no test holds is a wish."""

from __future__ import annotations

import ast
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import officellm
from officellm.testing.contracts.base import SDKS

ROOT = Path(__file__).parents[1]
CORE = ROOT / "core" / "officellm"
LONGEST = 500


class Import(NamedTuple):
    """One imported name: `module` is what is imported from, `name` what is imported (empty for the module itself)."""

    path: Path
    line: int
    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.module} {self.name}".rstrip()

    @property
    def top(self) -> str:
        return self.module.partition(".")[0]


def imports_of(path: Path) -> Iterator[Import]:
    """Every import of a file, wherever it stands, also by `import_module` with a text."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from (Import(path, node.lineno, alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (Import(path, node.lineno, node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield Import(path, node.lineno, first.value, "")


def files(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in found if "build" not in path.parts]


CORE_FILES = files("core")
PLUGIN_FILES = files("plugins")
CONTRIB_FILES = [path for path in files("contrib_providers", "contrib_routers") if "src" in path.parts]
LIBRARY_FILES = [*CORE_FILES, *PLUGIN_FILES, *CONTRIB_FILES]
IMPORTS = [one for path in LIBRARY_FILES for one in imports_of(path)]


def shown(found: list[Import]) -> str:
    return "\n".join(map(str, found))


def test_there_is_something_to_check():
    assert len(CORE_FILES) > 30
    assert len(PLUGIN_FILES) > 10


def test_core_imports_no_plugin():
    wrong = [one for one in IMPORTS if one.path in CORE_FILES and one.top.startswith("officellm_")]
    assert not wrong, shown(wrong)


def test_a_plugin_imports_public_names_only():
    ours = [one for one in IMPORTS if one.path not in CORE_FILES and one.top == "officellm"]
    wrong = [one for one in ours if one.module != "officellm" or one.name not in (*officellm.__all__, "__version__")]
    assert ours
    assert not wrong, f"these are not public names of officellm:\n{shown(wrong)}"


def test_the_source_roots_are_no_packages():
    """`import core.officellm` would work from a checkout, and make a second copy of every class."""
    everything = files("core", "plugins", "contrib_providers", "contrib_routers", "tests", "examples", "bench")
    wrong = [one for path in everything for one in imports_of(path) if one.top in ("core", "plugins")]
    assert not wrong, shown(wrong)


@pytest.mark.parametrize(
    ("library", "allowed"),
    [
        ("stevedore", {"shelf.py"}),
        ("pluggy", {"host.py", "hookspecs.py"}),
        ("importlib_metadata", {"provenance.py"}),
        ("importlib.metadata", set()),
        ("pkg_resources", set()),
    ],
)
def test_a_library_of_plugins_is_imported_by_one_module(library, allowed):
    users = [one for one in IMPORTS if f"{one.module}.{one.name}.".startswith(f"{library}.")]
    wrong = [one for one in users if one.path.parent != CORE or one.path.name not in allowed]
    assert not wrong, shown(wrong)
    assert {one.path.name for one in users} == allowed


def test_no_vendor_s_sdk_is_imported():
    wrong = [one for one in IMPORTS if one.path not in CONTRIB_FILES and {one.module, one.top} & SDKS]
    assert not wrong, shown(wrong)


def test_pytest_is_imported_by_the_contracts_only():
    users = [one for one in IMPORTS if one.top in ("pytest", "_pytest", "hypothesis")]
    wrong = [one for one in users if CORE / "testing" / "contracts" not in one.path.parents]
    assert users
    assert not wrong, shown(wrong)


def test_the_library_does_not_need_its_test_kit():
    """What an office imports works without the extra `testing`."""
    allowed = {CORE / "testing", CORE / "cli"}
    wrong = [
        one for one in IMPORTS if one.module.startswith("officellm.testing") and not allowed & set(one.path.parents)
    ]
    assert not wrong, shown(wrong)


@pytest.mark.parametrize("path", LIBRARY_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_is_short_and_says_what_it_is(path):
    text = path.read_text(encoding="utf-8")
    exempt = path == CORE / "__init__.py"  # the table of public names, written twice
    assert exempt or len(text.splitlines()) <= LONGEST
    assert ast.get_docstring(ast.parse(text)), "a module says what lives in it"


def loaded_by(code: str, *arguments: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after this code."""
    report = "\nimport sys; sys.stderr.write('\\n@@' + ' '.join(sys.modules))"
    command = [sys.executable, "-c", code + report, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "@@" in done.stderr, done.stderr
    return set(done.stderr.rpartition("@@")[2].split())


HEAVY = {"pydantic", "httpx", "aiohttp", "asyncio", "jsonschema", "yaml", "stevedore", "pluggy", "rich", "pytest"}


def test_importing_officellm_loads_nothing_heavy():
    assert not loaded_by("import officellm") & HEAVY


def test_importing_the_test_kit_loads_no_pytest():
    assert "pytest" not in loaded_by("from officellm.testing import scripted; scripted(['x'])")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["plugins"]], ids=" ".join)
def test_help_and_the_list_of_plugins_load_nothing_heavy(arguments):
    code = (
        "import contextlib, io\nfrom officellm.cli import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as out:\n    main()\n"
        "assert out.getvalue()"
    )
    assert not loaded_by(code, *arguments) & HEAVY


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("2001:db8::1", 80), ("example.org", 443)], ids=str)
def test_a_test_cannot_reach_the_network(address):
    with pytest.raises(pytest.fail.Exception, match="reached for the network"):
        socket.create_connection(address, timeout=0.1)
