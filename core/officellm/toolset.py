"""What one agent may call: tools, catalog tools, workers, transfers. Anything that is not in its set does not exist."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from officellm.errors import ConfigError, nearest
from officellm.messages import ToolSpec
from officellm.schemas import checker
from officellm.signatures import ArgumentsError, describe, schema_of_model
from officellm.tasks import Priority, labelled
from officellm.tools import Tool

if TYPE_CHECKING:
    from officellm.agents import Agent
    from officellm.protocols import Catalog

TRANSFER = "transfer_to_agent"


class WorkerParams(BaseModel):
    """What a caller passes to a worker that has no parameter model of its own."""

    model_config = ConfigDict(extra="forbid")

    task: str = Field(description="What the worker should do, with all it needs to know.", min_length=1)
    priority: Priority | None = Field(None, description="How urgent it is.")
    context: str | None = Field(None, description="Background that helps, such as earlier results.")


# Written out: a nullable enum is more than some vendors' schema checkers and small models can take.
_WORKER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "task": {"type": "string", "description": WorkerParams.model_fields["task"].description},
        "priority": {
            "type": "string",
            "enum": ["low", "medium", "high"],
            "description": WorkerParams.model_fields["priority"].description,
        },
        "context": {"type": "string", "description": WorkerParams.model_fields["context"].description},
    },
    "required": ["task"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that an agent may call. `validate` returns checked arguments or raises `ArgumentsError`."""

    kind: Literal["tool", "worker", "transfer"]
    spec: ToolSpec
    validate: Callable[[Mapping[str, Any]], dict[str, Any]]
    tool: Tool | None = None
    catalog: Catalog | None = None
    sequential: bool = False
    idempotent: bool = False
    timeout: float | None = None
    max_chars: int = 50_000
    #: The name that the catalog knows, where the tool is offered under another.
    original: str = ""


def tool_entry(tool: Tool) -> Entry:
    """An entry for a function."""
    options = tool.options
    return Entry(
        "tool",
        tool.spec,
        tool.validate,
        tool=tool,
        sequential=options.sequential,
        idempotent=options.idempotent,
        timeout=options.timeout,
        max_chars=options.max_chars,
    )


def catalog_entry(catalog: Catalog, spec: ToolSpec, options: Mapping[str, Any]) -> Entry:
    """An entry for a tool of a catalog; its arguments are checked against its schema."""
    return Entry("tool", spec, checker(spec.parameters), catalog=catalog, **options)


def renamed(entry: Entry, name: str) -> Entry:
    """The same entry, offered under another name."""
    return replace(entry, spec=replace(entry.spec, name=name), original=entry.spec.name)


def worker_entry(agent: Agent) -> Entry:
    """An entry that runs another agent."""
    schema, validate = parameters_of(agent)
    return Entry("worker", ToolSpec(agent.name, agent.purpose(), schema), validate)


def parameters_of(agent: Agent) -> tuple[Mapping[str, Any], Callable[[Mapping[str, Any]], dict[str, Any]]]:
    """The schema and the check of what a caller must pass to this agent."""
    params = agent.params
    if params is None:
        return _WORKER_SCHEMA, _model_check(WorkerParams)
    if isinstance(params, Mapping):
        return params, checker(params)
    return schema_of_model(params), _model_check(params)


def _model_check(model: type[BaseModel]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    def check(arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return model.model_validate(arguments).model_dump(exclude_none=True, mode="json")
        except ValidationError as error:
            raise ArgumentsError(describe(error)) from None

    return check


def worker_prompt(agent: Agent, arguments: Mapping[str, Any], priority: str) -> str:
    """The worker's first user message. The task's priority is inherited where the caller gave none."""
    if agent.params is not None:
        return "\n\n".join(labelled(arguments))
    named = {"Task": arguments["task"], "Priority": arguments.get("priority", priority)}
    if arguments.get("context"):
        named["Context"] = arguments["context"]
    return "\n\n".join(labelled(named))


def transfer_entry(targets: Sequence[Agent]) -> Entry:
    """An entry that asks to hand the conversation over to one of `targets`."""
    targets = sorted(targets, key=lambda agent: agent.name)
    names = [agent.name for agent in targets]
    listed = "\n".join(f"- {agent.name}: {agent.purpose()}" for agent in targets)
    schema = {
        "type": "object",
        "properties": {
            "agent": {"type": "string", "enum": names, "description": "Who takes over."},
            "reason": {"type": "string", "description": "Why that agent is better placed."},
            "query": {"type": "string", "description": "What it should do, with all it needs to know."},
        },
        "required": ["agent"],
        "additionalProperties": False,
    }

    def check(arguments: Mapping[str, Any]) -> dict[str, Any]:
        target = arguments.get("agent")
        if target not in names:
            hint = nearest(target, names) if isinstance(target, str) else f" Available: {', '.join(names)}."
            raise ArgumentsError(f"agent: {target!r} cannot take over.{hint}")
        for key, value in arguments.items():
            if key not in ("agent", "reason", "query") or not isinstance(value, str):
                raise ArgumentsError(f"{key}: give agent, reason and query, each a text")
        return dict(arguments)

    description = f"Hand the conversation over to another agent, who then answers the user. Agents:\n{listed}"
    return Entry("transfer", ToolSpec(TRANSFER, description, schema), check)


class Toolset:
    """The entries of one agent by name, and their specs in order: built once, the same objects every turn."""

    __slots__ = ("_entries", "specs")

    def __init__(self, entries: Iterable[Entry], *, owner: str) -> None:
        self._entries: dict[str, Entry] = {}
        folded: dict[str, str] = {}
        for entry in entries:
            name = entry.spec.name
            other = folded.get(name.casefold())
            if other is not None:
                same = self._entries[other].kind == entry.kind
                kind = f"two {entry.kind}s" if same else "a worker and a tool"
                raise ConfigError(f"agent {owner!r}: {kind} share the name {name!r}")
            folded[name.casefold()] = name
            self._entries[name] = entry
        self.specs: tuple[ToolSpec, ...] = tuple(entry.spec for entry in self._entries.values())

    def get(self, name: str) -> Entry | None:
        """The entry of this name."""
        return self._entries.get(name)

    def names(self) -> list[str]:
        """All names, in order."""
        return list(self._entries)

    def entries(self) -> list[Entry]:
        """All entries, in order."""
        return list(self._entries.values())
