"""officellm runs a team of LLM agents as an office: any provider, any router, any orchestration, each a plugin.

Every public name is imported on first use, so `import officellm` costs nothing and `officellm --help` stays fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from officellm.agents import (
        Agent as Agent,
    )
    from officellm.clock import (
        Clock as Clock,
    )
    from officellm.clock import (
        SystemClock as SystemClock,
    )
    from officellm.codec import (
        canonical as canonical,
    )
    from officellm.codec import (
        dump_text as dump_text,
    )
    from officellm.codec import (
        dumps as dumps,
    )
    from officellm.codec import (
        loads as loads,
    )
    from officellm.codec import (
        parse_arguments as parse_arguments,
    )
    from officellm.errors import (
        ConfigError as ConfigError,
    )
    from officellm.errors import (
        ConfigErrors as ConfigErrors,
    )
    from officellm.errors import (
        FatalToolError as FatalToolError,
    )
    from officellm.errors import (
        LimitReached as LimitReached,
    )
    from officellm.errors import (
        NoRouteError as NoRouteError,
    )
    from officellm.errors import (
        OfficeError as OfficeError,
    )
    from officellm.errors import (
        PluginBrokenError as PluginBrokenError,
    )
    from officellm.errors import (
        PluginConflictError as PluginConflictError,
    )
    from officellm.errors import (
        PluginError as PluginError,
    )
    from officellm.errors import (
        PluginNotFoundError as PluginNotFoundError,
    )
    from officellm.errors import (
        ProviderError as ProviderError,
    )
    from officellm.errors import (
        RouteError as RouteError,
    )
    from officellm.errors import (
        RunError as RunError,
    )
    from officellm.errors import (
        ToolDefinitionError as ToolDefinitionError,
    )
    from officellm.errors import (
        ToolError as ToolError,
    )
    from officellm.errors import (
        UnknownAgentError as UnknownAgentError,
    )
    from officellm.errors import (
        nearest as nearest,
    )
    from officellm.events import (
        AgentEnd as AgentEnd,
    )
    from officellm.events import (
        AgentStart as AgentStart,
    )
    from officellm.events import (
        CallDeltaEvent as CallDeltaEvent,
    )
    from officellm.events import (
        Event as Event,
    )
    from officellm.events import (
        LimitEvent as LimitEvent,
    )
    from officellm.events import (
        ModelReply as ModelReply,
    )
    from officellm.events import (
        ModelRequest as ModelRequest,
    )
    from officellm.events import (
        ModelRetry as ModelRetry,
    )
    from officellm.events import (
        ReasoningDeltaEvent as ReasoningDeltaEvent,
    )
    from officellm.events import (
        RouteEvent as RouteEvent,
    )
    from officellm.events import (
        RunEnd as RunEnd,
    )
    from officellm.events import (
        RunStart as RunStart,
    )
    from officellm.events import (
        TextDeltaEvent as TextDeltaEvent,
    )
    from officellm.events import (
        ToolCallEvent as ToolCallEvent,
    )
    from officellm.events import (
        ToolResultEvent as ToolResultEvent,
    )
    from officellm.events import (
        TransferEvent as TransferEvent,
    )
    from officellm.events import (
        WarningEvent as WarningEvent,
    )
    from officellm.faults import (
        classify_http as classify_http,
    )
    from officellm.faults import (
        classify_payload as classify_payload,
    )
    from officellm.faults import (
        cut_short as cut_short,
    )
    from officellm.faults import (
        error_text as error_text,
    )
    from officellm.faults import (
        malformed as malformed,
    )
    from officellm.faults import (
        retry_after as retry_after,
    )
    from officellm.framing import (
        SseDecoder as SseDecoder,
    )
    from officellm.hookspecs import (
        hookimpl as hookimpl,
    )
    from officellm.host import (
        Host as Host,
    )
    from officellm.httpprovider import (
        HttpProvider as HttpProvider,
    )
    from officellm.httpprovider import (
        ProviderSettings as ProviderSettings,
    )
    from officellm.kinds import (
        Kind as Kind,
    )
    from officellm.limits import (
        Limits as Limits,
    )
    from officellm.messages import (
        Assistant as Assistant,
    )
    from officellm.messages import (
        CallDelta as CallDelta,
    )
    from officellm.messages import (
        Delta as Delta,
    )
    from officellm.messages import (
        Finished as Finished,
    )
    from officellm.messages import (
        Media as Media,
    )
    from officellm.messages import (
        Message as Message,
    )
    from officellm.messages import (
        OutputSchema as OutputSchema,
    )
    from officellm.messages import (
        Part as Part,
    )
    from officellm.messages import (
        ReasoningDelta as ReasoningDelta,
    )
    from officellm.messages import (
        Reply as Reply,
    )
    from officellm.messages import (
        Request as Request,
    )
    from officellm.messages import (
        Stop as Stop,
    )
    from officellm.messages import (
        System as System,
    )
    from officellm.messages import (
        Text as Text,
    )
    from officellm.messages import (
        TextDelta as TextDelta,
    )
    from officellm.messages import (
        ToolCall as ToolCall,
    )
    from officellm.messages import (
        ToolChoice as ToolChoice,
    )
    from officellm.messages import (
        ToolResult as ToolResult,
    )
    from officellm.messages import (
        ToolSpec as ToolSpec,
    )
    from officellm.messages import (
        Usage as Usage,
    )
    from officellm.messages import (
        User as User,
    )
    from officellm.office import (
        Office as Office,
    )
    from officellm.protocols import (
        Ask as Ask,
    )
    from officellm.protocols import (
        CallInfo as CallInfo,
    )
    from officellm.protocols import (
        Candidate as Candidate,
    )
    from officellm.protocols import (
        Catalog as Catalog,
    )
    from officellm.protocols import (
        Choice as Choice,
    )
    from officellm.protocols import (
        Desk as Desk,
    )
    from officellm.protocols import (
        Engine as Engine,
    )
    from officellm.protocols import (
        HttpFactory as HttpFactory,
    )
    from officellm.protocols import (
        LimitPolicy as LimitPolicy,
    )
    from officellm.protocols import (
        Orchestrator as Orchestrator,
    )
    from officellm.protocols import (
        Provider as Provider,
    )
    from officellm.protocols import (
        Router as Router,
    )
    from officellm.protocols import (
        RunInfo as RunInfo,
    )
    from officellm.protocols import (
        Spend as Spend,
    )
    from officellm.protocols import (
        Spent as Spent,
    )
    from officellm.protocols import (
        ToolMode as ToolMode,
    )
    from officellm.protocols import (
        Verdict as Verdict,
    )
    from officellm.results import (
        AgentResult as AgentResult,
    )
    from officellm.results import (
        Hop as Hop,
    )
    from officellm.results import (
        Result as Result,
    )
    from officellm.results import (
        StopReason as StopReason,
    )
    from officellm.results import (
        TransferRequest as TransferRequest,
    )
    from officellm.stream import (
        RunStream as RunStream,
    )
    from officellm.tasks import (
        Task as Task,
    )
    from officellm.tools import (
        Context as Context,
    )
    from officellm.tools import (
        Tool as Tool,
    )
    from officellm.tools import (
        is_tool as is_tool,
    )
    from officellm.tools import (
        tool as tool,
    )
    from officellm.transcript import (
        legal as legal,
    )
    from officellm.transcript import (
        legal_id as legal_id,
    )
    from officellm.transcript import (
        legal_name as legal_name,
    )
    from officellm.transcript import (
        original_names as original_names,
    )
    from officellm.transcript import (
        unique_calls as unique_calls,
    )
    from officellm.wire import (
        Fault as Fault,
    )
    from officellm.wire import (
        FaultError as FaultError,
    )
    from officellm.wire import (
        FaultKind as FaultKind,
    )
    from officellm.wire import (
        Framing as Framing,
    )
    from officellm.wire import (
        HttpRequest as HttpRequest,
    )
    from officellm.wire import (
        OutputMode as OutputMode,
    )
    from officellm.wire import (
        StreamEvent as StreamEvent,
    )
    from officellm.wire import (
        StreamParser as StreamParser,
    )
    from officellm.wire import (
        WireFormat as WireFormat,
    )

__version__ = "0.1.0"

# A test holds this table and the imports above to the same names.
_HOME = {
    "agents": "Agent",
    "clock": "Clock SystemClock",
    "codec": "canonical dump_text dumps loads parse_arguments",
    "errors": (
        "ConfigError ConfigErrors FatalToolError LimitReached NoRouteError OfficeError PluginBrokenError "
        "PluginConflictError PluginError PluginNotFoundError ProviderError RouteError RunError "
        "ToolDefinitionError ToolError UnknownAgentError nearest"
    ),
    "events": (
        "AgentEnd AgentStart CallDeltaEvent Event LimitEvent ModelReply ModelRequest ModelRetry "
        "ReasoningDeltaEvent RouteEvent RunEnd RunStart TextDeltaEvent ToolCallEvent ToolResultEvent "
        "TransferEvent WarningEvent"
    ),
    "faults": "classify_http classify_payload cut_short error_text malformed retry_after",
    "framing": "SseDecoder",
    "hookspecs": "hookimpl",
    "host": "Host",
    "httpprovider": "HttpProvider ProviderSettings",
    "kinds": "Kind",
    "limits": "Limits",
    "messages": (
        "Assistant CallDelta Delta Finished Media Message OutputSchema Part ReasoningDelta Reply Request Stop "
        "System Text TextDelta ToolCall ToolChoice ToolResult ToolSpec Usage User"
    ),
    "office": "Office",
    "protocols": (
        "Ask CallInfo Candidate Catalog Choice Desk Engine HttpFactory LimitPolicy Orchestrator Provider "
        "Router RunInfo Spend Spent ToolMode Verdict"
    ),
    "results": "AgentResult Hop Result StopReason TransferRequest",
    "stream": "RunStream",
    "tasks": "Task",
    "tools": "Context Tool is_tool tool",
    "transcript": "legal legal_id legal_name original_names unique_calls",
    "wire": ("Fault FaultError FaultKind Framing HttpRequest OutputMode StreamEvent StreamParser WireFormat"),
}
_WHERE = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = sorted(_WHERE)  # noqa: PLE0605 - the same table that __getattr__ reads


def __getattr__(name: str) -> Any:
    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module 'officellm' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"officellm.{module}"), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
