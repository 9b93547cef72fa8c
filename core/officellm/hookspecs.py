"""Every hook, in one file. Hooks are synchronous and do no I/O: whatever must await is an object that a hook returns.

Drivers are modules named by an entry point of their kind's group (`officellm.providers`, `.routers`, `.orchestrators`,
`.catalogs`, `.limits`, `.engines`). Exactly the driver that was chosen answers a `make_` hook, while every extension
may wrap it (`@hookimpl(wrapper=True)`). Extensions (`officellm.extensions`) are loaded at start.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

import pluggy

from officellm.kinds import Kind

if TYPE_CHECKING:
    from pydantic import BaseModel

    from officellm.agents import Agent
    from officellm.clock import Clock
    from officellm.events import Event
    from officellm.protocols import (
        Ask,
        CallInfo,
        Catalog,
        Engine,
        HttpFactory,
        LimitPolicy,
        Orchestrator,
        Provider,
        Router,
        RunInfo,
        Verdict,
    )
    from officellm.tasks import Task

PROJECT = "officellm"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec(firstresult=True)
def settings_model(kind: Kind, name: str) -> type[BaseModel] | None:
    """The driver's settings model: validates its block of the team file and prints its schema. None: no settings."""
    raise NotImplementedError


@hookspec(firstresult=True)
def make_provider(name: str, settings: Any, http: HttpFactory) -> Provider:
    """Called once for each provider that a run needs. `name` is the block's name, `http` gives the HTTP client."""
    raise NotImplementedError


@hookspec(firstresult=True)
def make_router(name: str, settings: Any, ask: Ask) -> Router:
    """Called once a run. `ask` is a metered model request; an empty `request.model` is the router's own model."""
    raise NotImplementedError


@hookspec(firstresult=True)
def make_orchestrator(name: str, settings: Any) -> Orchestrator:
    """Called once a run."""
    raise NotImplementedError


@hookspec(firstresult=True)
def make_catalog(name: str, settings: Any, http: HttpFactory) -> Catalog:
    """Called once for each catalog of an office."""
    raise NotImplementedError


@hookspec(firstresult=True)
def make_limit_policy(name: str, settings: Any, clock: Clock) -> LimitPolicy:
    """Called once a run for each policy; all policies apply. One that cannot be made stops the run."""
    raise NotImplementedError


@hookspec(firstresult=True)
def make_engine(name: str, settings: Any) -> Engine:
    """Called once an office."""
    raise NotImplementedError


@hookspec(firstresult=True)
def choose_driver(kind: Kind, task: Task) -> str | None:
    """A driver's name, where neither the user nor a file gave one. The built-in default answers last."""


@hookspec(historic=True)
def configure(settings: Mapping[str, Any]) -> None:
    """The office's `plugins` settings, at start; replayed to drivers that are loaded later."""


@hookspec
def run_scope(run: RunInfo) -> AbstractAsyncContextManager[Any] | None:
    """Around each run and all of its events: entered in pluggy's order (the extension that was loaded last first),
    closed in reverse. One that fails is reported; the run goes on.
    """


@hookspec
def observe(event: Event) -> None:
    """Every event of every run. Return at once; each implementation has its own guard."""


@hookspec
def judge(call: CallInfo, agent: Agent, run: RunInfo) -> Verdict | None:
    """Before a tool, worker or transfer runs. The strictest verdict wins; an exception is a refusal."""
