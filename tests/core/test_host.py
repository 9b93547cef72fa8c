"""The host: what a broken plugin may do to an office (nothing), who wraps whom, and how guards decide."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from officellm import (
    CallInfo,
    Choice,
    ConfigError,
    Host,
    Kind,
    PluginBrokenError,
    PluginConflictError,
    PluginError,
    PluginNotFoundError,
    RunInfo,
    Task,
    Verdict,
    hookimpl,
)

EXTENSIONS = "officellm.extensions"
ROUTERS = "officellm.routers"
TASK = Task(title="Tide pools")
RUN = RunInfo("run-1", TASK)
CALL = CallInfo("tool", "call-1", "search", {})

ROUTER = """
from officellm import Choice, hookimpl

class Router:
    def __init__(self, name):
        self.name = name
    async def route(self, task, agents):
        return Choice(self.name)

@hookimpl
def make_router(name, settings, ask):
    return Router(name)
"""

BROKEN = {
    "raises at import": ("raise RuntimeError('no luck')", "RuntimeError: no luck"),
    "exits at import": ("raise SystemExit(3)", "SystemExit: 3"),
    "asserts at import": ("assert False, 'never'", "AssertionError: never"),
    "has a syntax error": ("def (:", "SyntaxError"),
    "imports what is not there": ("import no_such_module_at_all", "ModuleNotFoundError"),
    "asks for an unknown argument": (
        "from officellm import hookimpl\n@hookimpl\ndef observe(event, colour): pass\n"
        "@hookimpl\ndef make_router(name, colour): pass",
        "colour",
    ),
    "implements an unknown hook": (
        "from officellm import hookimpl\n@hookimpl\ndef make_coffee(name): pass",
        "make_coffee",
    ),
    "is async": ("from officellm import hookimpl\n@hookimpl\nasync def observe(event): pass", "async def"),
    "is an async generator": (
        "from officellm import hookimpl\n@hookimpl\nasync def observe(event): yield",
        "async def",
    ),
    "wraps what is called apart": (
        "from officellm import hookimpl\n@hookimpl(wrapper=True)\ndef observe(event):\n    return (yield)",
        "cannot be wrapped",
    ),
    "fails in configure": (
        "from officellm import hookimpl\n@hookimpl\ndef configure(settings): raise KeyError('colour')",
        "colour",
    ),
}


def install_router(install, name="acme", source=ROUTER, package="acme-router", module=None):
    module = module or package.replace("-", "_")
    install(package, {ROUTERS: {name: module}}, {module: source})


def install_extension(install, name, source, package=None):
    package = package or f"acme-{name}"
    module = package.replace("-", "_")
    install(package, {EXTENSIONS: {name: module}}, {module: source})


async def chosen(router):
    return (await router.route(TASK, [])).agent


def plugin(**hooks):
    """An object with these hooks, as a module would have them."""
    return type("Plugin", (), {name: staticmethod(hookimpl(hook)) for name, hook in hooks.items()})()


@pytest.mark.parametrize(("source", "reason"), BROKEN.values(), ids=BROKEN)
class TestBrokenPlugins:
    def test_an_extension_is_set_aside_with_its_reason(self, install, source, reason, caplog):
        install_extension(install, "broken", source)
        install_extension(install, "sound", "from officellm import hookimpl\n@hookimpl\ndef observe(event): pass")
        with caplog.at_level(logging.WARNING, "officellm"):
            host = Host()
        assert list(host.set_aside) == ["broken"]
        assert reason in host.set_aside["broken"]
        assert reason in caplog.text
        assert host.observed

    def test_it_leaves_no_trace(self, install, source, reason):
        install_extension(install, "broken", source)
        host = Host()
        assert reason in host.set_aside["broken"]
        assert not host.observed
        assert host.choose_driver(Kind.ROUTER, TASK) is None

    def test_it_stops_an_office_that_requires_it(self, install, source, reason):
        install_extension(install, "broken", source)
        with pytest.raises(PluginError, match="required plugins are missing") as caught:
            Host(required=["broken"])
        assert reason in str(caught.value)

    async def test_a_driver_fails_alone_and_only_when_asked_for(self, install, source, reason):
        install_router(install, "broken", source, "acme-broken")
        install_router(install)
        host = Host()
        assert await chosen(host.router("acme", None, None)) == "acme"
        with pytest.raises(PluginBrokenError) as caught:
            host.router("broken", None, None)
        assert reason in str(caught.value)
        assert await chosen(host.router("acme", None, None)) == "acme"


class TestDrivers:
    def test_nothing_is_imported_before_it_is_asked_for(self, install):
        install_router(install, source="raise SystemExit")
        assert Host().set_aside == {}

    def test_a_typo_suggests_the_nearest_name(self):
        with pytest.raises(PluginNotFoundError, match=r"no router named 'keywrod'\. Did you mean 'keyword'"):
            Host().router("keywrod", None, None)

    @pytest.mark.parametrize(
        ("result", "reason"),
        [
            ("None", "does not implement the hook make_router"),
            ("object()", "made a object, which is no Router: it lacks route"),
            ("1 / 0", "'acme' failed: ZeroDivisionError"),
            ("__import__('no_such_sdk')", "'acme' failed: ModuleNotFoundError: No module named 'no_such_sdk'"),
        ],
        ids=["nothing", "a wrong type", "an error", "an SDK that is missing"],
    )
    def test_a_driver_that_makes_no_router_is_broken(self, install, result, reason):
        source = f"from officellm import hookimpl\n@hookimpl\ndef make_router(name, settings, ask): return {result}"
        install_router(install, source=source)
        with pytest.raises(PluginBrokenError, match=reason):
            Host().router("acme", None, None)

    def test_an_error_of_ours_passes_as_it_is(self):
        settings = Host().settings(Kind.ROUTER, "keyword", {})
        with pytest.raises(ConfigError, match="no routes and no default") as caught:
            Host().router("keyword", settings, None)
        assert not isinstance(caught.value, PluginError)

    def test_settings_without_a_model_are_refused(self, install):
        install_router(install)
        with pytest.raises(ConfigError, match="router 'acme' takes no settings, got colour"):
            Host().settings(Kind.ROUTER, "acme", {"colour": 1})
        assert Host().settings(Kind.ROUTER, "acme", {}) is None

    def test_settings_that_do_not_fit_name_their_place(self):
        with pytest.raises(ConfigError, match=r"team.yaml:7: router 'keyword'.*routs"):
            Host().settings(Kind.ROUTER, "keyword", {"routs": {}}, place="team.yaml:7")

    async def test_two_packages_with_one_name_are_an_error_and_the_package_chooses(self, install):
        install_router(install, source=ROUTER.replace("Choice(self.name)", "Choice('one')"), package="Acme_One")
        install_router(install, source=ROUTER.replace("Choice(self.name)", "Choice('two')"), package="acme-two")
        host = Host()
        with pytest.raises(PluginConflictError, match=r"acme-one 1.0 and acme-two 1.0: say 'acme@acme-one' or"):
            host.router("acme", None, None)
        assert await chosen(host.router("acme@acme-one", None, None)) == "one"
        assert await chosen(host.router("acme@acme-two", None, None)) == "two"

    async def test_a_driver_hears_its_name_without_the_package(self, install):
        install_router(install)
        assert await chosen(Host().router("acme@acme-router", None, None)) == "acme"

    def test_a_third_party_cannot_replace_a_built_in(self, install):
        install_router(install, "keyword")
        with pytest.raises(PluginConflictError, match=r"acme-router 1\.0 and officellm"):
            Host().router("keyword", None, None)

    async def test_one_module_may_be_several_drivers(self, install):
        install("acme", {ROUTERS: {"first": "acme", "second": "acme"}}, {"acme": ROUTER})
        host = Host()
        assert [await chosen(host.router(name, None, None)) for name in ("first", "second")] == ["first", "second"]

    async def test_only_the_chosen_driver_answers(self, install):
        install_router(install, "one", ROUTER.replace("Router(name)", "Router('one')"), "acme-one")
        install_router(install, "two", ROUTER.replace("Router(name)", "Router('two')"), "acme-two")
        host = Host()
        for name in ("one", "two", "one"):
            assert await chosen(host.router(name, None, None)) == name


WRAPPER = """
from officellm import Choice, hookimpl

