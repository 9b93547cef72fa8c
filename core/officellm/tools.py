"""Tools: ordinary typed functions. Hints make the schema, the docstring the descriptions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from officellm.errors import ToolDefinitionError
from officellm.messages import ToolSpec

if TYPE_CHECKING:
    from officellm.signatures import Signature
    from officellm.tasks import Task

P = ParamSpec("P")
R = TypeVar("R")

MARK = "__officellm_tool__"


@dataclass(frozen=True, slots=True)
class Context:
    """What a tool may know of the run; a first parameter of this type is filled in and hidden from the model.

    `agent` is the caller's true name. `idempotency_key` is the same for every retry of the same call, also after a
    resume. `deadline` is in seconds on the run's monotonic clock.
    """

    run_id: str
    agent: str
    call_id: str
    idempotency_key: str
    deadline: float | None = None
    task: Task | None = None
    deps: Any = None
    _emit: Callable[[str], None] | None = field(default=None, repr=False)

    def emit(self, message: str) -> None:
        """Say something to whoever watches the run."""
        if self._emit is not None:
            self._emit(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """What can be said of a tool besides its function."""

    name: str | None = None
    description: str | None = None
    timeout: float | None = None
    sequential: bool = False
    idempotent: bool = False
    max_chars: int = 50_000


@overload
def tool(function: Callable[P, R], /) -> Callable[P, R]: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    timeout: float | None = None,
    sequential: bool = False,
    idempotent: bool = False,
    max_chars: int = 50_000,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def tool(function: Callable[P, R] | None = None, /, **options: Any) -> Any:
    """Mark a function as a tool, or tune one. The function stays callable and keeps its type.

    `timeout` in seconds; `sequential` runs alone among the calls of a reply; `idempotent` may be repeated after a
    crash; `max_chars` caps what the model gets back.
    """

    def mark(function: Callable[P, R]) -> Callable[P, R]:
        setattr(function, MARK, ToolOptions(**options))
        return function

    return mark if function is None else mark(function)


def is_tool(value: object) -> bool:
    """Whether `@tool` was written on it."""
    return isinstance(getattr(value, MARK, None), ToolOptions)


class Tool:
    """A tool that can be offered and run. `spec` is what the model sees, built once."""

    __slots__ = ("_function", "_is_async", "_signature", "options", "spec")

    def __init__(self, function: Callable[..., Any], options: ToolOptions | None = None) -> None:
        from officellm.signatures import read_signature

        if not callable(function):
            raise ToolDefinitionError(f"a tool must be a function, not {type(function).__name__}")
        self.options = options or getattr(function, MARK, None) or ToolOptions()
        self._function = function
        self._signature: Signature = read_signature(function)
        target = function if inspect.isroutine(function) else type(function).__call__
        self._is_async = inspect.iscoroutinefunction(target)
        name = self.options.name or str(getattr(function, "__name__", type(function).__name__))
        description = self.options.description or self._signature.description
        self.spec = ToolSpec(name, description, self._signature.schema)

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"

    @property
    def name(self) -> str:
        """The name that the model calls."""
        return self.spec.name

    @property
    def wants_context(self) -> bool:
        """Whether a parameter gets the run's context."""
        return self._signature.context is not None

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Checked keyword arguments with defaults applied. Raises `ArgumentsError`, whose text is for the model."""
        return self._signature.validate(arguments)

    async def run(self, arguments: dict[str, Any], context: Context | None = None) -> Any:
        """Run with validated arguments; a sync function runs in a thread. Raises whatever the function raises."""
        name = self._signature.context
        if name is not None:
            arguments = {**arguments, name: context}
        # What runs in a thread cannot cancel or end this task, and needs no task of its own.
        from officellm.apart import apart
        from officellm.threads import in_thread

        function = self._function
        value = function(**arguments) if self._is_async else await in_thread(lambda: function(**arguments))
        return await apart(value) if inspect.isawaitable(value) else value


def as_tool(value: Any) -> Tool:
    """A `Tool` from a tool, or from a function."""
    return value if isinstance(value, Tool) else Tool(value)
