"""Each promise of the contracts is kept by a sound plugin and broken by a mutant, and the suites tell them apart."""

from __future__ import annotations

import inspect
import itertools

import pytest
from hypothesis import Phase, settings

from officellm.testing.contracts import RouterContract, Suite
from officellm.testing.contracts.base import key_in_environment

from .gallery import SOUND
from .mutants import MUTANTS
from .provider_mutants import PROVIDER_MUTANTS

EVERY = [*MUTANTS, *PROVIDER_MUTANTS]
IDS = [f"{mutant.sound}: {mutant.name}" for mutant in EVERY]


class Parameters:
    """As much of pytest's `Metafunc` as the suites use."""

    def __init__(self, function):
        self.fixturenames = list(inspect.signature(function).parameters)[1:]
        self.sets = []
        for mark in getattr(function, "pytestmark", []):
            if mark.name == "parametrize":
                self.parametrize(*mark.args)

    def parametrize(self, names, values, ids=None):
        names = [names] if isinstance(names, str) else names
        self.sets.append([dict(zip(names, value if len(names) > 1 else [value], strict=True)) for value in values])

    def __iter__(self):
        for chosen in itertools.product(*self.sets):
            yield {name: value for one in chosen for name, value in one.items()}


def run_test(suite: type[Suite], name: str) -> None:
    """Run one test of a suite with all its parameters, as pytest would."""
    function = getattr(suite, name)
    parameters = Parameters(function)
    if hasattr(suite, "pytest_generate_tests"):
        suite().pytest_generate_tests(parameters)
    ran = 0
    for arguments in parameters:
        try:
            with key_in_environment():
                function(suite(), **arguments)
        except pytest.skip.Exception:
            continue
        ran += 1
    assert ran, f"{name} never ran"


@pytest.fixture(autouse=True)
def no_shrinking():
    """It is enough that a mutant is noticed: the smallest example takes long to find."""
    before = settings.default
    settings.register_profile("mutants", phases=[Phase.generate])
    settings.load_profile("mutants")
    yield
    settings.register_profile("before", before)
    settings.load_profile("before")


def install_plugin(install, kind, source, package="officellm-mutant"):
    install(package, {kind.group: {"mutant": "mutant_plugin"}}, {"mutant_plugin": source, "openai": ""})


@pytest.mark.parametrize("mutant", EVERY, ids=IDS)
def test_the_suite_notices_the_mutant(install, mutant):
    kind, source, suite = SOUND[mutant.sound]
    install_plugin(install, kind, source + mutant.defect)
    with pytest.raises((Exception, pytest.fail.Exception)) as caught:
        run_test(suite, mutant.test)
    assert "never ran" not in str(caught.value)


@pytest.mark.parametrize(
    ("sound", "test"), sorted({(mutant.sound, mutant.test) for mutant in EVERY}), ids=lambda value: str(value)
)
def test_the_suite_passes_the_sound_plugin(install, sound, test):
    kind, source, suite = SOUND[sound]
    install_plugin(install, kind, source)
    run_test(suite, test)


def test_two_packages_with_one_name_are_noticed(install):
    kind, source, suite = SOUND["router"]
    install_plugin(install, kind, source, "officellm-one")
    install_plugin(install, kind, source, "officellm-two")
    with pytest.raises(AssertionError, match=r"officellm-one.*officellm-two"):
        run_test(suite, "test_it_is_installed_exactly_once")


def test_an_overridden_standard_test_is_noticed():
    class Quiet(RouterContract):
        name = "keyword"

        def test_one_agent_needs_no_model(self):
            pass

    class Gone(RouterContract):
        name = "keyword"
        test_one_agent_needs_no_model = None

    class Silent(RouterContract):
        name = "keyword"

        @pytest.mark.xfail
        def test_one_agent_needs_no_model(self):
            pass

    for suite in (Quiet, Gone, Silent):
        with pytest.raises(AssertionError, match="test_one_agent_needs_no_model is overridden"):
            run_test(suite, "test_no_standard_test_is_overridden")


def test_an_override_that_says_why_is_accepted():
    class Honest(RouterContract):
        name = "keyword"

        @pytest.mark.xfail(reason="it asks even about one agent, to warm up a cache")
        def test_one_agent_needs_no_model(self):
            raise AssertionError

        def test_something_of_its_own(self):
            pass

    run_test(Honest, "test_no_standard_test_is_overridden")
