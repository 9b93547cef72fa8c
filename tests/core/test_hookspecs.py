"""The hooks as a contract: frozen signatures, and each hook at its place in a run."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from officellm import Agent, Choice, Host, Kind, Office, Task, ToolSpec, UnknownAgentError, Verdict, hookimpl, hookspecs
from officellm.testing import call, scripted

FROZEN = Path(__file__).parents[1] / "hookspecs.txt"
REFERENCE = Path(__file__).parents[2] / "docs" / "hooks.md"
HOOKS = sorted(name for name, value in vars(hookspecs).items() if hasattr(value, "officellm_spec"))


def spelled(name: str) -> str:
    function = getattr(hookspecs, name)
    options = [option for option in ("firstresult", "historic") if function.officellm_spec[option]]
    signature = str(inspect.signature(function)).replace("'", "")
    return " ".join([f"{name}{signature}", *options])


def test_the_hooks_are_the_frozen_ones():
    """A change belongs into `tests/hookspecs.txt`, the reference and the changelog, in the same commit."""
    assert FROZEN.read_text().splitlines() == [spelled(name) for name in HOOKS]


def test_the_reference_has_a_heading_for_each_hook_with_its_exact_arguments():
    headings = [line[4:] for line in REFERENCE.read_text().splitlines() if line.startswith("### ")]
    wanted = [f"{name}({', '.join(inspect.signature(getattr(hookspecs, name)).parameters)})" for name in HOOKS]
    assert sorted(headings) == wanted


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_is_documented_and_fully_annotated(name):
    function = getattr(hookspecs, name)
    assert function.__doc__
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(one.annotation is not inspect.Parameter.empty for one in signature.parameters.values())
    assert all(one.default is inspect.Parameter.empty for one in signature.parameters.values())
    assert not inspect.iscoroutinefunction(function)


@pytest.mark.parametrize("kind", Kind)
def test_a_kind_has_its_hook_and_its_protocol(kind):
    from officellm import protocols

    assert kind.hook in HOOKS
    assert hasattr(protocols, kind.protocol)
    assert spelled(kind.hook).endswith(" firstresult")


class Model:
    """A provider driver without settings and without a network."""

    @hookimpl
    def make_provider(self, name):
        return scripted([*['{"agent": "boss"}'], call("look", place="pool"), "done"])


class Tools:
    """A catalog with one tool."""

    @hookimpl
    def make_catalog(self, name):
        return self

    async def tools(self):
        return [ToolSpec("look", "Looks", {"type": "object", "properties": {"place": {"type": "string"}}})]

    async def call(self, name, arguments, context):
        return "water"


class Witness:
    """An extension that answers or wraps every hook and writes down what it heard."""

    def __init__(self):
        self.lines = []

    @hookimpl
    def configure(self, settings):
        self.lines.append(f"configure {settings['witness']}")

    @hookimpl(wrapper=True)
    def settings_model(self, kind, name):
        self.lines.append(f"settings_model {kind} {name}")
        return (yield)

    @hookimpl
    def choose_driver(self, kind, task):
        self.lines.append(f"choose_driver {kind}")
        return {Kind.ROUTER: "llm"}.get(kind)

    @hookimpl
    def run_scope(self, run):
        self.lines.append(f"run_scope {run.task.title}")
        return Scope(self.lines)

    @hookimpl
    def observe(self, event):
        self.lines.append(f"observe {event.type}")

    @hookimpl
    def judge(self, call, agent, run):
        self.lines.append(f"judge {call.kind} {call.name} of {agent.name}")
        return Verdict("allow")


class Scope:
    def __init__(self, lines):
        self.lines = lines

    async def __aenter__(self):
        self.lines.append("scope opens")

    async def __aexit__(self, *error):
        self.lines.append("scope closes")


def wrapping(hook):
    @hookimpl(wrapper=True, specname=hook)
    def note(self, name):
        self.lines.append(f"{hook} {name}")
        return (yield)

    return note


for _kind in Kind:
    setattr(Witness, _kind.hook, wrapping(_kind.hook))

ORDER = """\
configure here
settings_model catalog tools
make_catalog tools
settings_model provider model
make_provider main
settings_model limit purse
make_limit_policy purse
settings_model limit loops
make_limit_policy loops
choose_driver orchestrator
settings_model orchestrator manager
make_orchestrator manager
run_scope Tide pools
scope opens
observe run.start
choose_driver router
settings_model router llm
make_router llm
observe model.request
observe model.response
observe route
observe agent.start
observe model.request
observe model.response
judge tool look of boss
observe tool.call
observe tool.result
observe model.request
observe model.response
observe agent.end
observe run.end
scope closes"""


async def test_the_hooks_of_one_run_are_called_in_this_order():
    witness = Witness()
    host = Host(plugins=[witness], settings={"witness": "here"}, discover=False)
    host.add_driver(Kind.PROVIDER, "model", Model())
    host.add_driver(Kind.CATALOG, "tools", Tools())
    boss = Agent("boss", "Leads", model="main:large", tools=["look"])
    office = Office(
        boss,
        agents=[Agent("writer", "Writes", model="main:large")],
        providers={"main": {"format": "model"}},
        catalogs={"tools": {}},
        host=host,
    )
    result = await office.run(Task(title="Tide pools"))
    assert result.success, result.error
    assert "\n".join(witness.lines) == ORDER
    called = {line.split()[0] for line in witness.lines} - {"scope"}
    assert called == set(HOOKS) - {"make_engine"}, "no engine is shipped yet; every other hook must be in this run"


class TestRunScopes:
    """Each in its own guard: a scope that fails is reported, and the run goes on."""

    @staticmethod
    async def run(*scopes):
        plugins = [
            type(f"Plugin{number}", (), {"run_scope": staticmethod(hookimpl(lambda run, scope=scope: scope))})()
            for number, scope in enumerate(scopes)
        ]
        office = Office(Agent("boss", model=scripted(["done"])), host=Host(plugins=plugins, discover=False))
        return await office.run("Tide pools")

    @staticmethod
    def scope(lines, name, *, opens=None, closes=None):
        class One:
            async def __aenter__(self):
                lines.append(f"{name} opens")
                if opens is not None:
                    raise opens

            async def __aexit__(self, *error):
                lines.append(f"{name} closes")
                if closes is not None:
                    raise closes
                return True

        return One()

    async def test_they_close_in_the_reverse_order(self):
        lines = []
        result = await self.run(self.scope(lines, "first"), self.scope(lines, "second"), None)
        assert result.success
        assert lines == ["second opens", "first opens", "first closes", "second closes"]

    async def test_one_that_does_not_open_is_reported_and_not_closed(self, caplog):
        lines = []
        failing = self.scope(lines, "failing", opens=RuntimeError("no luck"))
        result = await self.run(self.scope(lines, "sound"), failing)
        assert result.success
        assert lines == ["failing opens", "sound opens", "sound closes"]
        assert "no luck" in caplog.text

    async def test_one_that_does_not_close_is_reported_and_the_others_close(self, caplog):
        lines = []
        failing = self.scope(lines, "failing", closes=RuntimeError("no luck"))
        result = await self.run(self.scope(lines, "sound"), failing, self.scope(lines, "last"))
        assert result.success
        assert lines[3:] == ["sound closes", "failing closes", "last closes"]
        assert "no luck" in caplog.text

    async def test_what_is_no_scope_is_reported(self, caplog):
        assert (await self.run("a text, and no scope")).success
        assert "a run scope failed to open" in caplog.text

    async def test_a_hook_that_fails_is_reported(self, caplog):
        @hookimpl
        def run_scope(run):
            raise RuntimeError("no luck")

        plugin = type("Plugin", (), {"run_scope": staticmethod(run_scope)})()
        office = Office(Agent("boss", model=scripted(["done"])), host=Host(plugins=[plugin], discover=False))
        assert (await office.run("Tide pools")).success
        assert "no luck" in caplog.text

    async def test_a_scope_cannot_swallow_the_end_of_a_run(self):
        """`__aexit__` returns True above, and an error of the run is still its error."""

        class Lost:
            async def route(self, task, agents):
                return Choice("nobody")

        plugin = type("Plugin", (), {"run_scope": staticmethod(hookimpl(lambda run: self.scope([], "greedy")))})()
        office = Office(
            agents=[Agent("boss", model=scripted(["done"])), Agent("writer", model=scripted([]))],
            router=Lost(),
            host=Host(plugins=[plugin], discover=False),
        )
        with pytest.raises(UnknownAgentError):
            await office.run("Tide pools")
