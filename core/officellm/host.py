"""Binds plugins to hooks and calls them, typed. Only this module imports pluggy's manager; nobody else calls a hook."""

from __future__ import annotations

import inspect
import logging
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pluggy

from officellm import hookspecs, protocols, shelf
from officellm.errors import ConfigError, OfficeError, PluginBrokenError, PluginError
from officellm.kinds import DISABLE, EXTENSIONS, Kind

if TYPE_CHECKING:
    from pydantic import BaseModel

    from officellm.agents import Agent
    from officellm.clock import Clock
    from officellm.events import Event
    from officellm.protocols import Ask, CallInfo, HttpFactory, RunInfo, Verdict
    from officellm.tasks import Task

log = logging.getLogger("officellm")
log.addHandler(logging.NullHandler())

#: Hooks whose implementations are called one by one, each in its own guard.
_UNWRAPPED = frozenset({"choose_driver", "observe", "run_scope"})


class Host:
    """One office's plugins. An object, never a module global.

    Extensions are loaded at construction unless `OFFICELLM_DISABLE=name,...` names them. One that fails is set aside
    with its reason (`set_aside`); only if it is `required` does it stop the office.
    """

    def __init__(
        self,
        *,
        plugins: Iterable[object] = (),
        required: Sequence[str] = (),
        settings: Mapping[str, Any] | None = None,
        discover: bool = True,
    ) -> None:
        self._pm = pluggy.PluginManager(hookspecs.PROJECT)
        self._pm.add_hookspecs(hookspecs)
        self._drivers: dict[tuple[Kind, str], object] = {}
        self._callers: dict[tuple[str, int], Any] = {}
        # One office may run in several threads: a driver that registers must not answer another's call.
        self._lock = threading.RLock()
        self.set_aside: dict[str, str] = {}
        self._pm.hook.configure.call_historic(kwargs={"settings": dict(settings or {})})
        if discover:
            self._load_extensions(required)
        for number, plugin in enumerate(plugins):
            name = getattr(plugin, "__name__", type(plugin).__name__)
            # Two objects of one class are two plugins.
            self._register(plugin, f"{name}-{number}" if self._pm.has_plugin(name) else name)
        missing = [name for name in required if not self._pm.has_plugin(f"{EXTENSIONS}:{name}")]
        if missing:
            reasons = "; ".join(
                self.set_aside.get(name, f"no extension named {name!r} is installed") for name in missing
            )
            raise PluginError(f"required plugins are missing: {reasons}")

    def _load_extensions(self, required: Sequence[str]) -> None:
        disabled = {name.strip() for name in os.environ.get(DISABLE, "").split(",") if name.strip()}
        # Later registration runs first in pluggy; sorting makes the order the same on every machine.
        # What is required is asked for by name, which reads past a stale cache.
        for name in sorted({*shelf.names(EXTENSIONS), *required}):
            if name in disabled and name not in required:
                self.set_aside[name] = f"{name}: switched off by {DISABLE}"
                continue
            try:
                module = shelf.load_from(EXTENSIONS, name, "extension")
                self._register(module, f"{EXTENSIONS}:{name}")
            except PluginError as error:
                self.set_aside[name] = str(error)
                log.warning("extension set aside: %s", error)

    def _register(self, plugin: object, name: str) -> None:
        """Raises `PluginBrokenError` for a plugin that breaks the contract; it leaves no trace."""
        known = self._pm.get_name(plugin)
        if known is not None:
            raise PluginBrokenError(f"plugin {name!r} is the same as {known!r}, which is loaded already")
        _check_hooks(plugin, name)
        self._callers.clear()
        try:
            self._pm.register(plugin, name)
            self._pm.check_pending()
        except Exception as error:
            # pluggy registers before it replays `configure`, where a plugin may raise anything.
            if self._pm.is_registered(plugin):
                self._pm.unregister(plugin)
            raise PluginBrokenError(f"plugin {name!r} breaks the contract: {error}") from error

    def driver(self, kind: Kind, name: str) -> object:
        """The driver's plugin, found and registered on first use. Raises `PluginError`."""
        key = (kind, name)
        with self._lock:
            plugin = self._drivers.get(key)
            if plugin is None:
                module: ModuleType = shelf.load(kind, name)
                if not self._pm.is_registered(module):
                    self._register(module, f"{kind.group}:{name}")
                plugin = self._drivers[key] = module
            return plugin

    def add_driver(self, kind: Kind, name: str, plugin: object) -> None:
        """Use a plugin object as a driver under this name: for tests and for code that has no package."""
        if not self._pm.is_registered(plugin):
            self._register(plugin, f"{kind.group}:{name}")
        self._drivers[(kind, name)] = plugin

    def settings(
        self, kind: Kind, name: str, values: Mapping[str, Any], *, place: str | None = None
    ) -> BaseModel | None:
        """Validated settings of a driver, None where it takes none. Raises `ConfigError` that names the key."""
        from pydantic import ValidationError

        from officellm.misfits import misfits

        model = self.settings_model(kind, name)
        if model is None:
            if values:
                raise ConfigError(f"{kind.value} {name!r} takes no settings, got {', '.join(values)}", place=place)
            return None
        try:
            return model.model_validate(dict(values))
        except ValidationError as error:
            raise ConfigError(f"{kind.value} {name!r}: {misfits(error, model)}", place=place) from None

    def settings_model(self, kind: Kind, name: str) -> type[BaseModel] | None:
        """The driver's settings model."""
        with self._lock, _asking(kind, name):
            caller = self._only("settings_model", self.driver(kind, name))
            return caller(kind=kind, name=_bare(name))  # type: ignore[no-any-return]

    def provider(self, driver: str, name: str, settings: Any, http: HttpFactory) -> protocols.Provider:
        """A provider of this wire format, named `name`."""
        return self._make(Kind.PROVIDER, driver, name=name, settings=settings, http=http)  # type: ignore[no-any-return]

    def router(self, driver: str, settings: Any, ask: Ask) -> protocols.Router:
        """A router for one run."""
        return self._make(Kind.ROUTER, driver, name=_bare(driver), settings=settings, ask=ask)  # type: ignore[no-any-return]

    def orchestrator(self, driver: str, settings: Any) -> protocols.Orchestrator:
        """An orchestrator for one run."""
        return self._make(Kind.ORCHESTRATOR, driver, name=_bare(driver), settings=settings)  # type: ignore[no-any-return]

    def catalog(self, driver: str, name: str, settings: Any, http: HttpFactory) -> protocols.Catalog:
        """A catalog of an office."""
        return self._make(Kind.CATALOG, driver, name=name, settings=settings, http=http)  # type: ignore[no-any-return]

    def limit_policy(self, driver: str, settings: Any, clock: Clock) -> protocols.LimitPolicy:
        """A limit policy for one run."""
        return self._make(Kind.LIMIT, driver, name=_bare(driver), settings=settings, clock=clock)  # type: ignore[no-any-return]

    def engine(self, driver: str, settings: Any) -> protocols.Engine:
        """An engine for an office."""
        return self._make(Kind.ENGINE, driver, name=_bare(driver), settings=settings)  # type: ignore[no-any-return]

    def choose_driver(self, kind: Kind, task: Task) -> str | None:
        """The driver to use where nobody named one."""
        found = self._guarded("choose_driver", {"kind": kind, "task": task})
        return next((name for name in found if name is not None), None)

    def run_scopes(self, run: RunInfo) -> list[AbstractAsyncContextManager[Any]]:
        """The scopes that extensions put around a run, in order."""
        found = self._guarded("run_scope", {"run": run})
        return [scope for scope in found if scope is not None]

    @property
    def observed(self) -> bool:
        """Whether any plugin observes events."""
        return bool(self._pm.hook.observe.get_hookimpls())

    def observe(self, event: Event) -> None:
        """Tell every observer, each in its own guard."""
        self._guarded("observe", {"event": event})

    @property
    def judged(self) -> bool:
        """Whether any plugin judges calls."""
        return bool(self._pm.hook.judge.get_hookimpls())

    def judge(self, call: CallInfo, agent: Agent, run: RunInfo) -> Verdict:
        """The strictest verdict; a judge that raises refuses."""
        from officellm.protocols import Verdict

        try:
            verdicts = self._pm.hook.judge(call=call, agent=agent, run=run)
            refusals = [verdict for verdict in verdicts if verdict.ruling != "allow"]
        except Exception as error:
            log.exception("a judge failed")
            return Verdict("refuse", f"refused: a guard failed ({type(error).__name__})")
        return refusals[0] if refusals else Verdict("allow")

    def _guarded(self, hook: str, kwargs: dict[str, Any]) -> list[Any]:
        """Call each implementation apart, in pluggy's order, so that one that fails stops no other."""
        out = []
        for implementation in reversed(getattr(self._pm.hook, hook).get_hookimpls()):
            names = implementation.argnames
            try:
                out.append(implementation.function(*(kwargs[name] for name in names)))
            except Exception:
                log.exception("plugin %s failed in %s", implementation.plugin_name, hook)
        return out

    def _only(self, hook: str, plugin: object) -> Any:
        """A caller that leaves out every other plugin that answers; wrappers of extensions still apply."""
        key = (hook, id(plugin))
        made = self._callers.get(key)
        if made is not None:
            return made
        caller = getattr(self._pm.hook, hook)
        others = [
            implementation.plugin
            for implementation in caller.get_hookimpls()
            if implementation.plugin is not plugin and not (implementation.wrapper or implementation.hookwrapper)
        ]
        made = self._callers[key] = self._pm.subset_hook_caller(hook, others)
        return made

    def _make(self, kind: Kind, driver: str, **kwargs: Any) -> Any:
        with self._lock, _asking(kind, driver):
            made = self._only(kind.hook, self.driver(kind, driver))(**kwargs)
        protocol = getattr(protocols, kind.protocol)
        if made is None:
            raise PluginBrokenError(f"{kind.value} {driver!r} does not implement the hook {kind.hook}")
        if not isinstance(made, protocol):
            raise PluginBrokenError(
                f"{kind.value} {driver!r} made a {type(made).__name__}, which is no {kind.protocol}: "
                f"it lacks {', '.join(_lacking(made, protocol))}"
            )
        return made


