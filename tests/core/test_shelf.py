"""The shelf: names without imports, one import by name, and a cache that is never trusted about what is missing."""

from __future__ import annotations

import sys

import pytest

from officellm import Kind, PluginBrokenError, PluginConflictError, PluginError, PluginNotFoundError, shelf
from officellm.host import Host

GROUP = "officellm.routers"
EXTENSIONS = "officellm.extensions"


def test_names_are_listed_and_nothing_is_imported(install):
    install(
        "acme", {GROUP: {"acme": "acme_router", "broken": "acme_broken"}}, {"acme_router": "", "acme_broken": "1/0"}
    )
    assert shelf.names(GROUP) == ["acme", "broken", "keyword", "llm"]
    assert "acme_router" not in sys.modules


def test_only_the_named_module_is_imported(install):
    install("acme", {GROUP: {"one": "acme_one", "two": "acme_two"}}, {"acme_one": "", "acme_two": ""})
    assert shelf.load(Kind.ROUTER, "one").__name__ == "acme_one"
    assert "acme_two" not in sys.modules


@pytest.mark.parametrize("name", ["", "@", "acme@", "@acme", "acme@nobody", "no such thing", "../x"])
def test_a_name_that_is_none_is_not_found(install, name):
    install("other", {GROUP: {"acmes": "acme_router"}}, {"acme_router": ""})
    with pytest.raises(PluginNotFoundError):
        shelf.load(Kind.ROUTER, name)


def test_a_package_that_does_not_offer_it_is_not_found(install):
    install("acme", {GROUP: {"acme": "acme_router"}}, {"acme_router": ""})
    with pytest.raises(PluginNotFoundError, match="no router named 'acme@nobody'"):
        shelf.load(Kind.ROUTER, "acme@nobody")


def test_a_name_that_is_not_there_says_what_might_offer_it():
    with pytest.raises(PluginNotFoundError, match="pip install officellm-router-oracle"):
        shelf.load(Kind.ROUTER, "oracle")


def test_a_broken_module_names_its_package_and_its_reason(install):
    install("acme-broken", {GROUP: {"broken": "acme_broken"}}, {"acme_broken": "1 / 0"}, version="2.5")
    with pytest.raises(PluginBrokenError, match=r"'broken' \(acme-broken 2.5\).*ZeroDivisionError"):
        shelf.load(Kind.ROUTER, "broken")


def test_a_conflict_is_seen_also_where_the_offers_are_not_neighbours(install):
    for package in ("one", "two"):
        module = f"acme_{package}"
        install(package, {GROUP: {"first": module, "second": module}}, {module: ""})
    for name in ("first", "second"):
        with pytest.raises(PluginConflictError, match=f"{name}@one.*{name}@two"):
            shelf.load(Kind.ROUTER, name)


def test_a_package_is_chosen_by_any_spelling_of_its_name(install):
    for package in ("Acme.One", "acme_two"):
        module = package.replace(".", "_").lower()
        install(package, {GROUP: {"acme": module}}, {module: ""})
    for spelled in ("acme@acme-one", "acme@Acme.One", "acme@acme_ONE"):
        assert shelf.load(Kind.ROUTER, spelled).__name__ == "acme_one"


@pytest.mark.parametrize("text", ["garbage", "[officellm.routers]\n= x", "[a\nb = c", "\0"], ids=repr)
def test_a_package_with_damaged_metadata_hides_no_other(install, text):
    folder = install("damaged", {GROUP: {"damaged": "acme_router"}}, {"acme_router": ""})
    (folder / "damaged-1.0.dist-info" / "entry_points.txt").write_text(text)
    install("acme", {GROUP: {"acme": "acme_router"}}, {})
    assert {"acme", "keyword"} <= set(shelf.names(GROUP))
    assert shelf.load(Kind.ROUTER, "acme").__name__ == "acme_router"
    assert shelf.load(Kind.ROUTER, "keyword")


class TestStaleCache:
    """An editable package that gets a new entry point: stevedore lists the old ones for two minutes."""

    @pytest.fixture
    def reinstalled(self, install):
        """A package whose new entry points stevedore does not know of."""
        sources = {"acme_router": "", "acme_guard": "from officellm import hookimpl\n@hookimpl\ndef observe(): pass"}
        folder = install("acme", {GROUP: {"old": "acme_router"}}, sources)
        assert "old" in shelf.names(GROUP)
        assert shelf.names(EXTENSIONS) == []
        install.write_metadata(
            folder, "acme", {GROUP: {"old": "acme_router", "new": "acme_router"}, EXTENSIONS: {"guard": "acme_guard"}}
        )
        assert "new" not in shelf.names(GROUP), "the cache was expected to be stale"

    @pytest.mark.usefixtures("reinstalled")
    def test_a_new_driver_is_found_by_name(self):
        assert shelf.load(Kind.ROUTER, "new").__name__ == "acme_router"

    @pytest.mark.usefixtures("reinstalled")
    def test_a_new_guard_that_is_required_is_found(self):
        assert Host(required=["guard"]).observed

    @pytest.mark.usefixtures("reinstalled")
    def test_what_is_still_missing_is_missing(self):
        with pytest.raises(PluginError):
            Host(required=["guards"])
