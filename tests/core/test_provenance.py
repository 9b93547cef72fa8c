"""Provenance: who shipped which entry point, read from metadata alone."""

from __future__ import annotations

import json

import pytest

from officellm import provenance
from officellm.kinds import Kind

GROUP = "officellm.routers"


def test_an_offer_says_who_shipped_it(install):
    install("Acme_Router", {GROUP: {"acme": "acme_router"}}, {"acme_router": "raise SystemExit"}, version="2.5")
    (offer,) = provenance.offers_of(GROUP, "acme")
    assert offer == provenance.Offer(GROUP, "acme", "acme_router", "acme-router", "2.5")
    assert offer.qualified == "acme@acme-router"


def test_a_duplicate_is_two_offers(install):
    for package in ("two", "one"):
        install(package, {GROUP: {"acme": "acme_router"}}, {"acme_router": ""})
    assert [offer.package for offer in provenance.offers_of(GROUP, "acme")] == ["one", "two"]


def test_a_package_that_is_on_the_path_twice_is_one_offer_the_first(install):
    install("acme", {GROUP: {"acme": "old"}}, {}, version="1.0")
    install("acme", {GROUP: {"acme": "new"}}, {}, version="2.0")
    assert [(offer.module, offer.version) for offer in provenance.offers_of(GROUP, "acme")] == [("new", "2.0")]


def test_entry_points_of_others_are_not_ours(install):
    install("acme", {"console_scripts": {"acme": "acme:main"}, "officellmish": {"acme": "acme"}}, {})
    assert not [offer for offer in provenance.offers() if offer.package == "acme"]


def test_all_offers_are_sorted_and_the_built_ins_among_them():
    offers = provenance.offers()
    keys = [(offer.group, offer.name, offer.package) for offer in offers]
    assert keys == sorted(keys)
    assert ("officellm.routers", "keyword", "officellm") in keys


@pytest.mark.parametrize(
    ("text", "editable"),
    [
        (json.dumps({"url": "file:///x", "dir_info": {"editable": True}}), True),
        (json.dumps({"url": "file:///x", "dir_info": {}}), False),
        (json.dumps({"url": "https://x"}), False),
        ("not json", False),
        ("[]", False),
        ('{"dir_info": null}', False),
    ],
    ids=["editable", "folder", "url", "broken", "list", "null"],
)
def test_an_editable_package_is_marked(install, text, editable):
    folder = install("acme", {GROUP: {"acme": "acme_router"}}, {})
    (folder / "acme-1.0.dist-info" / "direct_url.json").write_text(text)
    assert [offer.editable for offer in provenance.offers_of(GROUP, "acme")] == [editable]


@pytest.mark.parametrize("text", [None, "", "Metadata-Version: 2.1\n"], ids=["missing", "empty", "nameless"])
def test_an_interrupted_installation_breaks_nothing(install, text):
    folder = install("acme", {GROUP: {"acme": "acme_router"}}, {})
    metadata = folder / "acme-1.0.dist-info" / "METADATA"
    metadata.unlink()
    if text is not None:
        metadata.write_text(text)
    (offer,) = provenance.offers_of(GROUP, "acme")
    assert (offer.package, offer.version) == ("unknown", "unknown")
    assert provenance.offers_of(GROUP, "keyword")


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_group_of_its_own(kind):
    assert kind.group.startswith("officellm.")
    assert len({other.group for other in Kind}) == len(Kind)