def _bare(name: str) -> str:
    """A driver's name without the package that was chosen."""
    return name.partition("@")[0]


@contextmanager
def _asking(kind: Kind, name: str) -> Iterator[None]:
    """Whatever a driver's hook raises, but our own errors, is the plugin's defect."""
    try:
        yield
    except OfficeError:
        raise
    except Exception as error:
        raise PluginBrokenError(f"the {kind.value} {name!r} failed: {type(error).__name__}: {error}") from error


def _check_hooks(plugin: object, name: str) -> None:
    """Refuses what pluggy would take and never run."""
    for attribute in dir(plugin):
        function = inspect.getattr_static(plugin, attribute, None)
        options = getattr(function, f"{hookspecs.PROJECT}_impl", None)
        if options is None:
            continue
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise PluginBrokenError(
                f"plugin {name!r}: hook {attribute} is `async def`; hooks are synchronous and return an object "
                "whose methods may be async"
            )
        if (options["wrapper"] or options["hookwrapper"]) and (options["specname"] or attribute) in _UNWRAPPED:
            raise PluginBrokenError(f"plugin {name!r}: hook {attribute} cannot be wrapped: each is called apart")


def _lacking(made: object, protocol: type) -> list[str]:
    wanted = [name for name in vars(protocol) if not name.startswith("_")] + list(
        vars(protocol).get("__annotations__", {})
    )
    return [name for name in wanted if not hasattr(made, name)]
