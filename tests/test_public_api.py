"""The public names: one table, the same for the interpreter, for type checkers and for people."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import officellm
import officellm.testing
import officellm.testing.contracts

PACKAGES = [officellm, officellm.testing, officellm.testing.contracts]


def imported_for_checkers(package) -> dict[str, str]:
    """Name and module of each import under `if TYPE_CHECKING`."""
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    found = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            assert alias.asname == alias.name, f"{alias.name} must be re-exported as itself"
            found[alias.name] = node.module.removeprefix(f"{package.__name__}.")
    return found


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
class TestEachPackage:
    def test_all_is_the_table(self, package):
        assert package.__all__ == sorted(package._WHERE)

    def test_each_name_is_there_and_public(self, package):
        for name in package.__all__:
            assert not name.startswith("_")
            assert getattr(package, name) is not None

    def test_an_unknown_name_is_an_attribute_error(self, package):
        with pytest.raises(AttributeError, match="no_such_name"):
            package.no_such_name

    def test_dir_lists_the_names(self, package):
        assert set(package.__all__) <= set(dir(package))

    def test_type_checkers_see_the_same_names_from_the_same_places(self, package):
        assert imported_for_checkers(package) == package._WHERE


@pytest.mark.parametrize("name", officellm.__all__)
def test_a_public_name_comes_from_where_the_table_says(name):
    module = importlib.import_module(f"officellm.{officellm._WHERE[name]}")
    value = getattr(officellm, name)
    assert getattr(module, name) is value
    is_alias = value is str or name in getattr(module, "__all__", ())
    if (inspect.isclass(value) or inspect.isfunction(value)) and not is_alias:
        assert value.__module__ == module.__name__, f"{name} lives in {value.__module__}"
        assert value.__doc__, f"{name} promises nothing"


def test_a_star_import_brings_all_of_it():
    space = {}
    exec("from officellm import *", space)
    assert set(officellm.__all__) <= set(space)


@pytest.mark.parametrize("package", ["officellm", "officellm_builtin"])
def test_the_packages_are_typed(package):
    folder = Path(importlib.import_module(package).__file__).parent
    assert (folder / "py.typed").is_file()


def test_the_version_is_one():
    from importlib.metadata import version

    assert version("officellm") == officellm.__version__
