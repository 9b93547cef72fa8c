"""Every error of the public API, in one tree, split by whose fault it is.

OfficeError
├── ConfigError                what the user wrote cannot work; nothing was sent      exit 2
│   ├── UnknownAgentError
│   ├── NoRouteError
│   ├── WorkflowError
│   ├── ToolDefinitionError
│   └── PluginError
│       ├── PluginNotFoundError
│       ├── PluginConflictError
│       └── PluginBrokenError
├── RunError                   a run that started did not succeed; carries its result  exit 1
├── ProviderError              a model request that failed, after all retries
├── LimitReached               a limit policy refused more work
├── RouteError                 a router answered nonsense and has no default
├── PlanError                  a model's plan cannot work, also after it was told why
└── ToolError                  raised by a tool: its text is shown to the model as it is
    └── FatalToolError         ends the run as `failed`
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from officellm.results import Result
    from officellm.wire import Fault


def nearest(word: str, known: Iterable[str]) -> str:
    """The sentence `Did you mean 'x'?`, or a list of what there is; empty when there is nothing to offer."""
    names = [str(name) for name in known]
    folded = {name.casefold(): name for name in names}
    found = get_close_matches(word.casefold(), list(folded), n=1, cutoff=0.65)
    if not found and len(word) >= 3:
        found = [name for name in folded if name.startswith(word.casefold())][:1]
    if found:
        return f" Did you mean {folded[found[0]]!r}?"
    return f" Available: {', '.join(sorted(names))}." if names else ""


class OfficeError(Exception):
    """Root of the tree: `except OfficeError` catches whatever officellm raises on purpose."""

    exit_code = 1


class ConfigError(OfficeError):
    """A command line, team file, task file or argument that cannot work. `place` is `file:line` or a key path."""

    exit_code = 2

    def __init__(self, message: str, *, place: str | None = None) -> None:
        self.place = place
        super().__init__(f"{place}: {message}" if place else message)


class ConfigErrors(ConfigError):  # noqa: N818 - a plural
    """Several problems of one file, one a line; `problems` holds them apart."""

    def __init__(self, problems: Sequence[ConfigError]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in problems))


class UnknownAgentError(ConfigError):
    """An agent that the office does not have."""

    def __init__(self, name: str, known: Iterable[str], *, place: str | None = None) -> None:
        self.name = name
        self.known = tuple(known)
        super().__init__(f"unknown agent {name!r}.{nearest(name, self.known)}", place=place)


class NoRouteError(ConfigError):
    """No route matched and there is no default."""

    def __init__(self, query: str, routes: Iterable[str]) -> None:
        self.query = query
        self.routes = tuple(routes)
        shown = query if len(query) <= 120 else query[:117] + "..."
        super().__init__(f"no route for {shown!r} and no default. Routes: {', '.join(self.routes) or 'none'}.")


class WorkflowError(ConfigError):
    """A workflow that cannot work; nothing was run. `node` and `key` say where the mistake is, where that is known."""

    def __init__(self, message: str, *, node: str = "", key: str = "") -> None:
        self.node = node
        self.key = key
        super().__init__(message)


class ToolDefinitionError(ConfigError):
    """A function that cannot be a tool."""


class PluginError(ConfigError):
    """A plugin that was asked for cannot be used."""


class PluginNotFoundError(PluginError):
    """No installed package offers this name."""


class PluginConflictError(PluginError):
    """Two installed packages offer one name."""


class PluginBrokenError(PluginError):
    """A plugin that fails to import or breaks the contract."""


class RunError(OfficeError):
    """Raised by `Result.raise_for_error()`; `result` is the whole result."""

    def __init__(self, message: str, result: Result) -> None:
        self.result = result
        super().__init__(message)


class ProviderError(OfficeError):
    """A model request that failed for good: `fault` says how, `attempts` how often it was tried."""

    def __init__(self, provider: str, fault: Fault, *, attempts: int = 1, partial: str = "") -> None:
        self.provider = provider
        self.fault = fault
        self.attempts = attempts
        self.partial = partial
        status = f" answered HTTP {fault.status}" if fault.status else ""
        tries = f" after {attempts} attempts" if attempts > 1 else ""
        named = f" (request id {fault.request_id})" if fault.request_id else ""
        super().__init__(f"provider {provider!r}{status}{tries}: {fault.kind}: {fault.message}{named}")

    @property
    def status(self) -> int | None:
        """The HTTP status, or None where no reply came."""
        return self.fault.status

    @property
    def retryable(self) -> bool:
        """Whether the same request could succeed later."""
        return self.fault.retryable


class LimitReached(OfficeError):  # noqa: N818 - an outcome, not a mistake
    """A limit policy refused more work: `which` is the limit's name, `stop_reason` the outcome it stands for."""

    def __init__(
        self, which: str, value: float, limit: float, stop_reason: str, *, agent: str = "", detail: str = ""
    ) -> None:
        self.which = which
        self.value = value
        self.limit = limit
        self.stop_reason = stop_reason
        self.agent = agent
        who = f"agent {agent!r} " if agent else ""
        super().__init__(detail or f"{who}reached {which}: {value:g} of {limit:g}")


class RouteError(OfficeError):
    """A router's model chose no agent on offer; `reply` is what it said."""

    def __init__(self, reply: str, agents: Iterable[str]) -> None:
        self.reply = reply
        self.agents = tuple(agents)
        shown = reply if len(reply) <= 200 else reply[:197] + "..."
        super().__init__(f"the router chose no agent on offer: {shown!r}. Agents: {', '.join(self.agents)}.")


class PlanError(OfficeError):
    """A model's plan that cannot work; `problems` says why, `reply` is what the model wrote."""

    def __init__(self, problems: Sequence[str], reply: str = "") -> None:
        self.problems = tuple(problems)
        self.reply = reply
        super().__init__(f"the plan cannot work: {'; '.join(self.problems)}")


class ToolError(OfficeError):
    """Raise it in a tool to tell the model, in your words, what went wrong."""


class FatalToolError(ToolError):
    """Raise it in a tool to end the whole run as `failed`."""
