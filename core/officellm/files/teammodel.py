"""The keys of a team file, as pydantic models: what may stand where. What keys mean together is checked elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from officellm.fallback import FallbackOn
from officellm.limits import Limits, Positive

_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?\d{1,18}\.\d{1,18}")


def number_of(value: Any) -> Any:
    """The number that a text spells, because `${NAME}` always gives a text; anything else as it is."""
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value)
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return float(value)
    return value


def _numbers_of(value: Any) -> Any:
    return {key: number_of(item) for key, item in value.items()} if isinstance(value, Mapping) else value


def _named(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


def _stored(value: Any) -> Any:
    return {"store": value} if isinstance(value, str) else value


def _allowed(value: Any) -> Any:
    return {"allow": value} if isinstance(value, list) else value


class Strict(BaseModel):
    """A mapping whose unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Whole = Annotated[Positive, BeforeValidator(number_of)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False), BeforeValidator(number_of)]
FileLimits = Annotated[Limits, BeforeValidator(_numbers_of)]


class ToolRights(Strict):
    """Which tools an agent may call: names, patterns (`read_*`) and `module:function`; a list means `allow`."""

    allow: list[str] | None = None
    deny: list[str] = []


class AgentBlock(Strict):
    """One agent. `model` is `provider:name`, or the model's name where `provider` names the provider.

    `fallback` holds models as `provider:name`, asked in order where the model fails as `fallback_on` says.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra={"required": ["name"]})

    name: str = ""
    description: str = ""
    provider: str | None = None
    model: str | None = None
    fallback: list[str] = []
    fallback_on: list[FallbackOn] = ["error"]
    role: str = ""
    capabilities: list[str] = []
    system_prompt: str | None = None
    system_prompt_file: str | None = None
    tools: Annotated[ToolRights, BeforeValidator(_allowed, json_schema_input_type=list[str] | ToolRights)] = (
        ToolRights()
    )
    workers: list[str] | None = None
    transfers: list[str] | None = None
    entry: bool = True
    limits: FileLimits = Limits()
    max_turns: Whole | None = None
    params: Annotated[Any, Field(json_schema_extra={"type": ["string", "object"]})] = None
    context_window: Annotated[int, Field(ge=4, strict=True), BeforeValidator(number_of)] | None = None
    on_limit: Literal["stop", "summarize"] = "stop"
    guidance: bool = False
    settings: dict[str, Any] = {}


class Named(BaseModel):
    """A driver's name with its settings; a text is the name alone."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str

    @property
    def settings(self) -> dict[str, Any]:
        """What stands beside the name."""
        return dict(self.model_extra or {})


class Polling(BaseModel):
    """How the polling team works (`team run`), and optionally the orchestrator of office runs with its settings.

    `max_concurrent_dispatches` holds in each process, `max_per_agent` over all processes of a board. `dispatch_limits`
    bound one agent run of the polling team only; `limits` are the team's for everything.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str | None = None
    notification_kinds: list[str] = []
    poll_interval_seconds: Seconds = 5.0
    max_iterations: Annotated[int, Field(ge=0, strict=True), BeforeValidator(number_of)] = 0
    max_concurrent_dispatches: Whole = 4
    max_per_agent: Whole | None = None
    dispatch_limits: FileLimits = Limits()

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the orchestrator: the keys that are not about polling."""
        return dict(self.model_extra or {})


class ToolOptionsBlock(Strict):
    """What a team file may say of one tool; it wins over the tool's own `@tool(...)`."""

    timeout: Annotated[float, Field(ge=0, allow_inf_nan=False), BeforeValidator(number_of)] | None = None
    sequential: bool | None = None
    idempotent: bool | None = None
    max_chars: Whole | None = None


class ToolsBlock(BaseModel):
    """`modules` with tools, found beside the team file first; every other key is a tool's name with its options."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, ToolOptionsBlock] = Field(init=False)

    modules: list[str] = []

    @property
    def options(self) -> dict[str, ToolOptionsBlock]:
        """Options by the tool's name."""
        return dict(self.__pydantic_extra__ or {})


class McpServer(Strict):
    """A server of tools: a command to start, or a url."""

    command: list[str] | None = None
    url: str | None = None
    env: dict[str, str] = {}
    headers: dict[str, str] = {}
    allow: list[str] | None = None
    deny: list[str] = []
    timeout: Seconds | None = None


class Memory(BaseModel):
    """Where conversations are kept between runs; further keys are the store's settings."""

    model_config = ConfigDict(extra="allow", frozen=True)

    store: str = "none"


class Defaults(Strict):
    """What holds where an agent or the top of the file says nothing."""

    provider: str | None = None
    model: str | None = None
    router: str | None = None
    orchestrator: str | None = None


class TeamModel(Strict):
    """A whole team file."""

    version: Literal[1] = 1
    defaults: Defaults = Defaults()
    providers: dict[str, dict[str, Any]] = {}
    agents: list[AgentBlock] = []
    manager: Annotated[AgentBlock, BeforeValidator(_named, json_schema_input_type=str | AgentBlock)] | None = None
    router: Annotated[Named, BeforeValidator(_named, json_schema_input_type=str | Named)] | None = None
    orchestrator: Annotated[Polling, BeforeValidator(_named, json_schema_input_type=str | Polling)] | None = None
    tools: ToolsBlock = ToolsBlock()
    mcp_servers: dict[str, McpServer] = {}
    limits: FileLimits = Limits()
    policies: dict[str, dict[str, Any]] = {}
    catalogs: dict[str, dict[str, Any]] = {}
    plugins: dict[str, Any] = {}
    required: list[str] = []
    engine: Annotated[Named, BeforeValidator(_named, json_schema_input_type=str | Named)] = Named(name="local")
    board: Annotated[Named, BeforeValidator(_named, json_schema_input_type=str | Named)] | None = None
    memory: Annotated[Memory, BeforeValidator(_stored, json_schema_input_type=str | Memory)] = Memory()