class Wrapped:
    def __init__(self, inner, mark):
        self.inner, self.mark = inner, mark
    async def route(self, task, agents):
        choice = await self.inner.route(task, agents)
        return Choice(f"{self.mark}({choice.agent})")

@hookimpl(wrapper=True)
def make_router(name):
    return Wrapped((yield), "MARK")
"""


class TestWrappers:
    async def test_extensions_wrap_the_chosen_driver_in_the_order_of_their_names(self, install):
        for name in ("beta", "alpha"):
            install_extension(install, name, WRAPPER.replace("MARK", name))
        install_router(install)
        install_router(install, "other", ROUTER.replace("Router(name)", "Router('other')"), "acme-other")
        host = Host()
        host.router("other", None, None)
        assert await chosen(host.router("acme", None, None)) == "beta(alpha(acme))"

    async def test_a_wrapper_that_loads_after_the_driver_applies_too(self, install):
        install_router(install)
        host = Host()
        assert await chosen(host.router("acme", None, None)) == "acme"

        class Late:
            @hookimpl(wrapper=True)
            def make_router(self, name):
                made = yield
                made.name = f"late({made.name})"
                return made

        host.add_driver(Kind.ROUTER, "late", Late())
        assert await chosen(host.router("acme", None, None)) == "late(acme)"

    async def test_wrappers_of_the_old_form_are_not_left_out(self, install):
        source = (
            "from officellm import hookimpl\n@hookimpl(hookwrapper=True)\ndef make_router(name):\n"
            "    outcome = yield\n    outcome.get_result().name = 'wrapped'"
        )
        install_extension(install, "old", source)
        install_router(install)
        assert await chosen(Host().router("acme", None, None)) == "wrapped"

    async def test_an_extension_does_not_answer_for_a_driver(self, install):
        install_extension(install, "greedy", ROUTER.replace("Router(name)", "Router('greedy')"))
        install_router(install)
        assert await chosen(Host().router("acme", None, None)) == "acme"


class TestExtensions:
    OBSERVER = "from officellm import hookimpl\nseen = []\n@hookimpl\ndef observe(event): seen.append(event)"

    def test_a_switched_off_one_is_not_imported(self, install, monkeypatch):
        install_extension(install, "noisy", "raise SystemExit")
        monkeypatch.setenv("OFFICELLM_DISABLE", "other, noisy")
        assert Host().set_aside == {"noisy": "noisy: switched off by OFFICELLM_DISABLE"}

    def test_a_required_one_cannot_be_switched_off(self, install, monkeypatch):
        install_extension(install, "guard", self.OBSERVER)
        monkeypatch.setenv("OFFICELLM_DISABLE", "guard")
        assert Host(required=["guard"]).observed

    def test_a_required_one_that_is_missing_stops_the_office(self):
        with pytest.raises(PluginError, match="no extension named 'guard'"):
            Host(required=["guard"])

    def test_two_with_one_name_are_set_aside_and_stop_who_requires_them(self, install):
        for package in ("one", "two"):
            install_extension(install, "guard", self.OBSERVER, package=package)
        assert "offered by one 1.0 and two 1.0" in Host().set_aside["guard"]
        with pytest.raises(PluginError, match=r"offered by one 1\.0 and two 1\.0"):
            Host(required=["guard"])

    def test_one_module_under_two_names_stays_loaded(self, install):
        install("acme", {EXTENSIONS: {"one": "acme_ext", "two": "acme_ext"}}, {"acme_ext": self.OBSERVER})
        host = Host()
        assert host.observed
        assert "the same as 'officellm.extensions:one'" in host.set_aside["two"]

    def test_nothing_is_discovered_where_the_caller_says_so(self, install):
        install_extension(install, "noisy", self.OBSERVER)
        assert not Host(discover=False).observed

    def test_a_plugin_object_may_be_passed_in(self):
        seen = []
        Host(plugins=[plugin(observe=lambda event: seen.append(event))], discover=False).observe("event")
        assert seen == ["event"]

    def test_a_broken_plugin_object_is_the_caller_s_error(self):
        with pytest.raises(PluginBrokenError, match="make_coffee"):
            Host(plugins=[plugin(make_coffee=lambda: None)], discover=False)

    def test_configure_reaches_plugins_that_load_later(self, install):
        source = ROUTER + "\nheard = []\n@hookimpl\ndef configure(settings): heard.append(settings)"
        install_router(install, source=source)
        host = Host(settings={"acme": {"colour": "red"}})
        host.router("acme", None, None)
        host.router("acme", None, None)
        assert host.driver(Kind.ROUTER, "acme").heard == [{"acme": {"colour": "red"}}]

    def test_a_driver_may_be_chosen_by_an_extension_and_a_broken_one_does_not_matter(self):
        def fails(kind):
            raise RuntimeError("no idea")

        host = Host(
            plugins=[
                plugin(choose_driver=lambda kind: "keyword" if kind is Kind.ROUTER else None),
                type("Broken", (), {"choose_driver": staticmethod(hookimpl(fails))})(),
            ],
            discover=False,
        )
        assert host.choose_driver(Kind.ROUTER, TASK) == "keyword"
        assert host.choose_driver(Kind.ORCHESTRATOR, TASK) is None


class TestWatchers:
    def test_an_observer_that_fails_stops_no_other(self, install, caplog):
        failing = "from officellm import hookimpl\n@hookimpl\ndef observe(event): raise RuntimeError('no luck')"
        install_extension(install, "fails", failing)
        install_extension(install, "before", TestExtensions.OBSERVER)
        install_extension(install, "zlast", TestExtensions.OBSERVER)
        Host().observe("event")
        import acme_before
        import acme_zlast

        assert acme_before.seen == acme_zlast.seen == ["event"]
        assert "officellm.extensions:fails failed in observe" in caplog.text

    def test_observers_hear_in_pluggy_s_order(self):
        heard = []

        class First:
            @hookimpl
            def observe(self):
                heard.append("first")

        class Second:
            @hookimpl
            def observe(self):
                heard.append("second")

        class Early:
            @hookimpl(tryfirst=True)
            def observe(self):
                heard.append("early")

        class Late:
            @hookimpl(trylast=True)
            def observe(self):
                heard.append("late")

        Host(plugins=[Early(), First(), Second(), Late()], discover=False).observe("event")
        assert heard == ["early", "second", "first", "late"]

    def test_without_observers_nothing_is_observed(self):
        assert not Host(discover=False).observed
        assert not Host(discover=False).judged


def raising(error):
    def judge(call, agent, run):
        raise error

    return judge


class TestJudges:
    @staticmethod
    def verdict(*judges):
        plugins = [type(f"Judge{n}", (), {"judge": staticmethod(hookimpl(judge))})() for n, judge in enumerate(judges)]
        return Host(plugins=plugins, discover=False).judge(CALL, None, RUN)

    def test_nobody_minds(self):
        assert self.verdict() == Verdict("allow")
        assert self.verdict(lambda call: None) == Verdict("allow")

    @pytest.mark.parametrize("order", [1, -1], ids=["allowed first", "refused first"])
    def test_the_strictest_wins(self, order):
        judges = [lambda: Verdict("allow"), lambda: Verdict("refuse", "too loud")][::order]
        assert self.verdict(*judges, lambda: None) == Verdict("refuse", "too loud")

    @pytest.mark.parametrize("order", [1, -1], ids=["allowed first", "failed first"])
    def test_one_that_fails_refuses(self, order, caplog):
        judges = [lambda: Verdict("allow"), raising(RuntimeError("no luck"))][::order]
        assert self.verdict(*judges) == Verdict("refuse", "refused: a guard failed (RuntimeError)")
        assert "a judge failed" in caplog.text

    @pytest.mark.parametrize("nonsense", [False, True, "refuse", 0, Choice("boss")], ids=repr)
    def test_one_that_answers_nonsense_refuses(self, nonsense, caplog):
        assert self.verdict(lambda: Verdict("allow"), lambda: nonsense).ruling == "refuse"

    def test_a_ruling_that_nobody_knows_refuses(self):
        assert self.verdict(lambda: Verdict("maybe", "who knows")).ruling != "allow"


def test_a_library_that_is_not_asked_prints_no_log():
    code = "import logging; from officellm import Host; logging.getLogger('officellm').error('set aside')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
